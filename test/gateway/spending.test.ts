import { expect, test } from 'vitest';
import type { ExchangeRecord } from '../../src/record/record.ts';
import {
  chatAnswer,
  chatEvents,
  geminiAnswer,
  json,
  messagesAnswer,
  messagesEvents,
  openStream,
  pathFor,
  responsesAnswer,
  stream,
} from '../kit/answers.ts';
import { post, startGateway, type TestGateway } from '../kit/gateway.ts';
import { type Script, startHost } from '../kit/host.ts';

// What an exchange costs however it ends. The host's usage is 3 tokens of input and 4 of output.
const chat = '/v1/chat/completions';
const body = { model: 'm', messages: [{ role: 'user', content: 'hi' }], max_tokens: 100 };
const { max_tokens: _, ...uncapped } = body;
const claude = { ...body, model: 'claude-opus-4-5' };
const silence: Script = () => undefined;
const error = json('{"error":{"message":"no"}}', 500);

type Setting = 'limits' | 'endpoints' | 'models' | 'policies';

function start(settings: Readonly<Partial<Record<Setting, string>>>): Promise<TestGateway> {
  const { limits = '{}', endpoints = 'chat', models = '{ match: m, provider: host }' } = settings;
  return startGateway(`
providers:
  host: { dialect: openai, base_url: "${host.url}/v1", endpoints: [${endpoints}] }
  claude: { dialect: anthropic, base_url: "${host.url}" }
  google: { dialect: gemini, base_url: "${host.url}" }
models:
  [{ match: "claude-*", provider: claude }, { match: "gemini-*", provider: google, pricing: { input: 1, output: 2, cache_read: 0.1 } }, ${models}]
${settings.policies ?? ''}projects: { shop: { limits: ${limits}, keys: [{ id: shop-web, value: "\${PROJECT_KEY}" }] } }
`);
}

const host = await startHost(json(chatAnswer));
const gateway = await start({
  limits: '{ tokens_per_day: 1000000000 }',
  endpoints: 'chat, responses, embeddings',
  models: `{ match: kept, provider: host, pricing: { input: 1, output: 2, cache_write: 2, cache_write_1h: 4 } },
  { match: gpt-4.1, provider: host }, { match: m, provider: host, pricing: { input: 1, output: 2 } }`,
  policies: `policies:
  house:
    apply: all
    rules: [{ id: greeting, action: block, apply_to: [response], when: { text: { phrases: ["forbidden words"] } } }]
`,
});

/** The record of a request that the host answers as it is told. */
async function spend(script: Script, value: object, path = chat, from = gateway): Promise<ExchangeRecord> {
  host.script(script);
  const before = from.records.length;
  await (await post(from, path, value)).text().catch(() => 'cut');
  return (await from.recorded(before + 1)).at(-1) as ExchangeRecord;
}

/** The record of a request whose client leaves when the host has it, or when the stream has begun. */
async function leave(script: Script, value: object, from = gateway): Promise<ExchangeRecord> {
  host.script(script);
  const before = from.records.length;
  const leaving = new AbortController();
  const received = host.next();
  const posted = post(from, chat, value, { signal: leaving.signal });
  if (script === silence) await received;
  else await (await posted).body?.getReader().read();
  leaving.abort();
  await posted.catch(() => 'left');
  return (await from.recorded(before + 1)).at(-1) as ExchangeRecord;
}

/** An answer of a dialect in which a few members are other than usual. */
const report = (answer: string, members: object) =>
  json(JSON.stringify({ ...JSON.parse(answer), ...members }));

const worst = (value: object, output = 100) => ({
  input_tokens: Math.ceil(JSON.stringify(value).length / 3),
  output_tokens: output,
  estimated: true,
});

test('an answer that a rule refuses costs what the provider says it used', async () => {
  const choices = [
    { index: 0, message: { role: 'assistant', content: 'the forbidden words' }, finish_reason: 'stop' },
  ];

  expect(await spend(report(chatAnswer, { choices }), body)).toMatchObject({
    status: 403,
    usage: { input_tokens: 3, output_tokens: 4 },
    cost_usd: 11e-6,
  });
});

test.each([
  ['an error', error],
  ['a refusal', json('{"error":{"message":"no"}}', 429)],
  ['a rejected key', json('{}', 401)],
  ['a redirect', json('', 302, { 'content-type': 'text/html' })],
])('%s of the provider costs nothing', async (_what, script) => {
  expect((await spend(script, body)).usage).toBe(undefined);
});

