import type { ServerResponse } from 'node:http';
import Anthropic from '@anthropic-ai/sdk';
import { beforeEach, describe, expect, test } from 'vitest';
import type { DialectName } from '../../src/dialects/registry.ts';
import { chatEvents, json, openStream, pathFor, requestFor, speakAll } from '../kit/answers.ts';
import { anthropicClient, openaiClient, post, projects, startGateway } from '../kit/gateway.ts';
import { lastBody } from '../kit/host.ts';
import { startHosts } from '../kit/lifecycle.ts';
import { postRaw } from '../kit/raw.ts';

const once = 'retries: { attempts: 1 }, breaker: { failures: 1000 }';
const { anthropic, openai, gateway } = await startHosts(
  speakAll,
  ({ anthropic, openai }) => `
providers:
  claude: { dialect: anthropic, base_url: "${anthropic}", api_key: "\${PROVIDER_KEY}", ${once} }
  local: { dialect: openai, base_url: "${openai}/v1", endpoints: [chat, embeddings], ${once} }
  both: { dialect: openai, base_url: "${openai}/v1", endpoints: [chat, responses], ${once} }
  vendor: { dialect: openai, host: openai, base_url: "${openai}/v1", endpoints: [chat, responses], ${once} }
  vendor-chat: { dialect: openai, host: openai, base_url: "${openai}/v1", endpoints: [chat], ${once} }
  newest: { dialect: openai, base_url: "${openai}/v1", endpoints: [responses], ${once} }
  vectors: { dialect: openai, base_url: "${openai}/v1", endpoints: [embeddings], ${once} }
models:
  - { match: claude, provider: claude, model: claude-test, max_output_tokens: 500 }
  - { match: local, provider: local, model: llama }
  - { match: both, provider: both }
  - { match: vectors, provider: vectors }
  - { match: "only-chat/*", provider: vendor-chat, model: gpt-5.5 }
  - { match: "gpt-*", provider: vendor }
  - { match: newest, provider: newest }
  - { match: claude-then-local, provider: claude, model: claude-test, fallbacks: [{ provider: local, model: llama }] }
  - { match: local-then-claude, provider: local, model: llama, fallbacks: [{ provider: claude, model: claude-test }] }
${projects}`,
);

beforeEach(() => {
  anthropic.script(speakAll);
  openai.script(speakAll);
});

const ask = (dialect: DialectName, model: string, extra: object = {}) =>
  post(gateway, pathFor(dialect, model), requestFor(dialect, model, extra));

describe('where a request goes', () => {
  test('a provider of chat and responses gets messages in the chat dialect, without Anthropic’s headers and query', async () => {
    const headers = { 'anthropic-beta': 'a-2025', 'anthropic-version': '2026-10-21' };

    const answer = await post(gateway, '/v1/messages?beta=true', requestFor('messages', 'both'), { headers });

    const request = openai.requests.at(-1);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('x-gateway-body')).toBe('translated');
    expect(answer.headers.get('content-type')).toBe('application/json');
    expect(request?.target).toBe('/v1/chat/completions');
    expect(request?.headers.filter(([name]) => name.startsWith('anthropic-'))).toEqual([]);
  });

  // OpenAI's models reason between calls of tools in Responses alone.
  test.each([
    ['gpt-5.5', '/v1/responses'],
    ['gpt-5-codex', '/v1/responses'],
    ['gpt-4o', '/v1/chat/completions'],
  ])('messages for %s go to %s of OpenAI', async (model, target) => {
    const thinking = { thinking: { type: 'enabled', budget_tokens: 9_000 }, max_tokens: 10_000, tools };

    await ask('messages', model, thinking);

    expect(openai.requests.at(-1)?.target).toBe(target);
    if (model !== 'gpt-4o') expect(lastBody(openai)).toHaveProperty('reasoning.effort');
  });

  test('without Responses the request has tools and no reasoning, and its record says so', async () => {
    const thinking = { thinking: { type: 'enabled', budget_tokens: 9_000 }, max_tokens: 10_000, tools };

    await ask('messages', 'only-chat/x', thinking);

    expect(openai.requests.at(-1)?.target).toBe('/v1/chat/completions');
    expect(lastBody(openai)).toMatchObject({ reasoning_effort: 'none' });
  });

  test('a cap above the limit of the model is that limit', async () => {
    await ask('chat', 'claude', { max_tokens: 9_000 });

    expect(lastBody(anthropic)).toMatchObject({ model: 'claude-test', max_tokens: 500 });
  });
});

