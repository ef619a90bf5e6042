import type { TextDialectName } from '../../src/dialects/registry.ts';
import type { Random } from './random.ts';
import type { Fields } from './strict/shapes.ts';
import type { Issued, Vendor } from './strict/vendors.ts';

// Conversations of five turns between a client and scripted vendors: what a host says, and how the client of each dialect
// sends it back.

const says = ['text', 'thinking', 'call', 'parallel', 'thinking and call', 'text and call'] as const;
export type Says = (typeof says)[number];
const answers = ['text', 'picture', 'document', 'interruption', 'remark', 'none'] as const;
/** The ids of calls: as they should be, those of the turn before again, one for all calls of a turn, none. */
const ids = ['fresh', 'again', 'same', 'empty'] as const;
type Answers = (typeof answers)[number];
type Ids = (typeof ids)[number];

const pixel =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const pdf = Buffer.from('%PDF-1.4\n1 0 obj\n<</Type /Page>>\nendobj\n').toString('base64');
const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
const names = ['get_weather', 'list_plants'];

interface Call {
  readonly id: string;
  readonly name: string;
}

const callCounts: Readonly<Record<Says, number>> = {
  ...{ text: 0, thinking: 0, call: 1, parallel: 2 },
  ...{ 'thinking and call': 1, 'text and call': 1 },
};

/** A whole answer of a vendor, what it signs included. */
export function answerOf(vendor: Vendor, { says: kind, ids }: Step, turn: number, issued: Issued): Fields {
  const thought = kind.includes('thinking') || kind === 'parallel' ? `I think of turn ${turn}.` : '';
  const text = callCounts[kind] === 0 || kind.startsWith('text') ? `Said in turn ${turn}.` : '';
  const calls = names.slice(0, callCounts[kind]).map((name, i) => ({ id: idOf(vendor, ids, turn, i), name }));
  const seal = (data: string) => {
    issued.seals.add(data);
    return data;
  };
  const said = { thought, text, calls };
  if (vendor.dialect === 'chat') return chatAnswer(vendor, said, turn, seal);
  if (vendor.dialect === 'messages') return messagesAnswer(said, turn, seal);
  return vendor.dialect === 'gemini' ? geminiAnswer(said, turn, seal) : responsesAnswer(said, turn, seal);
}

/** Anthropic and OpenAI answer with ids that are theirs; of all others anything was reported. */
function idOf({ dialect }: Vendor, kind: Ids, turn: number, at: number): string {
  const isSound = dialect === 'messages' || dialect === 'responses';
  const id = { fresh: `call_${turn}_${at}`, again: `call_${at}`, same: `call_${turn}`, empty: '' };
  return id[isSound ? 'fresh' : kind];
}

interface Said {
  readonly thought: string;
  readonly text: string;
  readonly calls: readonly Call[];
}
type SealIt = (data: string) => string;

