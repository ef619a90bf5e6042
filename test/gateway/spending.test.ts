import { afterEach, beforeEach, expect, test } from 'vitest';
import { chatAnswer, chatEvents, messagesAnswer, messagesEvents, responsesAnswer } from '../kit/answers.ts';
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
  host: { dialect: openai, base_url: "${host.url}/v1", endpoints: [chat, responses, embeddings] }
  claude: { dialect: anthropic, base_url: "${host.url}" }
models:
  - { match: "claude-*", provider: claude }
  - { match: kept, provider: host, pricing: { input: 1, output: 2, cache_write: 2, cache_write_1h: 4 } }
  - { match: m, provider: host, pricing: { input: 1, output: 2 } }
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
async function leave(value: object, from = gateway): Promise<void> {
  const leaving = new AbortController();
  const received = host.next();
  const posted = post(from, '/v1/chat/completions', value, { signal: leaving.signal }).catch(() => 'left');
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

test('so does what OpenAI keeps in the cache for twelve hours', async () => {
  host.script((response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    const usage = {
      input_tokens: 310,
      input_tokens_details: {
        cached_tokens: 0,
        cache_write_tokens: 300,
        cache_write_tokens_details: { ttl_30m_tokens: 100, ttl_12h_tokens: 200 },
      },
      output_tokens: 0,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 310,
    };
    response.end(JSON.stringify({ ...JSON.parse(responsesAnswer), usage }));
  });

  await post(gateway, '/v1/responses', { model: 'kept', input: 'hi', max_output_tokens: 100 });
  const [record] = await gateway.recorded(1);

  expect(record?.usage).toMatchObject({ input_tokens: 310, cache_write_tokens: 300 });
  expect(record?.cost_usd).toBeCloseTo((10 * 1 + 100 * 2 + 200 * 4) / 1e6, 12);
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

/** The host answers with an answer of its dialect, in which only the usage is other than usual. */
function report(answer: string, usage: unknown): void {
  host.script((response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ ...JSON.parse(answer), usage }));
  });
}

const capped = {
  chat: { path: '/v1/chat/completions', answer: chatAnswer, value: body },
  messages: {
    path: '/v1/messages',
    answer: messagesAnswer,
    value: { ...body, model: 'claude-opus-4-5' },
  },
  responses: {
    path: '/v1/responses',
    answer: responsesAnswer,
    value: { model: 'm', input: 'hi', max_output_tokens: 100 },
  },
} as const;

test.each([
  ['chat', {}],
  ['chat', { prompt_tokens: '3', completion_tokens: '4' }],
  ['chat', { prompt_tokens: -3, completion_tokens: 1e300 }],
  ['chat', { input_tokens: 3, output_tokens: 4 }],
  ['messages', {}],
  ['messages', { input_tokens: null, output_tokens: [4] }],
  ['responses', {}],
  ['responses', { input_tokens: true, output_tokens: -1 }],
] as const)('usage of %s that is none, %j, is estimated and never free', async (dialect, usage) => {
  const { path, answer, value } = capped[dialect];
  report(answer, usage);

  const text = await (await post(gateway, path, value)).text();
  const [record] = await gateway.recorded(1);

  const output_tokens = Math.min(100, Math.ceil(text.length / 3));
  expect(record?.usage).toMatchObject({ input_tokens: inputWorst(value), output_tokens, estimated: true });
});

test.each([
  ['output', { prompt_tokens: 7 }, { input_tokens: 7, output_tokens: 74, estimated: true }],
  ['input', { completion_tokens: 7 }, { input_tokens: 25, output_tokens: 75, estimated: true }],
] as const)('what is missing of a usage, %s, is estimated', async (_what, usage, expected) => {
  report(chatAnswer, usage);

  await (await post(gateway, '/v1/chat/completions', body)).text();
  const [record] = await gateway.recorded(1);

  expect(record?.usage).toMatchObject(expected);
});

test('tokens that a host counts in its total only, as reasoning, are paid for', async () => {
  report(chatAnswer, {
    prompt_tokens: 3,
    completion_tokens: 4,
    total_tokens: 57,
    completion_tokens_details: { reasoning_tokens: 50 },
  });

  await (await post(gateway, '/v1/chat/completions', body)).text();
  const [record] = await gateway.recorded(1);

  expect(record?.usage).toMatchObject({ input_tokens: 3, output_tokens: 54, reasoning_tokens: 50 });
  expect(record?.cost_usd).toBeCloseTo((3 + 54 * 2) / 1e6, 12);
});