const tools = [{ name: 'look', input_schema: { type: 'object' } }];
const thread = { thread: { id: 'thread_1' } };
const threadRefusal = {
  type: 'invalid_request_error',
  details: { error_code: 'thread_unsupported_request' },
};
const turnsWithArguments = (levels: number) => ({
  messages: [
    { role: 'user', content: 'hello' },
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'c', type: 'function', function: { name: 'look', arguments: nested(levels) } }],
    },
    { role: 'tool', tool_call_id: 'c', content: 'done' },
  ],
});

describe('what cannot be translated', () => {
  // Arguments are a text in chat and become part of the body.
  test.each([
    ['a field', 'claude', { n: 2 }, { reason: 'request.unsupported', param: 'n' }],
    ['arguments of 150 levels', 'claude', turnsWithArguments(150), { reason: 'request.too_deep' }],
    ['arguments of 20,000 levels', 'claude', turnsWithArguments(20_000), { reason: 'request.too_deep' }],
    ['a thread that the provider keeps', 'local', thread, threadRefusal],
  ] as const)('%s is 400, and nothing is sent', async (_what, model, extra, error) => {
    const before = anthropic.requests.length + openai.requests.length;

    const answer = await ask(model === 'claude' ? 'chat' : 'messages', model, extra);

    expect([answer.status, await answer.json()]).toMatchObject([400, { error }]);
    expect(answer.headers.get('x-should-retry')).toBe('false');
    expect(anthropic.requests.length + openai.requests.length).toBe(before);
  });

  test('embeddings have nothing that they could be translated to', async () => {
    const answer = await post(gateway, '/v1/embeddings', { model: 'claude', input: 'hello' });

    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ error: { reason: 'request.unsupported', param: '/model' } });
  });

  test.each([
    ['goes to a target that supports it', 'claude-then-local', 200, 'Hello from chat'],
    ['is not the answer where another target took it and failed', 'local-then-claude', 500, 'broken'],
  ])('%s', async (_what, model, status, text) => {
    if (status === 500) openai.script(json('{"error":{"message":"broken"}}', 500));

    const answer = await ask('chat', model, { n: 2 });

    expect([answer.status, await answer.text()]).toEqual([status, expect.stringContaining(text)]);
  });

  test('what is left out is listed in the record', async () => {
    const before = gateway.records.length;

    await ask('chat', 'claude', { seed: 1, logit_bias: {} });

    const record = (await gateway.recorded(before + 1)).at(-1);
    expect(record).toMatchObject({ body: 'translated', dropped: ['seed', 'logit_bias'] });
  });
});

describe('fallbacks of another dialect', () => {
  test.each([
    ['claude-then-local', anthropic, 'local', 'translated', 'Hello from chat'],
    ['local-then-claude', openai, 'claude', 'spliced', 'Hello from messages'],
  ] as const)('%s: each target gets its own form', async (model, broken, provider, body, said) => {
    broken.script(json('{"error":{"message":"broken"}}', 500));

    const answer = await ask('messages', model);

    expect(await answer.json()).toMatchObject({ type: 'message', content: [{ type: 'text', text: said }] });
    expect(answer.headers.get('x-gateway-provider')).toBe(provider);
    expect(answer.headers.get('x-gateway-body')).toBe(body);
    expect(answer.headers.get('x-gateway-attempts')).toBe('2');
  });
});

describe('a thread that the provider keeps', () => {
  test('goes to a provider of messages as it is, and null, which is none, to any', async () => {
    const [own, none] = [
      await ask('messages', 'claude', thread),
      await ask('messages', 'local', { thread: null }),
    ];

    expect([own.status, none.status]).toEqual([200, 200]);
    expect(lastBody(anthropic)).toMatchObject(thread);
  });

  test('is refused where it would move to a fallback', async () => {
    anthropic.script(json('{"type":"error","error":{"type":"api_error","message":"broken"}}', 500));

    const answer = await ask('messages', 'claude-then-local', thread);

    expect([answer.status, await answer.json()]).toMatchObject([400, { error: threadRefusal }]);
  });
});

