import Anthropic from '@anthropic-ai/sdk';
import { expect, test } from 'vitest';
import { anthropicClient, openaiClient, startGateway } from '../kit/gateway.ts';

const sandbox = await startGateway();

test('the SDKs list models and get one', async () => {
  const [anthropic, openai] = [anthropicClient(sandbox), openaiClient(sandbox)];

  const pages = [];
  for await (const model of anthropic.models.list({ limit: 4 })) pages.push(model.id);
  const list = (await openai.models.list()).data.map(({ id }) => id);

  expect(list).toContain('sandbox-embed');
  expect(pages).toEqual(list);
  expect(await anthropic.models.retrieve('sandbox-mini')).toMatchObject({
    id: 'sandbox-mini',
    type: 'model',
    display_name: 'sandbox-mini',
    created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
  });
  expect(await openai.models.retrieve('sandbox-mini')).toMatchObject({
    id: 'sandbox-mini',
    object: 'model',
    owned_by: 'sandbox',
    created: expect.any(Number),
  });
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
