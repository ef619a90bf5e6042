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
  - { match: gpt-4.1, provider: host }
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

/** The host answers with these, and the connection ends as `end` says. */
function reply(status: number, type: string, text: string, end: 'whole' | 'cut' = 'whole'): void {
  host.script((response) => {
    response.writeHead(status, {
      'content-type': type,
      ...(type === 'gzip' && { 'content-encoding': 'gzip' }),
    });
    if (end === 'whole') response.end(text);
    else response.write(text, () => response.destroy());
  });
}

test.each([
  ['an error', 500, 'application/json', '{"error":{"message":"no"}}'],
  ['a refusal', 429, 'application/json', '{"error":{"message":"no"}}'],
  ['a rejected key', 401, 'application/json', '{}'],
  ['a redirect', 302, 'text/html', ''],
])('%s of the provider costs nothing', async (_what, status, type, text) => {
  reply(status, type, text);

  await post(gateway, '/v1/chat/completions', body);
  const [record] = await gateway.recorded(1);

  expect(record?.usage).toBe(undefined);
});

const worst = { input_tokens: inputWorst(body), output_tokens: 100, estimated: true };

test.each([
  ['half a JSON', 200, 'application/json', '{"choices":[', 'whole'],
  ['a page', 200, 'text/html', '<p>hello</p>', 'whole'],
  ['nothing at all', 204, 'application/json', '', 'whole'],
  ['what is not what it is said to be', 200, 'gzip', '{}', 'whole'],
  ['a connection that breaks', 200, 'application/json', '{"choices":[', 'cut'],
  ['more than is read', 200, 'application/json', `"${'a'.repeat(33 * 1024 * 1024)}"`, 'whole'],
] as const)('%s after a 2xx costs the worst case', async (_what, status, type, text, end) => {
  reply(status, type, text, end);

  const { status: answered } = await post(gateway, '/v1/chat/completions', body);
  const [record] = await gateway.recorded(1);

  expect(answered).toBe(502);
  expect(record?.usage).toMatchObject(worst);
});

test.each([false, true])(
  'so does a host that has the request and breaks the connection (stream: %s)',
  async (stream) => {
    host.script((response) => response.destroy());
    const value = { ...body, stream };

    await post(gateway, '/v1/chat/completions', value);
    const [record] = await gateway.recorded(1);

    expect(record?.usage).toMatchObject({ ...worst, input_tokens: inputWorst(value) });
  },
);

test('a client that leaves a stream before it begins pays for the worst case', async () => {
  host.script(() => undefined);
  const value = { ...body, stream: true };

  await leave(value);
  const [record] = await gateway.recorded(1);

  expect(record?.usage).toMatchObject({ output_tokens: 100, estimated: true });
});

/** Leaves a stream after its first events; the host writes no more until it is left. */
async function leaveAmid(value: object, events: readonly string[]): Promise<void> {
  host.script((response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(events.join(''));
  });
  const leaving = new AbortController();
  const answer = await post(gateway, '/v1/chat/completions', value, { signal: leaving.signal });
  await answer.body?.getReader().read();
  leaving.abort();
}

test('a client that leaves a stream of a model that may reason pays for the worst case', async () => {
  await leaveAmid({ ...body, stream: true }, chatEvents.slice(0, 2));
  const [record] = await gateway.recorded(1);

  expect(record?.usage).toMatchObject({ output_tokens: 100, estimated: true });
});

test('of one that does not, for a token for three bytes of what came, and one for each byte beyond ASCII', async () => {
  await leaveAmid({ ...body, reasoning_effort: 'none', stream: true }, chatEvents.slice(0, 3));
  const [record] = await gateway.recorded(1);

  // "Grüße 👋 " has 5 bytes of ASCII and 8 beyond, 東京 has 6.
  expect(record?.usage).toMatchObject({ output_tokens: 10 + 6, estimated: true });
});