describe('a translated stream', () => {
  test('passes on each event as soon as the provider has sent it', async () => {
    openai.script(openStream(chatEvents.slice(0, 2)));
    const stream = anthropicClient(gateway).messages.stream({
      model: 'local',
      max_tokens: 64,
      messages: [{ role: 'user', content: 'hello' }],
    });

    // The host says no more than that, so the text could not come any later than at once.
    const failure = stream.finalMessage().catch((error: unknown) => error);
    const piece = await new Promise<string>((resolve) => stream.on('text', resolve));
    const gone = openai.requests.at(-1)?.ended;
    stream.abort();

    expect(piece).toBe('Grüße 👋 ');
    expect(await gone).toBe('gone');
    expect(await failure).toBeInstanceOf(Anthropic.APIUserAbortError);
    expect(await gateway.recordWhere(({ outcome }) => outcome === 'left')).toMatchObject({ model: 'local' });
  });

  test('ends with its last event, even where the host leaves the connection open', async () => {
    openai.script(openStream([...chatEvents, 'data: {"more":1}\n\n', ': and more\n\n']));

    const answer = await ask('messages', 'local', { stream: true });
    const text = await answer.text();

    expect(text.endsWith('event: message_stop\ndata: {"type":"message_stop"}\n\n')).toBe(true);
    expect(await openai.requests.at(-1)?.ended).toBe('gone');
  });

  test('ends at a stop sequence, where the host is aborted, and the usage is an estimate', async () => {
    const write = (response: ServerResponse, delta: string) => {
      const event = { type: 'response.output_text.delta', output_index: 0, content_index: 0, delta };
      response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
    };
    // Responses knows no stop sequences, and this one would go on for ever.
    openai.script((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const text of ['Hello ', 'wor', 'ld, EN', 'D and ']) write(response, text);
      const timer = setInterval(() => write(response, 'more and more '), 10);
      response.once('close', () => clearInterval(timer));
    });
    const turns = [{ role: 'user' as const, content: 'hello' }];

    const message = await anthropicClient(gateway)
      .messages.stream({ model: 'newest', max_tokens: 99, messages: turns, stop_sequences: ['never', 'END'] })
      .finalMessage();

    expect(await openai.requests.at(-1)?.ended).toBe('gone');
    expect(message.content).toMatchObject([{ type: 'text', text: 'Hello world, ' }]);
    expect([message.stop_reason, message.stop_sequence]).toEqual(['stop_sequence', 'END']);
    expect(message.usage.output_tokens).toBe(4);
    const record = await gateway.recordWhere(({ model }) => model === 'newest');
    expect(record).toMatchObject({ outcome: 'answered', usage: { estimated: true } });
    // "Hello ", "wor", "ld, EN", "D and " are at most this many.
    expect(record.usage?.output_tokens).toBeGreaterThanOrEqual(2 + 1 + 2 + 2);
    expect(record.usage?.input_tokens).toBeGreaterThan(5);
  });
});

describe('embeddings', () => {
  const numbers = [0.5, -1, 2];
  const base64 = Buffer.from(new Float32Array(numbers).buffer).toString('base64');
  const answerWith = (embedding: unknown) =>
    `{ "object":"list", "model":"v", "data":[ {"object":"embedding","index":0,"embedding":${JSON.stringify(embedding)}} ], "usage":{"prompt_tokens":3,"total_tokens":3} }`;

  test('numbers from a host that can’t do base64 reach the SDK whole', async () => {
    openai.script(json(answerWith(numbers)));

    const { data, usage } = await openaiClient(gateway).embeddings.create({ model: 'vectors', input: 'a' });

    expect(lastBody(openai)).toMatchObject({ encoding_format: 'base64' });
    expect(data[0]?.embedding).toEqual(numbers);
    expect(usage.prompt_tokens).toBe(3);
  });

  test.each([
    ['base64 from a host that knows nothing else becomes numbers', {}, base64, numbers],
    ['base64 as asked passes byte for byte', { encoding_format: 'base64' }, base64, base64],
    ['numbers as asked pass byte for byte', { encoding_format: 'float' }, numbers, numbers],
  ])('%s', async (_what, asked, embedding, expected) => {
    openai.script(json(answerWith(embedding)));

    const answer = await post(gateway, '/v1/embeddings', { model: 'vectors', input: 'a', ...asked });

    const text = await answer.text();
    expect(JSON.parse(text)).toMatchObject({ data: [{ embedding: expected }] });
    if ('encoding_format' in asked) expect(text).toBe(answerWith(embedding));
  });
});

test('tokens are estimated where the host has no messages of its own', async () => {
  const { data, response } = await anthropicClient(gateway)
    .messages.countTokens({ model: 'local', messages: [{ role: 'user', content: 'hello there, you' }] })
    .withResponse();
  const id = response.headers.get('x-request-id');
  const record = await gateway.recordWhere((each) => each.request_id === id);

  expect(data.input_tokens).toBeGreaterThan(2);
  expect(response.headers.get('x-gateway-estimate')).toBe('true');
  expect(record.bytes_out).toBe(Number(response.headers.get('content-length')));
});