test('a usage that comes again with nothing in it does not take the first one back', async () => {
  host.script((response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(
      [...chatEvents.slice(0, -1), 'data: {"choices":[],"usage":{}}\n\n', 'data: [DONE]\n\n'].join(''),
    );
  });

  await (await post(gateway, '/v1/chat/completions', { ...body, stream: true })).text();
  const [record] = await gateway.recorded(1);

  expect(record?.usage).toMatchObject({ input_tokens: 3, output_tokens: 4 });
});

test('a stream that reports output only where it begins is estimated from its length', async () => {
  const events = messagesEvents.map((event) => event.replace(',"usage":{"output_tokens":4}', ''));
  host.script((response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(events.join(''));
  });

  const value = { ...capped.messages.value, stream: true };
  const text = await (await post(gateway, '/v1/messages', value)).text();
  const [record] = await gateway.recorded(1);

  const output_tokens = Math.ceil(Buffer.byteLength(text) / 40);
  expect(record?.usage).toMatchObject({ input_tokens: 3, output_tokens, estimated: true });
});

test('embeddings without usage cost their worst input', async () => {
  report('{"object":"list","data":[],"model":"m"}', { prompt_tokens: 'many' });
  const value = { model: 'm', input: 'hello' };

  await (await post(gateway, '/v1/embeddings', value)).text();
  const [record] = await gateway.recorded(1);

  expect(record?.usage).toMatchObject({
    input_tokens: inputWorst(value),
    output_tokens: 0,
    estimated: true,
  });
});

test('an answer that is written in the background costs the worst case, since nobody sees its end', async () => {
  host.script((response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end('{"id":"resp_1","object":"response","status":"queued","output":[],"usage":null}');
  });
  const value = { ...capped.responses.value, background: true };

  await (await post(gateway, '/v1/responses', value)).text();
  const [record] = await gateway.recorded(1);

  expect(record?.usage).toMatchObject({
    input_tokens: inputWorst(value),
    output_tokens: 100,
    estimated: true,
  });
});

test('a fallback to another model is reserved and charged at the price of that model', async () => {
  const start = (budget: number) =>
    startGateway(`
providers: { host: { dialect: openai, base_url: "${host.url}/v1", endpoints: [chat] } }
models:
  - match: fast
    provider: host
    model: small
    pricing: { input: 1, output: 2 }
    fallbacks: [{ provider: host, model: gpt-4o }, { provider: host, model: unheard-of }]
projects:
  shop:
    limits: { usd_per_day: ${budget} }
    keys: [{ id: shop-web, value: "\${PROJECT_KEY}" }]
`);
  host.script((response, { body: sent }) => {
    const isSmall = sent.toString().includes('"small"');
    response.writeHead(isSmall ? 500 : 200, { 'content-type': 'application/json' });
    response.end(isSmall ? '{"error":{"message":"no"}}' : chatAnswer);
  });
  // 100 tokens of output cost US$ 0.0002 at the first model and 0.001 at the second.
  const [tight, wide] = [await start(0.0005), await start(0.01)];

  const refused = await post(tight, '/v1/chat/completions', { ...body, model: 'fast' });
  const served = await post(wide, '/v1/chat/completions', { ...body, model: 'fast' });
  const [record] = await wide.recorded(1);
  await Promise.all([tight.stop(), wide.stop()]);

  expect([refused.status, served.status]).toEqual([429, 200]);
  expect(record?.target_model).toBe('gpt-4o');
  expect(record?.cost_usd).toBeCloseTo((3 * 2.5 + 4 * 10) / 1e6, 12);
});