function chatAnswer(
  { reasoning }: Vendor,
  { thought, text, calls }: Said,
  turn: number,
  seal: SealIt,
): Fields {
  const isSigned = reasoning === 'signed';
  const tool_calls = calls.map(({ id, name }, i) => ({
    ...{ id, type: 'function', function: { name, arguments: '{"city":"Köln"}' } },
    ...(isSigned && i === 0 && { extra_content: { google: { thought_signature: seal(`SIG+/${turn}=`) } } }),
  }));
  const message = {
    ...{ role: 'assistant', content: text === '' ? null : text },
    ...(thought !== '' &&
      (reasoning === 'reasoning' || reasoning === 'reasoning_content') && { [reasoning]: thought }),
    ...(calls.length > 0 && { tool_calls }),
  };
  return {
    ...{ id: `c${turn}`, object: 'chat.completion', created: 1, model: 'm' },
    choices: [{ index: 0, message, finish_reason: calls.length > 0 ? 'tool_calls' : 'stop' }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  };
}

function messagesAnswer({ thought, text, calls }: Said, turn: number, seal: SealIt): Fields {
  const signature = `SIG+/${turn}=`;
  if (thought !== '') seal(`${thought}\n${signature}`);
  return {
    ...{ id: `m${turn}`, type: 'message', role: 'assistant', model: 'm' },
    content: [
      ...(thought === '' ? [] : [{ type: 'thinking', thinking: thought, signature }]),
      ...(thought === '' ? [] : [{ type: 'redacted_thinking', data: seal(`HIDDEN+/${turn}=`) }]),
      ...(text === '' ? [] : [{ type: 'text', text }]),
      ...calls.map((call) => ({ type: 'tool_use', ...call, input: { city: 'Köln' } })),
    ],
    ...{ stop_reason: calls.length > 0 ? 'tool_use' : 'end_turn', stop_sequence: null },
    usage: { input_tokens: 1, output_tokens: 1 },
  };
}

function geminiAnswer({ thought, text, calls }: Said, turn: number, seal: SealIt): Fields {
  const parts = [
    ...(thought === '' ? [] : [{ text: thought, thought: true }]),
    ...(text === '' ? [] : [{ text }]),
    ...calls.map(({ name, id }, i) => ({
      functionCall: { id, name, args: { city: 'Köln' } },
      ...(i === 0 && { thoughtSignature: seal(`SIG+/${turn}=`) }),
    })),
  ];
  return {
    candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', index: 0 }],
    usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
  };
}

function responsesAnswer({ thought, text, calls }: Said, turn: number, seal: SealIt): Fields {
  const reasoning = {
    ...{ type: 'reasoning', id: `rs_${turn}`, summary: [{ type: 'summary_text', text: thought }] },
    encrypted_content: `ENC+/${turn}=`,
  };
  if (thought !== '') seal(reasoning.encrypted_content);
  return {
    ...{ id: `r${turn}`, object: 'response', created_at: 1, model: 'm', status: 'completed' },
    output: [
      ...(thought === '' ? [] : [reasoning]),
      ...(text === ''
        ? []
        : [
            {
              type: 'message',
              id: `msg_${turn}`,
              role: 'assistant',
              status: 'completed',
              content: [{ type: 'output_text', text, annotations: [] }],
            },
          ]),
      ...calls.map(({ id, name }) => ({
        type: 'function_call',
        id: `fc_${id}`,
        call_id: id,
        name,
        arguments: '{"city":"Köln"}',
        status: 'completed',
      })),
    ],
    usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
  };
}

/** How a client of a dialect keeps its conversation. */
interface Client {
  readonly field: string;
  readonly start: Fields;
  user(text: string): Fields;
  /** What it sends back of an answer: all, as agents do. */
  replay(answer: Fields): readonly Fields[];
  callsOf(answer: Fields): readonly Call[];
  results(calls: readonly Call[], answers: Answers): readonly Fields[];
}

// biome-ignore lint/suspicious/noExplicitAny: answers as clients read them
type Read = any;

const resultText = 'sunny, 21 °C';

export const clients: Readonly<Record<TextDialectName, Client>> = {
  messages: {
    field: 'messages',
    start: {
      ...{ model: 'asked-for', max_tokens: 8_000, system: 'You are an agent.' },
      thinking: { type: 'adaptive' },
      tools: names.map((name) => ({ name, description: 'x', input_schema: schema })),
    },
    user: (text) => ({ role: 'user', content: text }),
    replay: ({ content }) => [{ role: 'assistant', content }],
    callsOf: ({ content }: Read) => content.filter(({ type }: Read) => type === 'tool_use'),
    results: (calls, kind) => {
      if (kind === 'none') return [{ role: 'user', content: 'Never mind.' }];
      const source = (media_type: string, data: string) => ({ type: 'base64', media_type, data });
      const content: Fields[] = [{ type: 'text', text: resultText }];
      if (kind === 'picture') content.push({ type: 'image', source: source('image/png', pixel) });
      if (kind === 'document') content.push({ type: 'document', source: source('application/pdf', pdf) });
      const interrupted = { content: 'Interrupted by the user', is_error: true };
      const results = calls.map(({ id }) => ({
        ...{ type: 'tool_result', tool_use_id: id, content },
        ...(kind === 'interruption' && interrupted),
      }));
      const more =
        kind === 'interruption' || kind === 'remark' ? [{ type: 'text', text: 'Go on, please.' }] : [];
      return [{ role: 'user', content: [...results, ...more] }];
    },
  },
  chat: {
    field: 'messages',
    start: {
      ...{ model: 'asked-for', max_completion_tokens: 8_000, reasoning_effort: 'high' },
      tools: names.map((name) => ({
        type: 'function',
        function: { name, description: 'x', parameters: schema },
      })),
    },
    user: (content) => ({ role: 'user', content }),
    replay: ({ choices: [{ message }] }: Read) => [message],
    callsOf: ({ choices: [{ message }] }: Read) =>
      (message.tool_calls ?? []).map((call: Read) => ({ id: call.id, name: call.function.name })),
    results: (calls, kind) => {
      if (kind === 'none') return [{ role: 'user', content: 'Never mind.' }];
      const results = calls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: resultText }));
      const url = `data:image/png;base64,${pixel}`;
      const file = { filename: 'a.pdf', file_data: `data:application/pdf;base64,${pdf}` };
      if (kind === 'picture')
        return [...results, { role: 'user', content: [{ type: 'image_url', image_url: { url } }] }];
      if (kind === 'document') return [...results, { role: 'user', content: [{ type: 'file', file }] }];
      if (kind === 'remark') return [...results, { role: 'developer', content: 'Be brief.' }];
      return kind === 'text' ? results : [...results, { role: 'user', content: 'Go on, please.' }];
    },
  },
  responses: {
    field: 'input',
    start: {
      ...{
        model: 'asked-for',
        instructions: 'You are an agent.',
        reasoning: { effort: 'high' },
        store: false,
      },
      include: ['reasoning.encrypted_content'],
      tools: names.map((name) => ({
        type: 'function',
        name,
        description: 'x',
        parameters: schema,
        strict: false,
      })),
    },
    user: (text) => ({ type: 'message', role: 'user', content: [{ type: 'input_text', text }] }),
    replay: ({ output }: Read) => output,
    callsOf: ({ output }: Read) =>
      output.flatMap(({ type, call_id, name }: Read) =>
        type === 'function_call' ? [{ id: call_id, name }] : [],
      ),
    results: (calls, kind) => {
      const user = (role: string, text: string) => ({
        type: 'message',
        role,
        content: [{ type: 'input_text', text }],
      });
      if (kind === 'none') return [user('user', 'Never mind.')];
      const picture = { type: 'input_image', image_url: `data:image/png;base64,${pixel}`, detail: 'auto' };
      const file = { type: 'input_file', filename: 'a.pdf', file_data: `data:application/pdf;base64,${pdf}` };
      const text = { type: 'input_text', text: resultText };
      const output = kind === 'picture' ? [text, picture] : kind === 'document' ? [text, file] : resultText;
      const results = calls.map(({ id }) => ({ type: 'function_call_output', call_id: id, output }));
      if (kind === 'remark') return [...results, user('developer', 'Be brief.')];
      return kind === 'interruption' ? [...results, user('user', 'Go on, please.')] : results;
    },
  },
  gemini: {
    field: 'contents',
    start: {
      systemInstruction: { parts: [{ text: 'You are an agent.' }] },
      generationConfig: {
        maxOutputTokens: 8_000,
        thinkingConfig: { includeThoughts: true, thinkingBudget: 2_000 },
      },
      tools: [
        {
          functionDeclarations: names.map((name) => ({
            name,
            description: 'x',
            parametersJsonSchema: schema,
          })),
        },
      ],
    },
    user: (text) => ({ role: 'user', parts: [{ text }] }),
    replay: ({ candidates: [{ content }] }: Read) => [content],
    callsOf: ({ candidates: [{ content }] }: Read) =>
      content.parts.flatMap(({ functionCall: call }: Read) =>
        call === undefined ? [] : [{ id: call.id, name: call.name }],
      ),
    results: (calls, kind) => {
      if (kind === 'none') return [{ role: 'user', parts: [{ text: 'Never mind.' }] }];
      const results = calls.map((call) => ({
        functionResponse: { ...call, response: { output: resultText } },
      }));
      const data = (mimeType: string, text: string) => ({ inlineData: { mimeType, data: text } });
      const more: Readonly<Record<Exclude<Answers, 'none'>, readonly Fields[]>> = {
        ...{ text: [], picture: [data('image/png', pixel)], document: [data('application/pdf', pdf)] },
        ...{ interruption: [{ text: 'Go on, please.' }], remark: [{ text: 'Go on, please.' }] },
      };
      return [{ role: 'user', parts: [...results, ...more[kind]] }];
    },
  },
};

interface Step {
  readonly says: Says;
  readonly answers: Answers;
  readonly ids: Ids;
  readonly isCompacted: boolean;
}

export interface Plan {
  readonly turns: readonly Step[];
  /** The turns that go to the other vendor. */
  readonly elsewhere: ReadonlySet<number>;
}

export function randomPlan(random: Random): Plan {
  const turn = () => ({
    says: random.of(says),
    answers: random.of(answers),
    ids: random.of(ids),
    isCompacted: random.below(6) === 0,
  });
  const elsewhere = new Set([1 + random.below(4), ...(random.below(2) === 0 ? [1 + random.below(4)] : [])]);
  return { turns: Array.from({ length: 5 }, turn), elsewhere };
}