const cut =
  (type: string, text: string): Script =>
  (response) =>
    response.writeHead(200, { 'content-type': type }).write(text, () => response.destroy());

test.each([
  ['half a JSON', json('{"choices":[')],
  ['a page', json('<p>hello</p>', 200, { 'content-type': 'text/html' })],
  ['nothing at all', json('', 204)],
  ['what is not what it is said to be', json('{}', 200, { 'content-encoding': 'gzip' })],
  ['a connection that breaks', cut('application/json', '{"choices":[')],
  ['a connection that breaks at once', (response) => response.destroy()],
  ['a stream that breaks at once', (response) => response.destroy(), { ...body, stream: true }],
  ['more than is read', json(`"${'a'.repeat(33 * 1024 * 1024)}"`)],
] satisfies [string, Script, object?][])(
  '%s after the request costs the worst case',
  async (_what, script, value: object = body) => {
    expect(await spend(script, value)).toMatchObject({ status: 502, usage: worst(value) });
  },
);

test.each([
  ['while the provider works on an answer', silence, body, worst(body)],
  ['before a stream begins', silence, { ...body, stream: true }, worst({ ...body, stream: true })],
  [
    'a stream of a model that may reason',
    openStream(chatEvents.slice(0, 2)),
    { ...body, stream: true },
    { output_tokens: 100, estimated: true },
  ],
  [
    // "Grüße 👋 " has 5 bytes of ASCII and 8 beyond, 東京 has 6: a token for three of ASCII, or one beyond.
    'a stream of a model that does not reason, which costs what came',
    openStream([chatEvents.slice(0, 3).join('')]),
    { ...body, reasoning_effort: 'none', stream: true },
    { output_tokens: 10 + 6, estimated: true },
  ],
] as const)('a client that leaves %s pays for it', async (_what, script, value, usage) => {
  expect(await leave(script, value)).toMatchObject({ outcome: 'left', usage });
});

test.each([
  ['a limit', '{ tokens_per_day: 100000 }', 3, 100],
  ['no limit', '{}', 3, 16],
  ['no limit before any text', '{}', 1, 100],
] as const)('a stream that its provider breaks off under %s', async (_what, limits, events, output) => {
  const broken = await start({ limits });
  const script = cut('text/event-stream', chatEvents.slice(0, events).join(''));

  expect((await spend(script, { ...body, stream: true }, chat, broken)).usage).toMatchObject({
    output_tokens: output,
    estimated: true,
  });
});

const geminiPath = pathFor('gemini', 'gemini-2.5-flash');
const responses = { model: 'm', input: 'hi', max_output_tokens: 100 };
const gemini = {
  contents: [{ role: 'user', parts: [{ text: 'hi' }] }],
  generationConfig: { maxOutputTokens: 100 },
};
const answers = {
  gemini: [geminiPath, geminiAnswer, gemini, 100],
  chat: [chat, chatAnswer, body, 100],
  // "Hello from messages", by a model that does not reason unasked.
  messages: ['/v1/messages', messagesAnswer, claude, 7],
  responses: ['/v1/responses', responsesAnswer, responses, 100],
  embeddings: [
    '/v1/embeddings',
    '{"object":"list","data":[],"model":"m"}',
    { model: 'm', input: 'hello' },
    0,
  ],
} as const;

/** The record of a question in a dialect whose answer has members that are other than usual. */
function spendAt(dialect: keyof typeof answers, members: object, more: object = {}) {
  const [path, answer, value] = answers[dialect];
  return spend(report(answer, members), { ...value, ...more }, path);
}

const hourOfAnthropic = {
  cache_creation_input_tokens: 300,
  cache_creation: { ephemeral_5m_input_tokens: 100, ephemeral_1h_input_tokens: 200 },
};
const hoursOfOpenAi = {
  input_tokens_details: {
    cache_write_tokens: 300,
    cache_write_tokens_details: { ttl_30m_tokens: 100, ttl_12h_tokens: 200 },
  },
};
const reasoned = { completion_tokens_details: { reasoning_tokens: 50 } };
const ofGemini = (promptTokenCount: number, candidatesTokenCount: number) => ({
  promptTokenCount,
  candidatesTokenCount,
});
const own = { input_tokens: 23, output_tokens: 10 };
const pass = { type: 'compaction', input_tokens: 180, output_tokens: 35, cache_read_input_tokens: 20 };
const compacted = { ...own, iterations: [pass, { type: 'message', ...own }] };
const searched = { input_tokens: 10, output_tokens: 10, server_tool_use: { web_search_requests: 3 } };
const searches = [1, 2, 3].map((id) => ({ type: 'web_search_call', id: String(id) }));
const search = { model: 'gpt-4.1', tools: [{ type: 'web_search' }] };

