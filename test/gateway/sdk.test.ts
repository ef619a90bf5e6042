import Anthropic from '@anthropic-ai/sdk';
import { expect, test } from 'vitest';
import { anthropicClient, openaiClient, startGateway } from '../kit/gateway.ts';

const sandbox = await startGateway();

test('the Anthropic SDK lists models and gets one', async () => {
  const client = anthropicClient(sandbox);

  const list = [];
  for await (const model of client.models.list({ limit: 4 })) list.push(model.id);
  const one = await client.models.retrieve('sandbox-mini');

  expect(list).toContain('sandbox-embed');
  expect(new Set(list).size).toBe(list.length);
  expect(one).toMatchObject({ id: 'sandbox-mini', type: 'model', display_name: 'sandbox-mini' });
  expect(one.created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
});

test('the OpenAI SDK lists models and gets one', async () => {
  const client = openaiClient(sandbox);

  const list = [];
  for await (const model of client.models.list()) list.push(model.id);
  const one = await client.models.retrieve('sandbox-mini');

  expect(list).toContain('sandbox-mini');
  expect(one).toMatchObject({ id: 'sandbox-mini', object: 'model', owned_by: 'sandbox' });
  expect(one.created).toBeGreaterThan(1_600_000_000);
});

test('models that a key may not use are not listed, and look unknown', async () => {
  const narrow = await startGateway(`
providers: { sandbox: { dialect: sandbox } }
models: [{ match: sandbox-mini, provider: sandbox }, { match: secret-model, provider: sandbox }]
projects: { shop: { models: ["sandbox-*"], keys: [{ id: shop-web, value: "\${PROJECT_KEY}" }] } }
`);

  const listed = (await openaiClient(narrow).models.list()).data.map(({ id }) => id);

  expect(listed).toEqual(['sandbox-mini']);
  await expect(anthropicClient(narrow).models.retrieve('secret-model')).rejects.toBeInstanceOf(
    Anthropic.NotFoundError,
  );
});