test('without a cap a fallback to another model is reserved as long as that model can write', async () => {
  const start = (limits: string) =>
    startGateway(`
providers:
  host: { dialect: openai, base_url: "${host.url}/v1", endpoints: [chat] }
  claude: { dialect: anthropic, base_url: "${host.url}" }
models:
  - { match: fast, provider: host, model: small, pricing: { input: 1, output: 2 }, max_output_tokens: 100,
      fallbacks: [{ provider: host, model: gpt-4o }] }
  - { match: own, provider: host, model: small, max_output_tokens: 100,
      fallbacks: [{ provider: host, model: unheard-of }, { provider: claude, model: claude-opus-4-5 }] }
projects:
  shop:
    limits: ${limits}
    keys: [{ id: shop-web, value: "\${PROJECT_KEY}" }]
`);
  const { max_tokens: _, ...uncapped } = body;
  // 16,384 tokens of output are the most of gpt-4o; they cost US$ 0.16.
  const [tokens, usd] = [await start('{ tokens_per_day: 16000 }'), await start('{ usd_per_day: 0.15 }')];

  const statuses = [
    await post(tokens, '/v1/chat/completions', { ...uncapped, model: 'fast' }),
    await post(usd, '/v1/chat/completions', { ...uncapped, model: 'fast' }),
    await post(tokens, '/v1/chat/completions', { ...body, model: 'fast' }),
    await post(usd, '/v1/chat/completions', { ...body, model: 'fast' }),
    await post(tokens, '/v1/chat/completions', { ...uncapped, model: 'own' }),
  ].map(({ status }) => status);
  await Promise.all([tokens.stop(), usd.stop()]);

  expect(statuses).toEqual([429, 429, 200, 200, 200]);
});

test('an answer that nobody waits for costs at most what its own target could write', async () => {
  const two = await startGateway(`
providers:
  host: { dialect: openai, base_url: "${host.url}/v1", endpoints: [chat] }
models:
  - { match: fast, provider: host, model: small, max_output_tokens: 100,
      fallbacks: [{ provider: host, model: gpt-4o }] }
projects: { shop: { keys: [{ id: shop-web, value: "\${PROJECT_KEY}" }] } }
`);
  host.script(() => undefined);
  const { max_tokens: _, ...uncapped } = body;

  await leave({ ...uncapped, model: 'fast' }, two);
  const [record] = await two.recorded(1);
  await two.stop();

  expect(record?.usage).toMatchObject({ output_tokens: 100, estimated: true });
});

test('a cap that a translation raises is reserved as it leaves', async () => {
  const raised = await startGateway(`
providers: { host: { dialect: openai, base_url: "${host.url}/v1", endpoints: [responses] } }
models: [{ match: m, provider: host }]
projects: { shop: { keys: [{ id: shop-web, value: "\${PROJECT_KEY}" }] } }
`);
  host.script(() => undefined);

  await leave({ ...body, max_tokens: 1 }, raised);
  const [record] = await raised.recorded(1);
  await raised.stop();

  expect(JSON.parse(String(host.requests[0]?.body))).toMatchObject({ max_output_tokens: 16 });
  expect(record?.usage).toMatchObject({ output_tokens: 16, estimated: true });
});

test.each([false, true])(
  'passes that the provider reports beside the answer are paid for (stream: %s)',
  async (stream) => {
    const own = { input_tokens: 23, output_tokens: 10 };
    const pass = { type: 'compaction', input_tokens: 180, output_tokens: 35, cache_read_input_tokens: 20 };
    const usage = { ...own, iterations: [pass, { type: 'message', ...own }] };
    const last = `event: message_delta\ndata: ${JSON.stringify({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage })}\n\n`;
    host.script((response) => {
      response.writeHead(200, { 'content-type': stream ? 'text/event-stream' : 'application/json' });
      if (!stream) return response.end(JSON.stringify({ ...JSON.parse(messagesAnswer), usage }));
      const start = {
        type: 'message_start',
        message: { ...JSON.parse(messagesAnswer), content: [], usage: own },
      };
      return response.end(
        `event: message_start\ndata: ${JSON.stringify(start)}\n\n${last}${last}event: message_stop\ndata: {"type":"message_stop"}\n\n`,
      );
    });

    await (await post(gateway, '/v1/messages', { ...body, model: 'claude-opus-4-5', stream })).text();
    const [record] = await gateway.recorded(1);

    expect(record?.usage).toEqual({
      input_tokens: 223,
      output_tokens: 45,
      cache_read_tokens: 20,
      cache_write_tokens: 0,
      reasoning_tokens: 0,
    });
  },
);

test('an answer that cannot be translated costs what the provider says it used', async () => {
  const other = await startGateway(`
providers: { host: { dialect: openai, base_url: "${host.url}/v1", endpoints: [responses] } }
models: [{ match: m, provider: host }]
projects: { shop: { keys: [{ id: shop-web, value: "\${PROJECT_KEY}" }] } }
`);
  host.script((response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ ...JSON.parse(responsesAnswer), status: 'failed' }));
  });

  const { status } = await post(other, '/v1/chat/completions', body);
  const [record] = await other.recorded(1);
  await other.stop();

  expect(status).toBe(502);
  expect(record?.usage).toMatchObject({ input_tokens: 3, output_tokens: 4 });
});
