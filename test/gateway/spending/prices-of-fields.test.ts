import { describe, expect, test } from 'vitest';
import { methodFor } from '../../../src/dialects/dialect.ts';
import { targetOf } from '../../../src/dialects/model-path.ts';
import { dialects, type TextDialectName } from '../../../src/dialects/registry.ts';
import type { ExchangeRecord } from '../../../src/record/record.ts';
import { json, stream } from '../../kit/answers.ts';
import { post, startGateway } from '../../kit/gateway.ts';
import { startHost } from '../../kit/host.ts';

// Each field of the vendors' usage that says what something costs, in whole answers and in streams, with a budget in US$
// and without: the cost is that of the vendors' price lists, written down here by themselves, or there is none.

const host = await startHost(json('{}'));
const start = (limits: string) =>
  startGateway(`
providers:
  claude: { dialect: anthropic, base_url: "${host.url}" }
  gpt: { dialect: openai, base_url: "${host.url}/v1", endpoints: [chat, responses] }
  google: { dialect: gemini, base_url: "${host.url}" }
models: [{ match: "claude-*", provider: claude }, { match: "gpt-*", provider: gpt }, { match: "gemini-*", provider: google }]
projects: { shop: { limits: ${limits}, keys: [{ id: shop-web, value: "\${PROJECT_KEY}" }] } }
`);
const gateways = { 'no budget': await start('{}'), 'a budget': await start('{ usd_per_month: 1000 }') };

const models = {
  messages: 'claude-opus-4-5',
  chat: 'gpt-4.1',
  responses: 'gpt-4.1',
  gemini: 'gemini-2.5-flash',
};
const user = [{ role: 'user', content: 'hi' }];
const requests = {
  messages: { model: models.messages, max_tokens: 64, messages: user },
  chat: { model: models.chat, max_tokens: 64, messages: user },
  responses: { model: models.responses, max_output_tokens: 64, input: 'hi' },
  gemini: {
    contents: [{ role: 'user', parts: [{ text: 'hi' }] }],
    generationConfig: { maxOutputTokens: 64 },
  },
};

/** An answer with these members, whole, and in a stream whose first usage may say less. */
type Answer = (
  members: object,
  first?: object | undefined,
) => { readonly whole: object; readonly events: readonly object[] };

const answers: Readonly<Record<TextDialectName, Answer>> = {
  messages: (usage, first = usage) => {
    const message = {
      id: 'm',
      type: 'message',
      role: 'assistant',
      model: 'm',
      stop_reason: null,
      stop_sequence: null,
    };
    const block = { type: 'text', text: '' };
    return {
      whole: { ...message, content: [{ type: 'text', text: 'hi' }], stop_reason: 'end_turn', usage },
      events: [
        {
          type: 'message_start',
          message: { ...message, content: [], usage: { ...first, output_tokens: 1 } },
        },
        { type: 'content_block_start', index: 0, content_block: block },
        { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'hi' } },
        { type: 'content_block_stop', index: 0 },
        { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage },
        { type: 'message_stop' },
      ],
    };
  },
  chat: (members) => {
    const about = { id: 'c', created: 1, model: 'm' };
    const message = { role: 'assistant', content: 'hi' };
    return {
      whole: {
        ...about,
        object: 'chat.completion',
        choices: [{ index: 0, message, finish_reason: 'stop' }],
        ...members,
      },
      events: [
        {
          ...about,
          object: 'chat.completion.chunk',
          choices: [{ index: 0, delta: message, finish_reason: 'stop' }],
        },
        { ...about, object: 'chat.completion.chunk', choices: [], ...members },
      ],
    };
  },
  responses: (members) => {
    const output = [
      {
        type: 'message',
        id: 'o',
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text: 'hi', annotations: [] }],
      },
    ];
    const response = {
      id: 'r',
      object: 'response',
      created_at: 1,
      status: 'completed',
      model: 'm',
      output,
      ...members,
    };
    return { whole: response, events: [{ type: 'response.completed', sequence_number: 0, response }] };
  },
  gemini: (members) => {
    const answer = {
      candidates: [{ index: 0, content: { role: 'model', parts: [{ text: 'hi' }] }, finishReason: 'STOP' }],
      ...members,
    };
    return { whole: answer, events: [answer] };
  },
};

const eventText = (dialect: TextDialectName, event: object) => {
  const name = 'type' in event && dialect !== 'chat' ? `event: ${event.type}\n` : '';
  return `${name}data: ${JSON.stringify(event)}\n\n`;
};

