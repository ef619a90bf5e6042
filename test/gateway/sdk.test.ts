import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { expect, test } from 'vitest';
import { anthropicClient, openaiClient } from '../kit/gateway.ts';
import { useGateway } from '../kit/lifecycle.ts';

const sandbox = useGateway();
/** Serves one model only; sandbox mode serves every name. */
const narrow = useGateway(
  'providers: { sandbox: { dialect: sandbox } }\nmodels: [{ match: sandbox-mini, provider: sandbox }]\n',
);

test('the Anthropic SDK lists models and gets one', async () => {
  const client = anthropicClient(sandbox());

  const list = [];
  for await (const model of client.models.list({ limit: 4 })) list.push(model.id);
  const one = await client.models.retrieve('sandbox-mini');

  expect(list).toContain('sandbox-embed');
  expect(new Set(list).size).toBe(list.length);
  expect(one).toMatchObject({ id: 'sandbox-mini', type: 'model', display_name: 'sandbox-mini' });
  expect(one.created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
});

test('the OpenAI SDK lists models and gets one', async () => {
  const client = openaiClient(sandbox());

  const list = [];
  for await (const model of client.models.list()) list.push(model.id);
  const one = await client.models.retrieve('sandbox-mini');

  expect(list).toContain('sandbox-mini');
  expect(one).toMatchObject({ id: 'sandbox-mini', object: 'model', owned_by: 'sandbox' });
  expect(one.created).toBeGreaterThan(1_600_000_000);
});

test('401 for a wrong key, and no retry', async () => {
  const wrong = { url: sandbox().url, key: 'not-a-key-that-is-known' };
  const before = sandbox().records.length;
  const openai = new OpenAI({ apiKey: wrong.key, baseURL: `${wrong.url}/v1` });

  const error = { code: 'key.invalid', type: 'authentication_error' };
  await expect(openai.models.list()).rejects.toMatchObject(error);
  await expect(anthropicClient(wrong).models.list()).rejects.toBeInstanceOf(Anthropic.AuthenticationError);
  expect(await sandbox().recorded(before + 2)).toHaveLength(before + 2);
});

test('404 for an unknown model, with the field that was wrong', async () => {
  const request = { model: 'nobody-has-this', max_tokens: 10, messages: [] };
  const anthropic = anthropicClient(narrow()).messages.create(request);
  const openai = openaiClient(narrow()).responses.create({ model: 'nobody-has-this', input: 'hello' });

  await expect(anthropic).rejects.toBeInstanceOf(Anthropic.NotFoundError);
  await expect(openai).rejects.toMatchObject({ status: 404, code: 'model.unknown', param: '/model' });
  await expect(openaiClient(narrow()).models.retrieve('nobody-has-this')).rejects.toBeInstanceOf(
    OpenAI.NotFoundError,
  );
});