test("discovery has a model's prices and the key's limits in the configuration's words", async () => {
  const gateway = await startGateway(`
models:
  - match: m
    provider: sandbox
    model: sandbox-mini
    context_window: 1000
    pricing: { input: 1, output: 2, cache_write: 1.5, cache_write_1h: 3 }
projects:
  shop:
    limits: { usd_per_day: 0.5, requests_per_minute: 60 }
    keys: [{ id: shop-web, value: "\${PROJECT_KEY}", limits: { tokens_per_day: 9, mode: monitor } }]
`);
  const answer = await fetch(`${gateway.url}/v1/gateway/models`, { headers: { 'x-api-key': gateway.key } });
  const { data } = (await answer.json()) as { data: object[] };

  expect(data[0]).toMatchObject({
    context_window: 1_000,
    max_output_tokens: null,
    pricing: { input: 1, output: 2, cache_read: 1, cache_write: 1.5, cache_write_1h: 3 },
    limits: { project: { usd_per_day: 0.5, requests_per_minute: 60 } },
  });
  expect(data[0]).not.toHaveProperty('limits.key');
});

test('discovery lists which paths work, and what happens to the body on each', async () => {
  const answer = await fetch(`${gateway.url}/v1/gateway/models`, {
    headers: { authorization: `Bearer ${gateway.key}` },
  });
  const { data } = (await answer.json()) as { data: { id: string; endpoints: string[]; body: object }[] };
  const found = Object.fromEntries(data.map(({ id, endpoints, body }) => [id, { endpoints, body }]));

  const at = (...methods: readonly string[]) =>
    ['v1beta', 'v1'].flatMap((version) => methods.map((method) => `/${version}/models/{model}:${method}`));
  const translated = (...methods: readonly string[]) =>
    Object.fromEntries(at(...methods).map((path) => [path, 'translated']));
  const endpoints = [
    '/v1/messages',
    '/v1/messages/count_tokens',
    '/v1/chat/completions',
    '/v1/responses',
    '/v1/responses/input_tokens',
    ...at('generateContent', 'streamGenerateContent', 'countTokens'),
  ];
  const embed = ['batchEmbedContents', 'embedContent'];
  expect(found.claude).toEqual({
    endpoints,
    body: {
      '/v1/messages': 'spliced',
      '/v1/chat/completions': 'translated',
      '/v1/responses': 'translated',
      '/v1/messages/count_tokens': 'spliced',
      ...translated('generateContent', 'streamGenerateContent'),
    },
  });
  expect(found.vectors).toEqual({
    endpoints: ['/v1/embeddings', ...at(...embed)],
    body: { '/v1/embeddings': 'exact', ...translated(...embed) },
  });
});

describe('an answer that is nested too deeply to be written again', () => {
  const call = { id: 'c', type: 'function', function: { name: 'look', arguments: nested(20_000) } };
  const message = { role: 'assistant', content: null, tool_calls: [call] };
  const ofChat = JSON.stringify({ choices: [{ index: 0, message, finish_reason: 'tool_calls' }] });
  const block = `{"type":"tool_use","id":"c","name":"look","input":${nested(20_000)}}`;
  const ofMessages = `{"type":"message","role":"assistant","content":[${block}],"stop_reason":"tool_use"}`;
  const events = [
    'data: {"type":"message_start","message":{"role":"assistant","content":[]}}\n\n',
    `data: {"type":"content_block_start","index":0,"content_block":${block}}\n\n`,
  ];

  test.each([
    ['is 502: arguments that become an object', openai, json(ofChat), 'messages', 'local', 502],
    ['is 502: an object that becomes arguments', anthropic, json(ofMessages), 'chat', 'claude', 502],
    ['cuts a stream', anthropic, openStream(events), 'chat', 'claude', 200],
  ] as const)('%s', async (_what, host, script, client, model, status) => {
    host.script(script);

    const request = requestFor(client, model, { stream: status === 200 });
    const answer = await postRaw(gateway, pathFor(client, model), request);

    expect([answer.status, answer.isWhole]).toEqual([status, status === 502]);
    expect(answer.body.toString()).toContain('provider.broken_response');
    expect(answer.body.toString()).not.toContain('[DONE]');
  });
});

/** JSON of so many levels. */
function nested(levels: number): string {
  return `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
}
