import { afterEach, beforeEach, expect, test } from 'vitest';
import { chatAnswer } from '../kit/answers.ts';
import { post, startGateway, type TestGateway } from '../kit/gateway.ts';
import { type ScriptedHost, startHost } from '../kit/host.ts';

// What an exchange costs however it ends. The host's usage is 3 tokens of input and 4 of output.
const body = { model: 'm', messages: [{ role: 'user', content: 'hi' }], max_tokens: 100 };
const inputWorst = (value: object) => Math.ceil(JSON.stringify(value).length / 3);

let host: ScriptedHost;
let gateway: TestGateway;

beforeEach(async () => {
  host = await startHost((response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(chatAnswer);
  });
  gateway = await startGateway(`
providers:
  host: { dialect: openai, base_url: "${host.url}/v1", endpoints: [chat] }
  claude: { dialect: anthropic, base_url: "${host.url}" }
models: [{ match: "claude-*", provider: claude }, { match: m, provider: host, pricing: { input: 1, output: 2 } }]
policies:
  house:
    apply: all
    rules: [{ id: greeting, action: block, apply_to: [response], when: { text: { phrases: ["forbidden words"] } } }]
projects:
  shop:
    limits: { tokens_per_day: 100000 }
    keys: [{ id: shop-web, value: "\${PROJECT_KEY}" }]
`);
});
afterEach(async () => {
  await gateway.stop();
  await host.close();
});

/** Posts, and leaves when the host has the request. */
async function leave(value: object): Promise<void> {
  const leaving = new AbortController();
  const received = host.next();
  const posted = post(gateway, '/v1/chat/completions', value, { signal: leaving.signal }).catch(() => 'left');
  await received;
  leaving.abort();
  expect(await posted).toBe('left');
}

test('an answer that a rule refuses costs what the provider says it used', async () => {
  host.script((response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    const [choice] = (JSON.parse(chatAnswer) as { choices: object[] }).choices;
    const choices = [{ ...choice, message: { role: 'assistant', content: 'the forbidden words' } }];
    response.end(JSON.stringify({ ...JSON.parse(chatAnswer), choices }));
  });

  const { status } = await post(gateway, '/v1/chat/completions', body);
  const [record] = await gateway.recorded(1);

  expect(status).toBe(403);
  expect(record).toMatchObject({ usage: { input_tokens: 3, output_tokens: 4 }, cost_usd: 11e-6 });
});

test('a client that leaves while the provider works on an answer pays for the worst case', async () => {
  host.script(() => undefined);

  await leave(body);
  const [record] = await gateway.recorded(1);

  expect(record).toMatchObject({
    outcome: 'left',
    usage: { input_tokens: inputWorst(body), output_tokens: 100, estimated: true },
  });
});

test('a client that leaves a stream before it begins pays for its input', async () => {
  host.script(() => undefined);

  await leave({ ...body, stream: true });
  const [record] = await gateway.recorded(1);

  const { input_tokens, output_tokens, estimated } = record?.usage ?? {};
  expect({ output_tokens, estimated }).toEqual({ output_tokens: 0, estimated: true });
  expect(input_tokens).toBeGreaterThan(0);
});

test.each([
  ['an error', 500, 'application/json', '{"error":{"message":"no"}}'],
  ['half a JSON', 200, 'application/json', '{"choices":['],
  ['a page', 200, 'text/html', '<p>hello</p>'],
])('%s of the provider costs nothing', async (_what, status, type, text) => {
  host.script((response) => {
    response.writeHead(status, { 'content-type': type });
    response.end(text);
  });

  await post(gateway, '/v1/chat/completions', body);
  const [record] = await gateway.recorded(1);

  expect(record?.usage).toBe(undefined);
});

test('what is kept in the cache for an hour costs more', async () => {
  host.script((response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    const usage = {
      input_tokens: 10,
      output_tokens: 0,
      cache_creation_input_tokens: 300,
      cache_creation: { ephemeral_5m_input_tokens: 100, ephemeral_1h_input_tokens: 200 },
    };
    response.end(JSON.stringify({ id: 'm', type: 'message', role: 'assistant', content: [], usage }));
  });

  await post(gateway, '/v1/messages', { ...body, model: 'claude-opus-4-5' });
  const [record] = await gateway.recorded(1);

  expect(record?.usage).toMatchObject({ input_tokens: 310, cache_write_tokens: 300 });
  expect(record?.cost_usd).toBeCloseTo((10 * 5 + 100 * 6.25 + 200 * 10) / 1e6, 12);
});

test('an answer without usage is estimated from its length', async () => {
  host.script((response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    const { usage: _, ...rest } = JSON.parse(chatAnswer) as Record<string, unknown>;
    response.end(JSON.stringify({ ...rest, padding: 'x'.repeat(90) }));
  });

  const answer = await post(gateway, '/v1/chat/completions', body);
  const length = (await answer.text()).length;
  const [record] = await gateway.recorded(1);

  const output_tokens = Math.min(100, Math.ceil(length / 3));
  expect(record?.usage).toMatchObject({ input_tokens: inputWorst(body), output_tokens, estimated: true });
});
