import { expect, test } from 'vitest';
import { claudeCode } from '../kit/client-bodies.ts';
import { createRandom } from '../kit/random.ts';
import { post, startClients, weatherSchema } from './clients.ts';

// What one request asks for, and a whole answer to it; what all dialects have in common is in answers.test.ts.

const { url } = await startClients();
const model = 'sandbox-mini';
const messages = [{ role: 'user', content: 'hello 🌍' }];
const helloText = 'The sandbox read: "hello 🌍". It works offline and always replies the same way.';
const beforeOffline = 'The sandbox read: "hello 🌍". It works';

const ask = {
  messages: (more: object) => post(`${url}/v1/messages`, { model, max_tokens: 1024, messages, ...more }),
  chat: (more: object) => post(`${url}/v1/chat/completions`, { model, messages, ...more }),
  responses: (more: object) => post(`${url}/v1/responses`, { model, input: 'hello 🌍', ...more }),
};
type Dialect = keyof typeof ask;

const withoutReasoning = expect.not.objectContaining({ reasoning_content: expect.anything() });
const chatTools = [
  { type: 'function', function: { name: 'get_weather', parameters: weatherSchema } },
  { type: 'function', function: { name: 'other' } },
];
const repeated = {
  instructions: 'be brief',
  temperature: 0.5,
  max_output_tokens: 900,
  metadata: { a: 'b' },
  store: false,
  tools: [{ type: 'function', name: 'get_weather', parameters: weatherSchema, strict: true }],
  tool_choice: 'auto',
  parallel_tool_calls: false,
  reasoning: { effort: 'low' },
};

test.each<[Dialect, what: string, more: object, answer: object]>([
  [
    'messages',
    'the first stop sequence cuts the text and is named',
    { stop_sequences: ['always', ' offline'] },
    { content: [{ text: beforeOffline }], stop_reason: 'stop_sequence', stop_sequence: ' offline' },
  ],
  [
    'messages',
    'a forced call that does not fit under the cap is left out',
    {
      max_tokens: 2,
      tools: [{ name: 'get_weather', input_schema: weatherSchema }],
      tool_choice: { type: 'any' },
    },
    { content: [], stop_reason: 'max_tokens' },
  ],
  [
    'messages',
    'thinking that is disabled is left out',
    { model: 'sandbox-think', thinking: { type: 'disabled' } },
    { content: [{ type: 'text' }] },
  ],
  [
    'messages',
    'thinking may be asked for as updates, as Claude Code does on a terminal',
    { model: 'sandbox-think', thinking: { type: 'adaptive', display: 'updates' } },
    { content: [{ type: 'thinking', thinking: expect.stringMatching(/./) }, { type: 'text' }] },
  ],
  [
    'messages',
    'what coding agents send is accepted',
    { ...claudeCode(createRandom(1)), model, stream: false },
    { type: 'message' },
  ],
  ['chat', 'a stop cuts the text', { stop: ' offline' }, choice({ content: beforeOffline }, 'stop')],
  [
    'chat',
    'a forced tool that is not the first is called',
    { tools: chatTools, tool_choice: { type: 'function', function: { name: 'other' } } },
    choice({ tool_calls: [{ function: { name: 'other', arguments: '{}' } }] }),
  ],
  [
    'chat',
    'a tool whose result has been reported is called again on the next turn',
    {
      model: 'sandbox-tool',
      tools: chatTools,
      messages: [
        ...messages,
        {
          role: 'assistant',
          tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'other', arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: 'call_1', content: 'rain' },
        { role: 'assistant', content: 'It reported: rain' },
        { role: 'user', content: 'again' },
      ],
    },
    choice({ tool_calls: [{ function: { name: 'get_weather' } }] }, 'tool_calls'),
  ],
  [
    'chat',
    'a custom tool is called with text',
    { model: 'sandbox-tool', tools: [{ type: 'custom', custom: { name: 'note' } }] },
    choice({ tool_calls: [{ type: 'custom', custom: { name: 'note', input: 'sandbox' } }] }),
  ],
  [
    'chat',
    'where only JSON is asked for, it is an object',
    { response_format: { type: 'json_object' } },
    choice({ content: JSON.stringify({ reply: helloText }) }),
  ],
  [
    'chat',
    'with an effort of none it does not reason',
    { model: 'sandbox-think', reasoning_effort: 'none' },
    choice(withoutReasoning),
  ],
  [
    'chat',
    'the less common forms are accepted',
    {
      messages: [
        { role: 'developer', content: [{ type: 'text', text: 'be brief' }] },
        {
          role: 'user',
          content: [
            { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } },
            { type: 'text', text: 'what is it' },
          ],
        },
        { role: 'assistant', content: [{ type: 'refusal', refusal: 'no' }] },
        { role: 'user', content: 'so?', name: 'ann' },
      ],
      max_completion_tokens: 128_000,
      stop: null,
      stream_options: null,
      seed: 1,
      user: 'u',
      unknown_field: { a: 1 },
    },
    choice({ content: expect.stringContaining('"so?"') }),
  ],
  [
    'responses',
    'the fields of the request are repeated',
    repeated,
    { ...repeated, text: { format: { type: 'text' } }, truncation: 'disabled' },
  ],
  [
    'responses',
    'of items the last user text is answered',
    {
      input: [
        { role: 'developer', content: 'be brief' },
        { role: 'user', content: 'first' },
        { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'x' }] },
        {
          type: 'message',
          id: 'msg_1',
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text: 'x', annotations: [] }],
        },
        { role: 'user', content: [{ type: 'input_text', text: 'second' }] },
      ],
    },
    { output: [{ content: [{ text: expect.stringContaining('"second"') }] }] },
  ],
  [
    'responses',
    'a tool of a namespace is called by both names',
    {
      model: 'sandbox-tool',
      tools: [
        { type: 'namespace', name: 'agents', tools: [{ type: 'function', name: 'start', strict: null }] },
      ],
    },
    { output: [{ type: 'function_call', name: 'start', namespace: 'agents' }] },
  ],
])('%s: %s', async (dialect, _what, more, answer) => {
  const { status, text } = await ask[dialect](more);

  expect(status).toBe(200);
  expect(JSON.parse(text)).toMatchObject(answer);
});

function choice(message: object, finish: unknown = expect.anything()): object {
  return { choices: [{ message, finish_reason: finish }] };
}

test.each<[Dialect, more: object, status: number, place: string]>([
  ['messages', { messages: 5 }, 400, 'messages'],
  ['chat', { messages: [{ role: 'human', content: 'x' }] }, 400, 'messages[0].role'],
  ['chat', { n: 0 }, 400, 'n'],
  ['chat', { tool_choice: 'required' }, 400, 'tool_choice'],
  ['chat', { model: 'sandbox-error-399' }, 404, 'model'],
  ['chat', { model: 'sandbox-error-600' }, 404, 'model'],
  ['responses', { input: 5 }, 400, 'input'],
  // Nothing is kept from one request to the next.
  ['responses', { previous_response_id: 'x' }, 400, 'previous_response_id'],
  ['responses', { conversation: 'x' }, 400, 'conversation'],
  ['responses', { background: 'x' }, 400, 'background'],
])(
  '%s: what can not be read or is not there is refused with its place: %j',
  async (dialect, more, status, place) => {
    const answer = await ask[dialect](more);

    expect([answer.status, JSON.parse(answer.text).error.param]).toEqual([status, place]);
  },
);
