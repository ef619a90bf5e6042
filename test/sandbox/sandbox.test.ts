import { expect, test } from 'vitest';
import { sandboxModels } from '../../src/sandbox/models.ts';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import { post, readEvents, startClients } from './clients.ts';

const { anthropic, openai, url } = await startClients();
const hello = { model: 'sandbox-mini', messages: [{ role: 'user' as const, content: 'hello' }] };
const names = [
  'sandbox-mini',
  'sandbox-tool',
  'sandbox-think',
  'sandbox-slow',
  'sandbox-long',
  'sandbox-cut',
  'sandbox-error-429',
  'sandbox-error-500',
  'sandbox-error-529',
  'sandbox-embed',
];

test('lists its models for both families of SDKs', async () => {
  const forOpenai = (await openai.models.list()).data.map(({ id }) => id);
  const forAnthropic: string[] = [];
  for await (const { id } of anthropic.models.list({ limit: 1000 })) forAnthropic.push(id);

  expect(forOpenai).toEqual(names);
  expect(forAnthropic).toEqual(names);
  expect(sandboxModels.map(({ id }) => id)).toEqual(names);
  expect(sandboxModels.filter(({ isEmbedding }) => isEmbedding)).toEqual([
    { id: 'sandbox-embed', isEmbedding: true },
  ]);
});

test('describes one model, and refuses one it does not have', async () => {
  expect(await openai.models.retrieve('sandbox-mini')).toMatchObject({ id: 'sandbox-mini', object: 'model' });
  await expect(openai.models.retrieve('other')).rejects.toMatchObject({ status: 404 });
});

test.each([
  ['POST', '/v1/other', 404],
  ['GET', '/v1/chat/completions', 405],
  ['POST', '/v1/models', 405],
  ['GET', '/v1/messages', 405],
])('%s %s is %i', async (method, path, status) => {
  const response = await fetch(url + path, { method });

  expect(response.status).toBe(status);
  expect(await response.json()).toHaveProperty('error.message');
});

test.each(['{', '[]', 'null', '"x"', ''])('the body %j is refused in both families', async (body) => {
  const messages = await post(`${url}/v1/messages`, body);
  const chat = await post(`${url}/v1/chat/completions`, body);

  expect([messages.status, JSON.parse(messages.text).type]).toEqual([400, 'error']);
  expect([chat.status, JSON.parse(chat.text).error.type]).toEqual([400, 'invalid_request_error']);
});

test.each([
  ['sandbox-long', 2_000, 0],
  // A lower bound only: timers never fire early by more than rounding.
  ['sandbox-slow', 50, 4_850],
])('%s sends %i deltas, and the same text in one piece, in %i ms at least', async (model, count, leastMs) => {
  const ask = async (more: object) => {
    const startedMs = performance.now();
    const { text } = await post(`${url}/v1/chat/completions`, { ...hello, model, ...more });
    expect(performance.now() - startedMs).toBeGreaterThan(leastMs);
    return text;
  };

  const [streamed, plain] = await Promise.all([ask({ stream: true }), ask({})]);

  const contents = readEvents(streamed)
    .map((chunk) => (chunk.choices as { delta: { content?: string } }[])[0]?.delta.content ?? '')
    .filter((content) => content !== '');
  expect(contents).toHaveLength(count);
  expect(JSON.parse(plain).choices[0].message.content).toBe(contents.join(''));
});

test('close cuts what is open and frees the port', async () => {
  const sandbox = await startSandbox();
  const response = await fetch(`${sandbox.url}/v1/chat/completions`, {
    method: 'POST',
    body: JSON.stringify({ ...hello, model: 'sandbox-slow', stream: true }),
  });

  await sandbox.close();

  await expect(response.text()).rejects.toThrow();
  const again = await startSandbox({ port: Number(new URL(sandbox.url).port) });
  expect(again.url).toBe(sandbox.url);
  await again.close();
});

test('media and tools of other hosts are counted and otherwise left aside', async () => {
  const picture = { type: 'image', source: { type: 'file', file_id: 'file_1' } };
  const { status, text } = await post(`${url}/v1/messages`, {
    model: 'sandbox-tool',
    max_tokens: 100,
    messages: [{ role: 'user', content: [picture, { type: 'text', text: 'what is it?' }] }],
    tools: [{ type: 'web_search_20250305', name: 'web_search' }],
  });

  expect(status).toBe(200);
  expect(JSON.parse(text)).toMatchObject({ content: [{ text: expect.stringContaining('"what is it?"') }] });
  expect(JSON.parse(text).usage.input_tokens).toBeGreaterThan(256);
});
