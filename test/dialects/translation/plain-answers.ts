import type { TextDialectName } from '../../../src/dialects/registry.ts';

/** What a model says in an answer. */
interface Said {
  readonly text?: string;
  readonly thinking?: string;
  /** The arguments of its calls. */
  readonly calls?: readonly object[];
  readonly refusal?: string;
  /** That it had more to say than it might. */
  readonly isCut?: true;
}

export const text = 'Grüße aus dem 🌿-Haus';
const koeln = { city: 'Köln 🏰', days: 3 };
const bonn = { city: 'Bonn' };
const answers = {
  text: { text },
  'one tool': { calls: [koeln] },
  'two tools': { calls: [koeln, bonn] },
  thinking: { text, thinking: 'The user asks about plants…' },
  length: { text, isCut: true },
  refusal: { refusal: 'No.' },
} satisfies Record<string, Said>;

/** What there is, as a list. */
const some = (value: string | undefined, make: (value: string) => object) =>
  value === undefined ? [] : [make(value)];

function chat({ text, thinking, calls, refusal, isCut }: Said) {
  const called = calls?.map((input, at) => ({
    id: `call_${at}`,
    type: 'function',
    function: { name: 'get_weather', arguments: JSON.stringify(input) },
  }));
  const content = { content: text ?? null, reasoning_content: thinking, tool_calls: called, refusal };
  // Some hosts say "stop" although they call a tool.
  const finish = isCut ? 'length' : calls?.length === 2 ? 'tool_calls' : 'stop';
  return {
    id: 'chatcmpl-B9x',
    object: 'chat.completion',
    created: 1_763_000_001,
    model: 'host-model',
    choices: [
      { index: 0, message: { role: 'assistant', ...content }, logprobs: null, finish_reason: finish },
    ],
    usage: {
      prompt_tokens: 120,
      completion_tokens: 25,
      total_tokens: 145,
      prompt_tokens_details: { cached_tokens: 40, cache_write_tokens: 10 },
      completion_tokens_details: { reasoning_tokens: 0 },
    },
  };
}

function messages({ text, thinking, calls = [], refusal, isCut }: Said) {
  const finish = calls.length > 0 ? 'tool_use' : refusal === undefined ? 'end_turn' : 'refusal';
  return {
    id: 'msg_01X',
    type: 'message',
    role: 'assistant',
    model: 'claude-host',
    content: [
      ...some(thinking, (thought) => ({ type: 'thinking', thinking: thought, signature: 'EqQB' })),
      ...some(text ?? refusal, (said) => ({ type: 'text', text: said })),
      ...calls.map((input, at) => ({ type: 'tool_use', id: `toolu_${at}`, name: 'get_weather', input })),
    ],
    stop_reason: isCut ? 'max_tokens' : finish,
    stop_sequence: null,
    usage: {
      input_tokens: 70,
      cache_creation_input_tokens: 10,
      cache_read_input_tokens: 40,
      output_tokens: 25,
    },
  };
}

function responses({ text, thinking, calls = [], refusal, isCut }: Said) {
  const message = (part: object) => ({ id: 'msg_1', type: 'message', role: 'assistant', content: [part] });
  return {
    id: 'resp_01',
    object: 'response',
    created_at: 1_763_000_001,
    status: isCut ? 'incomplete' : 'completed',
    error: null,
    incomplete_details: isCut ? { reason: 'max_output_tokens' } : null,
    model: 'gpt-host',
    output: [
      ...some(thinking, (thought) => ({
        id: 'rs_1',
        type: 'reasoning',
        summary: [{ type: 'summary_text', text: thought }],
      })),
      ...some(text, (said) => message({ type: 'output_text', text: said, annotations: [], logprobs: [] })),
      ...some(refusal, (said) => message({ type: 'refusal', refusal: said })),
      ...calls.map((input, at) => ({
        ...{ id: `fc_${at}`, type: 'function_call', status: 'completed', call_id: `call_${at}` },
        ...{ name: 'get_weather', arguments: JSON.stringify(input) },
      })),
    ],
    usage: {
      input_tokens: 120,
      input_tokens_details: { cached_tokens: 40, cache_write_tokens: 10 },
      output_tokens: 25,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 145,
    },
  };
}

function gemini({ text, thinking, calls = [], refusal, isCut }: Said) {
  const signature = thinking === undefined ? {} : { thoughtSignature: 'EqQB' };
  const parts = [
    ...some(thinking, (thought) => ({ text: thought, thought: true })),
    ...some(text ?? refusal, (said) => ({ text: said, ...signature })),
    ...calls.map((args) => ({ functionCall: { name: 'get_weather', args } })),
  ];
  const finishReason = isCut ? 'MAX_TOKENS' : refusal === undefined ? 'STOP' : 'SAFETY';
  return {
    candidates: [{ content: { parts, role: 'model' }, finishReason, index: 0, avgLogprobs: -0.1 }],
    usageMetadata: {
      promptTokenCount: 120,
      cachedContentTokenCount: 40,
      candidatesTokenCount: 25,
      totalTokenCount: 145,
    },
    modelVersion: 'gemini-host',
    responseId: 'Zk1XaY',
  };
}

function written(write: (said: Said) => object) {
  const all = Object.entries(answers).map(([name, said]) => [name, write(said)]);
  return Object.fromEntries(all) as Readonly<Record<keyof typeof answers, object>>;
}

/** The same answers as each provider writes them whole. */
export const plainAnswers = {
  chat: written(chat),
  messages: written(messages),
  responses: written(responses),
  gemini: written(gemini),
} satisfies Record<TextDialectName, unknown>;