type Asked = Parameters<typeof spendAt>;

test.each<[string, Asked, object, number]>([
  [
    'what is kept in the cache for an hour',
    ['messages', { content: [], usage: { input_tokens: 10, output_tokens: 0, ...hourOfAnthropic } }],
    { input_tokens: 310, cache_write_tokens: 300 },
    10 * 5 + 100 * 6.25 + 200 * 10,
  ],
  [
    'what OpenAI keeps in the cache for twelve hours',
    ['responses', { usage: { input_tokens: 310, output_tokens: 50, ...hoursOfOpenAi } }, { model: 'kept' }],
    { input_tokens: 310, cache_write_tokens: 300 },
    10 * 1 + 100 * 2 + 200 * 4 + 50 * 2,
  ],
  [
    'searches of a response by tool_usage',
    ['responses', { tool_usage: { web_search: { num_requests: 3 } } }, search],
    {},
    3 * 2 + 4 * 8 + 30_000,
  ],
  ['searches of messages', ['messages', { usage: searched }], {}, 10 * 5 + 10 * 25 + 30_000],
  [
    'searches of a response by themselves',
    ['responses', { output: searches }, search],
    {},
    3 * 2 + 4 * 8 + 30_000,
  ],
  [
    'tokens that a host counts in its total only, as reasoning',
    ['chat', { usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 57, ...reasoned } }],
    { input_tokens: 3, output_tokens: 54, reasoning_tokens: 50 },
    3 + 54 * 2,
  ],
  // Google's output is without the thoughts, and its input has what was cached but not what its tools added.
  [
    'thoughts and cached tokens of Gemini',
    [
      'gemini',
      { usageMetadata: { ...ofGemini(30, 4), cachedContentTokenCount: 20, thoughtsTokenCount: 50 } },
    ],
    { input_tokens: 30, output_tokens: 54, cache_read_tokens: 20, reasoning_tokens: 50 },
    10 + 20 * 0.1 + 54 * 2,
  ],
  [
    'what tools added to a question to Gemini',
    ['gemini', { usageMetadata: { ...ofGemini(3, 4), toolUsePromptTokenCount: 100, totalTokenCount: 107 } }],
    { input_tokens: 103, output_tokens: 4 },
    103 + 4 * 2,
  ],
  [
    'thoughts of Gemini in the total only',
    ['gemini', { usageMetadata: { ...ofGemini(3, 4), totalTokenCount: 57 } }],
    { input_tokens: 3, output_tokens: 54 },
    3 + 54 * 2,
  ],
])('%s are counted and paid for', async (_what, exchange, usage, microUsd) => {
  const record = await spendAt(...exchange);

  expect(record.usage).toMatchObject(usage);
  expect(record.cost_usd).toBeCloseTo(microUsd / 1e6, 12);
});

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
  ['chat', { prompt_tokens: 0, completion_tokens: 4, total_tokens: 4 }],
  ['messages', { input_tokens: 0, output_tokens: 0 }],
  ['responses', { input_tokens: 0, output_tokens: 0, total_tokens: 0 }],
  ['gemini', {}],
  ['gemini', { promptTokenCount: '3', candidatesTokenCount: true }],
  ['gemini', { promptTokenCount: -3, candidatesTokenCount: 1e300, thoughtsTokenCount: 'x' }],
  ['gemini', { promptTokenCount: 0, candidatesTokenCount: 0, thoughtsTokenCount: 0, totalTokenCount: 0 }],
] as const)('usage of %s that is none, %j, is estimated and never free', async (dialect, usage) => {
  const [, , value, output] = answers[dialect];
  const members = { [dialect === 'gemini' ? 'usageMetadata' : 'usage']: usage };

  expect((await spendAt(dialect, members)).usage).toMatchObject(worst(value, output));
});

const unreasoned = { reasoning_effort: 'none' };
const long = [{ index: 0, message: { role: 'assistant', content: 'x'.repeat(360) }, finish_reason: 'stop' }];