type Row = readonly [
  what: string,
  dialect: TextDialectName,
  members: object,
  usd: number | undefined,
  first?: object | undefined,
  model?: string,
];

const m = (more: object) => ({ input_tokens: 1_000, output_tokens: 100, ...more });
const hours = (tokens: number, all = tokens) => ({
  cache_creation_input_tokens: all,
  cache_creation: { ephemeral_5m_input_tokens: all - tokens, ephemeral_1h_input_tokens: tokens },
});
const c = (usage: object, more: object = {}) => ({
  usage: { prompt_tokens: 1_000, completion_tokens: 100, total_tokens: 1_100, ...usage },
  ...more,
});
const r = (usage: object, more: object = {}) => ({
  usage: { input_tokens: 1_000, output_tokens: 100, total_tokens: 1_100, ...usage },
  ...more,
});
const g = (usage: object, more: object = {}) => ({
  usageMetadata: { promptTokenCount: 1_000, candidatesTokenCount: 100, totalTokenCount: 1_100, ...usage },
  ...more,
});
/** A response whose provider ran tools itself. */
const ran = (...types: readonly string[]) =>
  r({}, { output: types.map((type) => ({ type, id: 'o', status: 'completed' })) });
const sound = (tokens: number) => [{ modality: 'AUDIO', tokenCount: tokens }];