test.each([
  ['a limit', 'limits: { tokens_per_day: 100000 }, ', 3, 100],
  ['no limit', '', 3, 16],
  ['no limit before any text', '', 1, 100],
] as const)('a stream that its provider breaks off under %s', async (_what, limits, events, output) => {
  const broken = await startGateway(`
providers: { host: { dialect: openai, base_url: "${host.url}/v1", endpoints: [chat] } }
models: [{ match: m, provider: host }]
projects: { shop: { ${limits}keys: [{ id: shop-web, value: "\${PROJECT_KEY}" }] } }
`);
  reply(200, 'text/event-stream', chatEvents.slice(0, events).join(''), 'cut');

  await (await post(broken, '/v1/chat/completions', { ...body, stream: true })).text().catch(() => 'cut');
  const [record] = await broken.recorded(1);
  await broken.stop();

  expect(record?.usage).toMatchObject({ output_tokens: output, estimated: true });
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

test('a search of the web costs its fee, reserved by what bounds it', async () => {
  const start = (usd: number) =>
    startGateway(`
providers: { claude: { dialect: anthropic, base_url: "${host.url}" } }
models: [{ match: "claude-*", provider: claude }]
projects: { shop: { limits: { usd_per_day: ${usd} }, keys: [{ id: shop-web, value: "\${PROJECT_KEY}" }] } }
`);
  report(messagesAnswer, {
    input_tokens: 10,
    output_tokens: 10,
    server_tool_use: { web_search_requests: 3 },
  });
  const [tight, wide] = [await start(0.07), await start(0.1)];
  const search = { type: 'web_search_20250305', name: 'web_search', max_uses: 8 };
  const value = { ...body, model: 'claude-opus-4-5', tools: [search] };

  const statuses = [
    await post(tight, '/v1/messages', value),
    await post(tight, '/v1/messages', { ...value, tools: [{ ...search, max_uses: 5 }] }),
    await post(wide, '/v1/messages', value),
    await post(wide, '/v1/messages', { ...value, tools: [{ type: search.type, name: search.name }] }),
  ].map(({ status }) => status);
  const [record] = await wide.recorded(1);
  await Promise.all([tight.stop(), wide.stop()]);

  expect(statuses).toEqual([429, 200, 200, 429]);
  expect(record?.cost_usd).toBeCloseTo((10 * 5 + 10 * 25) / 1e6 + 3 * 0.01, 12);
});

test.each([
  ['tool_usage', { tool_usage: { web_search: { num_requests: 3 } } }],
  [
    'the searches themselves',
    { output: [1, 2, 3].map((id) => ({ type: 'web_search_call', id: String(id) })) },
  ],
])('searches of a response are counted by %s', async (_what, more) => {
  reply(200, 'application/json', JSON.stringify({ ...JSON.parse(responsesAnswer), ...more }));

  await post(gateway, '/v1/responses', { model: 'gpt-4.1', input: 'hi', tools: [{ type: 'web_search' }] });
  const [record] = await gateway.recorded(1);

  expect(record?.cost_usd).toBeCloseTo((3 * 2 + 4 * 8) / 1e6 + 3 * 0.01, 12);
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
      output_tokens: 50,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 360,
    };
    response.end(JSON.stringify({ ...JSON.parse(responsesAnswer), usage }));
  });

  await post(gateway, '/v1/responses', { model: 'kept', input: 'hi', max_output_tokens: 100 });
  const [record] = await gateway.recorded(1);

  expect(record?.usage).toMatchObject({ input_tokens: 310, cache_write_tokens: 300 });
  expect(record?.cost_usd).toBeCloseTo((10 * 1 + 100 * 2 + 200 * 4 + 50 * 2) / 1e6, 12);
});

test('an answer without usage is estimated from its text, even above its cap', async () => {
  const { usage: _, ...rest } = JSON.parse(chatAnswer) as Record<string, unknown>;
  const choices = [
    { index: 0, message: { role: 'assistant', content: 'x'.repeat(360) }, finish_reason: 'stop' },
  ];
  reply(200, 'application/json', JSON.stringify({ ...rest, choices }));
  const value = { ...body, reasoning_effort: 'none' };

  await (await post(gateway, '/v1/chat/completions', value)).text();
  const [record] = await gateway.recorded(1);

  expect(record?.usage).toMatchObject({
    input_tokens: inputWorst(value),
    output_tokens: 120,
    estimated: true,
  });
});

/** The host answers with an answer of its dialect, in which only the usage is other than usual. */
function report(answer: string, usage: unknown): void {
  host.script((response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ ...JSON.parse(answer), usage }));
  });
}

const capped = {
  chat: { path: '/v1/chat/completions', answer: chatAnswer, value: body, output: 100 },
  messages: {
    path: '/v1/messages',
    answer: messagesAnswer,
    value: { ...body, model: 'claude-opus-4-5' },
    // "Hello from messages", by a model that does not reason unasked.
    output: 7,
  },
  responses: {
    path: '/v1/responses',
    answer: responsesAnswer,
    value: { model: 'm', input: 'hi', max_output_tokens: 100 },
    output: 100,
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
  ['chat', { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }],
  ['messages', { input_tokens: 0, output_tokens: 0 }],
  ['responses', { input_tokens: 0, output_tokens: 0, total_tokens: 0 }],
] as const)('usage of %s that is none, %j, is estimated and never free', async (dialect, usage) => {
  const { path, answer, value, output } = capped[dialect];
  report(answer, usage);

  await (await post(gateway, path, value)).text();
  const [record] = await gateway.recorded(1);

  expect(record?.usage).toMatchObject({
    input_tokens: inputWorst(value),
    output_tokens: output,
    estimated: true,
  });
});