test.each<[string, Asked, object]>([
  [
    'an answer without usage is estimated from its text, even above its cap',
    ['chat', { usage: undefined, choices: long }, unreasoned],
    worst({ ...body, ...unreasoned }, 120),
  ],
  [
    'a missing count of output is estimated',
    ['chat', { usage: { prompt_tokens: 7 } }],
    { input_tokens: 7, output_tokens: 100, estimated: true },
  ],
  ['a missing count of input is estimated', ['chat', { usage: { completion_tokens: 7 } }], worst(body)],
  [
    'embeddings without usage cost their worst input',
    ['embeddings', { usage: { prompt_tokens: 'many' } }],
    worst({ model: 'm', input: 'hello' }, 0),
  ],
])('%s', async (_what, exchange, usage) => {
  expect((await spendAt(...exchange)).usage).toMatchObject(usage);
});

const [usageEvent = '', done = ''] = chatEvents.slice(-2);
const withoutUsage = chatEvents.slice(0, -2);
const earlyUsage = [usageEvent, ...withoutUsage, usageEvent.replace(/"usage".*\}/, '"usage":null}'), done];
const compactedEvent = `data: ${JSON.stringify({ type: 'message_delta', delta: {}, usage: compacted })}\n\n`;
const lateOutput = messagesEvents.map((event) => event.replace(',"usage":{"output_tokens":4}', ''));

test.each([
  [
    'a usage that comes again with nothing in it does not take the first one back',
    [...chatEvents.slice(0, -1), 'data: {"choices":[],"usage":{}}\n\n', done],
    [chat, { ...body, stream: true }],
    { input_tokens: 3, output_tokens: 4 },
  ],
  [
    'a usage that comes before the text does not cover it',
    earlyUsage,
    [chat, { ...body, ...unreasoned, stream: true }],
    { input_tokens: 3, output_tokens: 4 + 10 + 6, estimated: true },
  ],
  [
    'a stream that reports output only where it begins is estimated from its text',
    lateOutput,
    ['/v1/messages', { ...claude, stream: true }],
    { input_tokens: 3, output_tokens: 1 + 10 + 6, estimated: true },
  ],
  [
    'passes beside the answer are paid for once, although a stream ends with them twice',
    [...messagesEvents.slice(0, -2), compactedEvent, compactedEvent, ...messagesEvents.slice(-1)],
    ['/v1/messages', { ...claude, stream: true }],
    { input_tokens: 223, output_tokens: 45, cache_read_tokens: 20 },
  ],
] as const)('%s', async (_what, events, [path, value], usage) => {
  expect((await spend(stream(events), value, path)).usage).toMatchObject(usage);
});

test('the usage of a stream is asked for under a limit, and kept from a client that did not', async () => {
  const value = { ...body, stream: true };
  host.script((response, request) => {
    const isAsked = request.body.toString().includes('"include_usage":true');
    return stream([...withoutUsage, isAsked ? usageEvent : '', done].filter(Boolean))(response, request);
  });
  const free = await start({});
  const before = gateway.records.length;

  const answers = [
    await post(gateway, chat, value),
    await post(gateway, chat, { ...value, stream_options: { include_usage: true } }),
    await post(free, chat, value),
  ];

  const without = [...withoutUsage, done].join('');
  const texts = await Promise.all(answers.map((each) => each.text()));
  expect(texts).toEqual([without, chatEvents.join(''), without]);
  const forms = answers.map(({ headers }) => headers.get('x-gateway-body'));
  expect(forms).toEqual(['spliced', 'exact', 'exact']);
  const usage = { input_tokens: 3, output_tokens: 4 };
  expect((await gateway.recorded(before + 2)).slice(before)).toMatchObject([{ usage }, { usage }]);
});

const small = 'provider: host, model: small, max_output_tokens: 100';
const toFallbacks = `{ match: fast, ${small}, pricing: { input: 1, output: 2 }, fallbacks: [{ provider: host, model: gpt-4o }] },
  { match: own, ${small}, fallbacks: [{ provider: host, model: unheard-of }, { provider: claude, model: claude-opus-4-5 }] }`;

const ofFast = (asked: object) => [chat, { ...asked, model: 'fast' }] as const;
const ofOwn = [chat, { ...uncapped, model: 'own' }] as const;
const ofAny = (max_tokens: number) => [chat, { ...body, model: 'gpt-4o', max_tokens }] as const;
const tool = { type: 'web_search_20250305', name: 'w' };
const searching = (more: object) => ['/v1/messages', { ...claude, tools: [{ ...tool, ...more }] }] as const;
const answerSearched: Script = (response, request) => {
  const isClaude = request.target === '/v1/messages';
  return (isClaude ? report(messagesAnswer, { usage: searched }) : json(chatAnswer))(response, request);
};