// What the vendors charged in November 2026, by their own pages. US$ for a million tokens:
// claude-opus-4-5: 5 in, 25 out, 0.5 read, 6.25 written, 10 for an hour; a search 0.01
//   (platform.claude.com/docs/en/about-claude/pricing)
// gpt-6-sol: 2 in, 10 out, 2.5 written; gpt-4.1: 2 in, 8 out, 0.5 read; a search 0.01; searches of files, containers and pictures apart
//   (developers.openai.com/api/docs/pricing)
// gemini-2.5-flash: 0.3 in, 2.5 out, 0.03 read; sound apart (ai.google.dev/gemini-api/docs/pricing)
// biome-ignore format: a case a line
const rows: readonly Row[] = [
  ['tokens', 'messages', m({}), 0.005 + 0.0025],
  ['the standard tier', 'messages', m({ service_tier: 'standard', speed: 'standard', inference_geo: 'global' }), 0.0075],
  ['tokens that were read', 'messages', m({ cache_read_input_tokens: 1_000 }), 0.0075 + 0.0005],
  ['tokens that were written', 'messages', m({ cache_creation_input_tokens: 1_000 }), 0.0075 + 0.00625],
  ['tokens that were written for an hour', 'messages', m(hours(1_000)), 0.0075 + 0.01],
  ['tokens of both lives', 'messages', m(hours(400, 1_000)), 0.0075 + 0.004 + 0.00375],
  ['more written for an hour later', 'messages', m(hours(3_000)), 0.0075 + 0.03, m(hours(1_000))],
  ['more written for an hour later, without the sum', 'messages', m({ cache_creation: { ephemeral_1h_input_tokens: 5_100 } }), 0.0075 + 0.051, m(hours(0, 100))],
  ['more written for an hour later, beside an old sum', 'messages', m({ ...hours(5_100), cache_creation_input_tokens: 100 }), 0.0075 + 0.051, m(hours(0, 100))],
  ['writes by their lives alone', 'messages', m({ cache_creation: hours(400, 1_000).cache_creation }), 0.0075 + 0.004 + 0.00375],
  ['searches', 'messages', m({ server_tool_use: { web_search_requests: 2 } }), 0.0075 + 0.02],
  ['the priority tier', 'messages', m({ service_tier: 'priority' }), undefined],
  ['the batch tier', 'messages', m({ service_tier: 'batch' }), undefined],
  ['the fast mode', 'messages', m({ service_tier: 'standard', speed: 'fast' }), undefined],
  ['one region', 'messages', m({ inference_geo: 'us' }), undefined],
  ['a summary by the provider itself', 'messages', m({ iterations: [{ type: 'compaction', input_tokens: 1_000, output_tokens: 100 }] }), 0.0075 * 2],
  ["another model's advice", 'messages', m({ iterations: [{ type: 'advisor_message', model: 'claude-opus-4-1', input_tokens: 1_000, output_tokens: 100 }] }), undefined],
  ['tokens', 'chat', c({}), 0.002 + 0.0008],
  ['cached tokens', 'chat', c({ prompt_tokens_details: { cached_tokens: 600 } }), 0.0008 + 0.0003 + 0.0008],
  ['cached tokens of Moonshot', 'chat', c({ cached_tokens: 600 }), 0.0008 + 0.0003 + 0.0008],
  ['cached tokens of DeepSeek', 'chat', c({ prompt_cache_hit_tokens: 600, prompt_cache_miss_tokens: 400 }), 0.0008 + 0.0003 + 0.0008],
  ['cached tokens of DeepSeek beside zeros', 'chat', c({ prompt_cache_hit_tokens: 600, prompt_tokens_details: { cached_tokens: 0 } }), 0.0008 + 0.0003 + 0.0008],
  ['cached tokens of proxies', 'chat', c({ cache_read_input_tokens: 600 }), 0.0008 + 0.0003 + 0.0008],
  ['the default tier', 'chat', c({}, { service_tier: 'default' }), 0.0028],
  ['the priority tier', 'chat', c({}, { service_tier: 'priority' }), undefined],
  ['the flex tier', 'chat', c({}, { service_tier: 'flex' }), undefined],
  ['written tokens', 'chat', c({ prompt_tokens_details: { cache_write_tokens: 600 } }), 0.0028],
  ...[
    { cache_write_tokens: 600 },
    { cache_creation_input_tokens: 600, cache_creation: { ephemeral_5m_input_tokens: 600 }, cache_type: 'ephemeral' },
    { cache_creation: { ephemeral_5m_input_tokens: 600 } },
  ].map((details): Row => [`written tokens, as ${Object.keys(details).join(' and ')}`, 'chat', c({ prompt_tokens_details: details }), 0.0008 + 0.0015 + 0.001, undefined, 'gpt-6-sol']),
  ['sound that was made', 'chat', c({ completion_tokens_details: { audio_tokens: 50 } }), undefined],
  ['sound that was heard', 'chat', c({ prompt_tokens_details: { audio_tokens: 50 } }), undefined],
  ['pictures that were made', 'chat', c({ completion_tokens_details: { image_tokens: 50 } }), undefined],
  ['predictions that were rejected', 'chat', c({ completion_tokens_details: { rejected_prediction_tokens: 50, reasoning_tokens: 20 } }), 0.0028],
  ['tokens', 'responses', r({}), 0.0028],
  ['cached tokens', 'responses', r({ input_tokens_details: { cached_tokens: 600 } }), 0.0019],
  ['searches', 'responses', r({}, { tool_usage: { web_search: { num_requests: 2 } } }), 0.0028 + 0.02],
  ['the priority tier', 'responses', r({}, { service_tier: 'priority' }), undefined],
  ['the flex tier', 'responses', r({}, { service_tier: 'flex' }), undefined],
  ['searches that are listed', 'responses', ran('web_search_call', 'web_search_call'), 0.0028 + 0.02],
  ['calls that the client runs', 'responses', ran('function_call', 'custom_tool_call', 'mcp_call'), 0.0028],
  ['a search of files', 'responses', ran('file_search_call'), undefined],
  ['a container', 'responses', ran('message', 'code_interpreter_call'), undefined],
  ['a picture', 'responses', ran('image_generation_call'), undefined],
  ['a call of tomorrow', 'responses', ran('teleport_call'), undefined],
  ['tokens', 'gemini', g({}), 0.0003 + 0.00025],
  ['tokens on demand', 'gemini', g({ trafficType: 'ON_DEMAND' }), 0.00055],
  ['the standard tier', 'gemini', g({ serviceTier: 'standard' }), 0.00055],
  ['the flex tier', 'gemini', g({ serviceTier: 'flex' }), undefined],
  ['the priority tier', 'gemini', g({ serviceTier: 'PRIORITY' }), undefined],
  ['priority on demand', 'gemini', g({ trafficType: 'ON_DEMAND_PRIORITY' }), undefined],
  ['cached tokens', 'gemini', g({ cachedContentTokenCount: 600 }), 0.00012 + 0.000018 + 0.00025],
  ['thoughts', 'gemini', g({ thoughtsTokenCount: 100, totalTokenCount: 1_200 }), 0.0008],
  ['provisioned throughput', 'gemini', g({ trafficType: 'PROVISIONED_THROUGHPUT' }), undefined],
  ['sound that was heard', 'gemini', g({ promptTokensDetails: sound(500) }), undefined],
  ['sound that was cached', 'gemini', g({ cachedContentTokenCount: 600, cacheTokensDetails: sound(500) }), undefined],
  ['what tools added', 'gemini', g({ toolUsePromptTokenCount: 1_000, totalTokenCount: 2_100 }), 0.0003 * 2 + 0.00025],
  ['pictures that were made', 'gemini', g({ candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: 50 }] }), undefined],
  ['sound that was made', 'gemini', g({ candidatesTokensDetails: sound(50) }), undefined],
  ['a search', 'gemini', g({}, { candidates: [{ index: 0, content: { role: 'model', parts: [{ text: 'hi' }] }, finishReason: 'STOP', groundingMetadata: { webSearchQueries: ['a'] } }] }), undefined],
];