test.each([
  ['output', { prompt_tokens: 7 }, { input_tokens: 7, output_tokens: 100, estimated: true }],
  ['input', { completion_tokens: 7 }, { input_tokens: 25, output_tokens: 100, estimated: true }],
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

test('the usage of a stream is asked for under a limit, and kept from a client that did not', async () => {
  const value = { ...body, stream: true };
  const [usage, done] = chatEvents.slice(-2);
  host.script((response, { body: sent }) => {
    const isAsked = sent.toString().includes('"include_usage":true');
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end([...chatEvents.slice(0, -2), isAsked ? usage : '', done].join(''));
  });
  const free = await startGateway(`
providers: { host: { dialect: openai, base_url: "${host.url}/v1", endpoints: [chat] } }
models: [{ match: m, provider: host }]
projects: { shop: { keys: [{ id: shop-web, value: "\${PROJECT_KEY}" }] } }
`);

  const silent = await post(gateway, '/v1/chat/completions', value);
  const asking = await post(gateway, '/v1/chat/completions', {
    ...value,
    stream_options: { include_usage: true },
  });
  const unlimited = await post(free, '/v1/chat/completions', value);
  const texts = await Promise.all([silent, asking, unlimited].map((each) => each.text()));
  await free.stop();

  const without = [...chatEvents.slice(0, -2), done].join('');
  expect(texts).toEqual([without, chatEvents.join(''), without]);
  expect([silent, asking, unlimited].map(({ headers }) => headers.get('x-gateway-body'))).toEqual([
    'spliced',
    'exact',
    'exact',
  ]);
  const records = await gateway.recorded(2);
  for (const record of records) {
    expect(record.usage).toEqual({
      ...{ input_tokens: 3, output_tokens: 4, cache_read_tokens: 0, cache_write_tokens: 0 },
      reasoning_tokens: 0,
    });
  }
});

test('a usage that comes before the text does not cover it', async () => {
  const usage = chatEvents.at(-2) ?? '';
  const events = [
    usage,
    ...chatEvents.slice(0, -2),
    usage.replace(/"usage".*\}/, '"usage":null}'),
    'data: [DONE]\n\n',
  ];
  reply(200, 'text/event-stream', events.join(''));

  const value = { ...body, reasoning_effort: 'none', stream: true };
  await (await post(gateway, '/v1/chat/completions', value)).text();
  const [record] = await gateway.recorded(1);

  expect(record?.usage).toMatchObject({ input_tokens: 3, output_tokens: 4 + 10 + 6, estimated: true });
});

test('a stream that reports output only where it begins is estimated from its text', async () => {
  const events = messagesEvents.map((event) => event.replace(',"usage":{"output_tokens":4}', ''));
  host.script((response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(events.join(''));
  });

  const value = { ...capped.messages.value, stream: true };
  await (await post(gateway, '/v1/messages', value)).text();
  const [record] = await gateway.recorded(1);

  expect(record?.usage).toMatchObject({ input_tokens: 3, output_tokens: 1 + 10 + 6, estimated: true });
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

test('a cap of 0 bounds nothing, and an image by its address counts as the largest', async () => {
  const limited = await startGateway(`
providers:
  host: { dialect: openai, base_url: "${host.url}/v1", endpoints: [chat] }
  claude: { dialect: anthropic, base_url: "${host.url}" }
models: [{ match: "claude-*", provider: claude }, { match: "*", provider: host }]
projects: { shop: { limits: { tokens_per_day: 4000 }, keys: [{ id: shop-web, value: "\${PROJECT_KEY}" }] } }
`);
  const picture = { type: 'image_url', image_url: { url: 'https://pictures.example/a.png' } };
  const source = { type: 'url', url: 'https://pictures.example/a.png' };

  const statuses = [
    await post(limited, '/v1/chat/completions', { ...body, model: 'gpt-4o' }),
    await post(limited, '/v1/chat/completions', { ...body, model: 'gpt-4o', max_tokens: 0 }),
    await post(limited, '/v1/messages', { ...body, model: 'claude-opus-4-5', max_tokens: 0 }),
    await post(limited, '/v1/chat/completions', {
      ...body,
      messages: [{ role: 'user', content: [picture, picture] }],
    }),
    await post(limited, '/v1/messages', {
      ...body,
      model: 'claude-opus-4-5',
      messages: [{ role: 'user', content: [{ type: 'image', source }] }],
    }),
  ].map(({ status }) => status);
  await limited.stop();

  expect(statuses).toEqual([200, 429, 429, 429, 429]);
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