test.each([
  // 100 tokens of output cost US$ 0.0002 at the first model and 0.001 at the second.
  ['the price of a fallback', '{ usd_per_day: 0.0005 }', [ofFast(body)], [429]],
  // 16,384 tokens of output are the most of gpt-4o; they cost US$ 0.16.
  ['what a fallback may write', '{ usd_per_day: 0.15 }', [ofFast(uncapped), ofFast(body)], [429, 200]],
  ['its tokens', '{ tokens_per_day: 16000 }', [ofFast(uncapped), ofFast(body), ofOwn], [429, 200, 200]],
  ['a cap of 0, which is none', '{ tokens_per_day: 4000 }', [ofAny(100), ofAny(0)], [200, 429]],
  ['searches', '{ usd_per_day: 0.07 }', [searching({ max_uses: 8 }), searching({ max_uses: 5 })], [429, 200]],
  ['unbounded ones', '{ usd_per_day: 0.1 }', [searching({ max_uses: 8 }), searching({})], [200, 429]],
] as const)('%s: reserved under %s', async (_what, limits, requests, expected) => {
  host.script(answerSearched);
  const limited = await start({ limits, models: `${toFallbacks}, { match: "*", provider: host }` });

  const statuses: number[] = [];
  for (const [path, value] of requests) statuses.push((await post(limited, path, value)).status);

  expect(statuses).toEqual(expected);
});

test('a fallback to another model is charged at the price of that model', async () => {
  const fallen = await start({ models: toFallbacks });
  const script: Script = (response, request) =>
    (request.body.toString().includes('"small"') ? error : json(chatAnswer))(response, request);

  const record = await spend(script, { ...body, model: 'fast' }, chat, fallen);

  expect(record).toMatchObject({ status: 200, target_model: 'gpt-4o' });
  expect(record.cost_usd).toBeCloseTo((3 * 2.5 + 4 * 10) / 1e6, 12);
});

test('an answer that nobody waits for costs at most what its own target could write', async () => {
  const two = await start({ models: toFallbacks });

  expect((await leave(silence, { ...uncapped, model: 'fast' }, two)).usage).toMatchObject({
    output_tokens: 100,
    estimated: true,
  });
});

test('a cap that a translation raises is reserved as it leaves', async () => {
  const raised = await start({ endpoints: 'responses' });

  const { usage } = await leave(silence, { ...body, max_tokens: 1 }, raised);

  expect(JSON.parse(String(host.requests.at(-1)?.body))).toMatchObject({ max_output_tokens: 16 });
  expect(usage).toMatchObject({ output_tokens: 16, estimated: true });
});

test('an answer that cannot be translated costs what the provider says it used', async () => {
  const other = await start({ endpoints: 'responses' });

  expect(await spend(report(responsesAnswer, { status: 'failed' }), body, chat, other)).toMatchObject({
    status: 502,
    usage: { input_tokens: 3, output_tokens: 4 },
  });
});

// Google's endpoint of Chat knows no references: written out, they may be much longer than what the client sent.
test('what references become is reserved before it is built', async () => {
  const limited = await startGateway(`
providers:
  google: { dialect: openai, host: gemini, base_url: "${host.url}/v1", endpoints: [chat] }
models: [{ match: "gemini-*", provider: google }]
projects: { shop: { limits: { tokens_per_day: 12000 }, keys: [{ id: shop-web, value: "\${PROJECT_KEY}" }] } }
`);
  const definition = { type: 'object', description: 'x'.repeat(3_000), properties: {} };
  const plant = (reference: string) => ({
    type: 'object',
    properties: Object.fromEntries(
      Array.from({ length: 9 }, (_, at) => [`p${at}`, { [reference]: '#/$defs/d' }]),
    ),
    $defs: { d: definition },
  });
  const ask = (reference: string) => ({
    ...{ model: 'gemini-3-pro', max_tokens: 10, messages: body.messages },
    tools: [{ name: 'plant', input_schema: plant(reference) }],
  });
  host.script(json(chatAnswer));
  const before = host.requests.length;

  const refused = await post(limited, '/v1/messages', ask('$ref'));
  const taken = await post(limited, '/v1/messages', ask('$comment'));

  expect([refused.status, taken.status, host.requests.length - before]).toEqual([429, 200, 1]);
});