describe.each(Object.entries(gateways))('with %s', (_budget, gateway) => {
  async function spend(
    dialect: TextDialectName,
    body: object,
    script: Parameters<typeof host.script>[0],
    isStream: boolean,
    model = models[dialect],
  ) {
    host.script(script);
    const before = gateway.records.length;
    const target = targetOf(methodFor(dialects[dialect], isStream), model);
    const named = 'model' in body ? { ...body, model } : body;
    const asked = dialect === 'gemini' || !isStream ? named : { ...named, stream: true };
    await (await post(gateway, target, asked)).text();
    return (await gateway.recorded(before + 1)).at(-1) as ExchangeRecord;
  }

  const named = rows.map(([what, dialect, members, usd, first, model]) => ({
    what,
    dialect,
    members,
    usd,
    first,
    model,
  }));

  test.each(named)('$what of $dialect cost what they cost, or nothing is said', async (row) => {
    const { dialect, members, usd, first, model } = row;
    const { whole, events } = answers[dialect](members, first);

    const records = [
      await spend(dialect, requests[dialect], json(JSON.stringify(whole)), false, model),
      await spend(
        dialect,
        requests[dialect],
        stream(events.map((event) => eventText(dialect, event))),
        true,
        model,
      ),
    ];

    for (const { status, cost_usd: cost, usage } of records) {
      expect([status, usage?.estimated]).toEqual([200, undefined]);
      if (usd === undefined) expect(cost).toBeUndefined();
      else expect(cost).toBeCloseTo(usd, 9);
    }
  });
});

// With a budget these are refused, or reserved by the known price: surcharge.test.ts.
test.each<readonly [TextDialectName, object, object, number | undefined]>([
  ['messages', { speed: 'fast' }, m({}), undefined],
  ['messages', { inference_geo: 'us' }, m({}), undefined],
  ['messages', { service_tier: 'auto' }, m({}), 0.0075],
  ['chat', { service_tier: 'priority' }, c({}), undefined],
  ['chat', { service_tier: 'flex' }, c({}), undefined],
  ['chat', { service_tier: 'priority' }, c({}, { service_tier: 'default' }), 0.0028],
  ['chat', { service_tier: 'auto' }, c({}, { service_tier: 'priority' }), undefined],
  ['responses', { service_tier: 'flex' }, r({}), undefined],
  ['gemini', { serviceTier: 'flex' }, g({}), undefined],
  ['gemini', { service_tier: 'priority' }, g({ serviceTier: 'standard' }), 0.00055],
  ['messages', { tools: [{ type: 'code_execution_20250825', name: 'code_execution' }] }, m({}), undefined],
  ['messages', { tools: [{ type: 'web_search_20250305', name: 'web_search' }] }, m({}), 0.0075],
  ['responses', { tools: [{ type: 'file_search', vector_store_ids: [] }] }, r({}), 0.0028],
  [
    'responses',
    { tools: [{ type: 'file_search', vector_store_ids: [] }] },
    ran('file_search_call'),
    undefined,
  ],
  ['responses', { tools: [{ type: 'file_search', vector_store_ids: [] }] }, ran(), undefined],
  ['gemini', { tools: [{ googleMaps: {} }] }, g({}), undefined],
  ['gemini', { cachedContent: 'cachedContents/1' }, g({ cachedContentTokenCount: 600 }), undefined],
])('what %s is asked for without a budget, %j, is not understated', async (dialect, asked, members, usd) => {
  const { 'no budget': gateway } = gateways;
  host.script(json(JSON.stringify(answers[dialect](members).whole)));
  const before = gateway.records.length;

  const target = targetOf(methodFor(dialects[dialect], false), models[dialect]);
  await (await post(gateway, target, { ...requests[dialect], ...asked })).text();
  const record = (await gateway.recorded(before + 1)).at(-1);

  expect(record?.status).toBe(200);
  if (usd === undefined) expect(record?.cost_usd).toBeUndefined();
  else expect(record?.cost_usd).toBeCloseTo(usd, 9);
});
