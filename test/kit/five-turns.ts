import type { TextDialectName } from '../../src/dialects/registry.ts';
import type { Random } from './random.ts';
import type { Fields } from './strict/shapes.ts';
import { type Issued, orderOf, type Vendor } from './strict/vendors.ts';

// Conversations of five turns between a client and scripted vendors: what a host says, and how the client of each dialect
// sends it back.

const says = [
  ...['text', 'thinking', 'call', 'parallel', 'thinking and call', 'text and call'],
  'interleaved',
] as const;
export type Says = (typeof says)[number];
const answers = [
  ...['text', 'picture', 'GIF', 'HEIC', 'image/jpg', 'picture by address', 'document'],
  ...['interruption', 'remark', 'none'],
] as const;
/** The ids of calls: as they should be, those of the turn before again, one for all calls of a turn, none. */
const ids = ['fresh', 'again', 'same', 'empty'] as const;
/** How a host of Chat streams its calls, besides as it should. */
const callForms = [
  ...['usual', 'index from 1', 'index 0 for all', 'no index', 'far indexes'],
  ...['null arguments', 'leading {}', 'id and name in each piece'],
] as const;
/** How a host fails, if it does, before it answers. */
const faults = [
  ...['none', 'none', 'none', 'none', 'none'],
  ...['unknown word', 'failed word', 'error alone', 'error in choice', 'error in stream'],
] as const;
type Answers = (typeof answers)[number];
type Ids = (typeof ids)[number];
export type CallForm = (typeof callForms)[number];
export type Fault = (typeof faults)[number];

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
  ...{ 'thinking and call': 1, 'text and call': 1, interleaved: 2 },
};

/** A whole answer of a vendor, what it signs included. */
export function answerOf(
  vendor: Vendor,
  { says: kind, ids }: Pick<Step, 'says' | 'ids'>,
  turn: number,
  issued: Issued,
): Fields {
  const thought =
    kind.includes('thinking') || kind === 'parallel' || kind === 'interleaved'
      ? `I think of turn ${turn}.`
      : '';
  const text = callCounts[kind] === 0 || kind.startsWith('text') ? `Said in turn ${turn}.` : '';
  const calls = names.slice(0, callCounts[kind]).map((name, i) => ({ id: idOf(vendor, ids, turn, i), name }));
  const seal = (data: string) => {
    issued.seals.add(data);
    return data;
  };
  if (isOwnId(vendor)) for (const { id } of calls) issued.calls.add(id);
  const said = { thought, text, calls, isInterleaved: kind === 'interleaved' };
  if (vendor.dialect === 'chat') return chatAnswer(vendor, said, turn, seal);
  if (vendor.dialect === 'messages') {
    const answer = messagesAnswer(said, turn, seal);
    issued.turns.add(orderOf(answer.content as readonly Fields[]));
    return answer;
  }
  return vendor.dialect === 'gemini' ? geminiAnswer(said, turn, seal) : responsesAnswer(said, turn, seal);
}

/** Anthropic and OpenAI answer with ids that are theirs; of all others anything was reported. */
function isOwnId({ dialect, reasoning }: Vendor): boolean {
  return dialect === 'messages' || dialect === 'responses' || reasoning === 'details';
}

function idOf(vendor: Vendor, kind: Ids, turn: number, at: number): string {
  const own = `${vendor.dialect}_${vendor.reasoning}_${turn}_${at}`;
  const id = { fresh: `call_${turn}_${at}`, again: `call_${at}`, same: `call_${turn}`, empty: '' };
  return isOwnId(vendor) ? own : id[kind];
}

interface Said {
  readonly thought: string;
  readonly text: string;
  readonly calls: readonly Call[];
  /** Whether the model thinks before each call, where the dialect can say that. */
  readonly isInterleaved: boolean;
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
  const isPart = reasoning === 'thinking_part' && thought !== '';
  const parts = [
    { type: 'thinking', thinking: [{ type: 'text', text: thought }] },
    ...(text === '' ? [] : [{ type: 'text', text }]),
  ];
  const message = {
    ...{ role: 'assistant', content: isPart ? parts : text === '' ? null : text },
    ...(thought !== '' &&
      (reasoning === 'reasoning' || reasoning === 'reasoning_content') && { [reasoning]: thought }),
    ...(reasoning === 'details' && detailsOf(thought, calls, `SIG+/${turn}=`, seal)),
    ...(calls.length > 0 && { tool_calls }),
  };
  return {
    ...{ id: `c${turn}`, object: 'chat.completion', created: 1, model: 'm' },
    choices: [{ index: 0, message, finish_reason: calls.length > 0 ? 'tool_calls' : 'stop' }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  };
}

/** As OpenRouter has a model's thought, and what Google has signed of its calls. */
function detailsOf(thought: string, calls: readonly Call[], data: string, seal: SealIt): Fields {
  const format = { format: 'google-gemini-v1', index: 0 };
  const details = [
    ...(thought === '' ? [] : [{ type: 'reasoning.text', text: thought, ...format }]),
    ...calls.slice(0, 1).map(({ id }) => ({ type: 'reasoning.encrypted', data: seal(data), id, ...format })),
  ];
  return { reasoning: thought === '' ? null : thought, reasoning_details: details };
}

function messagesAnswer({ thought, text, calls, isInterleaved }: Said, turn: number, seal: SealIt): Fields {
  const signature = `SIG+/${turn}=`;
  if (thought !== '') seal(`${thought}\n${signature}`);
  const again = (i: number) => {
    const other = { thinking: `I think again of ${i}.`, signature: `AGAIN+/${turn}=` };
    seal(`${other.thinking}\n${other.signature}`);
    return { type: 'thinking', ...other };
  };
  return {
    ...{ id: `m${turn}`, type: 'message', role: 'assistant', model: 'm' },
    content: [
      ...(thought === '' ? [] : [{ type: 'thinking', thinking: thought, signature }]),
      ...(thought === '' ? [] : [{ type: 'redacted_thinking', data: seal(`HIDDEN+/${turn}=`) }]),
      ...(text === '' ? [] : [{ type: 'text', text }]),
      ...calls.flatMap((call, i) => [
        ...(isInterleaved && i > 0 ? [again(i)] : []),
        { type: 'tool_use', ...call, input: { city: 'Köln' } },
      ]),
    ],
    ...{ stop_reason: calls.length > 0 ? 'tool_use' : 'end_turn', stop_sequence: null },
    usage: { input_tokens: 1, output_tokens: 1 },
  };
}

function geminiAnswer({ thought, text, calls, isInterleaved }: Said, turn: number, seal: SealIt): Fields {
  const parts = [
    ...(thought === '' ? [] : [{ text: thought, thought: true }]),
    ...(text === '' ? [] : [{ text }]),
    ...calls.flatMap(({ name, id }, i) => [
      ...(isInterleaved && i > 0 ? [{ text: `I think again of ${i}.`, thought: true }] : []),
      {
        functionCall: { id, name, args: { city: 'Köln' } },
        ...(i === 0 && { thoughtSignature: seal(`SIG+/${turn}=`) }),
      },
    ]),
  ];
  return {
    candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', index: 0 }],
    usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
  };
}

function responsesAnswer({ thought, text, calls, isInterleaved }: Said, turn: number, seal: SealIt): Fields {
  const reasoning = {
    ...{ type: 'reasoning', id: `rs_${turn}`, summary: [{ type: 'summary_text', text: thought }] },
    encrypted_content: `ENC+/${turn}=`,
  };
  if (thought !== '') seal(reasoning.encrypted_content);
  const again = { ...reasoning, id: `rs_${turn}_2`, encrypted_content: `AGAIN+/${turn}=` };
  if (isInterleaved) seal(again.encrypted_content);
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
      ...calls.flatMap(({ id, name }, i) => [
        ...(isInterleaved && i > 0 ? [again] : []),
        {
          type: 'function_call',
          id: `fc_${id}`,
          call_id: id,
          name,
          arguments: '{"city":"Köln"}',
          status: 'completed',
        },
      ]),
    ],
    usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
  };
}

/** Schemas of arguments as tools of agents have them, of which each vendor refuses others. */
const oddSchema = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  type: 'object',
  additionalProperties: false,
  properties: {
    mode: { type: 'string', anyOf: [{ enum: ['a', 'b'] }, { type: 'string' }] },
    name: { type: ['string', 'null'], pattern: '[a-z]+' },
    count: { type: 'integer', exclusiveMinimum: '0', maximum: '10' },
    kind: { const: 'plant' },
    tags: { type: 'array' },
    notes: { type: ['array', 'null'] },
    tree: { $ref: '#/$defs/node' },
  },
  required: ['mode'],
  $defs: { node: { type: 'object', properties: { next: { $ref: '#/$defs/node' } } } },
};
const unionSchema = {
  type: 'object',
  anyOf: [
    { properties: { city: { type: 'string' } }, required: ['city'] },
    { properties: { place: { type: 'string' } }, required: ['place'] },
  ],
};
const oddTools: readonly (readonly [name: string, parameters: Fields])[] = [
  ['get_weather', oddSchema],
  ['list_plants', unionSchema],
  ['2fa.code', schema],
];

/** Other gateways put signatures into ids (BerriAI/litellm#16895). */
const longId = `call_${'x'.repeat(100)}`;
const cutArguments = '{"city": "Kö';

function chatCall(id: string, input: string): readonly Fields[] {
  const call = { id, type: 'function', function: { name: 'get_weather', arguments: input } };
  return [
    { role: 'assistant', content: null, tool_calls: [call] },
    { role: 'tool', tool_call_id: id, content: 'done' },
  ];
}

function responsesCall(id: string, input: string): readonly Fields[] {
  return [
    { type: 'function_call', call_id: id, name: 'get_weather', arguments: input },
    { type: 'function_call_output', call_id: id, output: 'done' },
  ];
}

/** A message of Claude Code's with one block. */
function messageOf(block: Fields): Fields {
  const { type } = block;
  const role =
    type === 'tool_result'
      ? 'user'
      : String(type).startsWith('tool_') && type !== 'tool_use'
        ? 'system'
        : 'assistant';
  return {
    role,
    content: role === 'assistant' && type !== 'tool_use' ? [block, { type: 'text', text: 'so' }] : [block],
  };
}

/** How a client of a dialect keeps its conversation. */
export interface Client {
  readonly field: string;
  readonly start: Fields;
  user(text: string): Fields;
  /** A message of the assistant. */
  assistant(text: string): Fields;
  /** What it sends back of an answer: all, as agents do. */
  replay(answer: Fields): readonly Fields[];
  callsOf(answer: Fields): readonly Call[];
  /** What a request may have besides: options, tools, choices. */
  readonly options: Readonly<Record<string, (start: Fields) => Fields>>;
  /** What else may stand in its history, before a user's turn. */
  readonly extras: Readonly<Record<string, readonly Fields[]>>;
  results(calls: readonly Call[], answers: Answers): readonly Fields[];
}

// biome-ignore lint/suspicious/noExplicitAny: answers as clients read them
type Read = any;

const resultText = 'sunny, 21 °C';

/** The address or the media type and content of a picture. */
const pictures: Readonly<Partial<Record<Answers, readonly [type: string, data: string]>>> = {
  ...{
    picture: ['image/png', pixel],
    GIF: ['image/gif', 'R0lGODlhAQABAAAAACw='],
    HEIC: ['image/heic', 'AAAA'],
  },
  ...{ 'image/jpg': ['image/jpg', '/9j/4AAQ'], 'picture by address': ['', 'https://example.com/a.png'] },
};

/** A picture as one URL. */
function urlOf([type, data]: readonly [type: string, data: string]): string {
  return type === '' ? data : `data:${type};base64,${data}`;
}

export const clients: Readonly<Record<TextDialectName, Client>> = {
  messages: {
    field: 'messages',
    start: {
      ...{ model: 'asked-for', max_tokens: 8_000, system: 'You are an agent.' },
      thinking: { type: 'adaptive' },
      tools: names.map((name) => ({ name, description: 'x', input_schema: schema })),
    },
    user: (text) => ({ role: 'user', content: text }),
    assistant: (content) => ({ role: 'assistant', content }),
    replay: ({ content }) => [{ role: 'assistant', content }],
    callsOf: ({ content }: Read) => content.filter(({ type }: Read) => type === 'tool_use'),
    options: {
      usual: (start) => start,
      'without tools': ({ tools: _, ...start }) => start,
      'a forced call': ({ thinking: _, ...start }) => ({ ...start, tool_choice: { type: 'any' } }),
      'a forced tool': ({ thinking: _, ...start }) => ({
        ...start,
        tool_choice: { type: 'tool', name: 'get_weather' },
      }),
      'no call': (start) => ({ ...start, tool_choice: { type: 'none' } }),
      'one call at a time': (start) => ({
        ...start,
        tool_choice: { type: 'auto', disable_parallel_tool_use: true },
      }),
      sampling: ({ thinking: _, ...start }) => ({ ...start, temperature: 0.3, top_p: 0.9 }),
      'least effort': (start) => ({ ...start, output_config: { effort: 'low' } }),
      'most effort': (start) => ({ ...start, output_config: { effort: 'max' } }),
      'no thinking': (start) => ({ ...start, thinking: { type: 'disabled' } }),
      'a user': (start) => ({ ...start, metadata: { user_id: 'user_1_account_2' } }),
      'odd schemas': (start) => ({
        ...start,
        tools: oddTools.map(([name, input_schema]) => ({ name, description: 'x', input_schema })),
      }),
      'web search beside tools': (start) => ({
        ...start,
        tools: [{ type: 'web_search_20250305', name: 'web_search' }, ...(start.tools as Fields[])],
      }),
      'web search alone': (start) => ({
        ...start,
        tools: [{ type: 'web_search_20250305', name: 'web_search' }],
      }),
      'deferred tools': (start) => ({
        ...start,
        tools: [
          { name: 'ToolSearch', input_schema: { type: 'object' } },
          ...(start.tools as Fields[]).map((tool) => ({ ...tool, defer_loading: true })),
          { name: 'DeferredToolPlaceholder', input_schema: { type: 'object' }, defer_loading: true },
        ],
      }),
      'a schema for the answer': (start) => ({
        ...start,
        output_config: { format: { type: 'json_schema', schema: oddSchema } },
      }),
      'stop sequences': (start) => ({ ...start, stop_sequences: ['END', 'STOP', 'HALT', 'OVER', 'DONE'] }),
    },
    extras: Object.fromEntries(
      Object.entries({
        'a tool search': [
          { type: 'tool_use', id: 'search_1', name: 'ToolSearch', input: {} },
          {
            type: 'tool_result',
            tool_use_id: 'search_1',
            content: [{ type: 'tool_reference', tool_name: 'get_weather' }],
          },
        ],
        fallback: [{ type: 'fallback', from: { model: 'a' }, to: { model: 'b' } }],
        compaction: [{ type: 'compaction', content: 'We planted ferns.' }],
        'a call of an MCP server': [
          { type: 'mcp_tool_use', id: 'mcp_1', name: 'x', server_name: 's', input: {} },
          {
            type: 'mcp_tool_result',
            tool_use_id: 'mcp_1',
            is_error: false,
            content: [{ type: 'text', text: 'y' }],
          },
        ],
        'a search of the web': [
          { type: 'server_tool_use', id: 'srv_1', name: 'web_search', input: { query: 'x' } },
          { type: 'web_search_tool_result', tool_use_id: 'srv_1', content: [] },
        ],
        'thinking of another vendor': [
          { type: 'thinking', thinking: 'secret thought', signature: 'Rk9SRUlHTg==' },
          { type: 'redacted_thinking', data: 'Rk9SRUlHTg==' },
        ],
        'a call with a long id': [
          { type: 'tool_use', id: longId, name: 'get_weather', input: {} },
          { type: 'tool_result', tool_use_id: longId, content: 'sunny' },
        ],
        'a tool added': [{ type: 'tool_addition', tool: { type: 'tool_reference', name: 'list_plants' } }],
        'a tool removed': [{ type: 'tool_removal', tool: { type: 'tool_reference', name: 'ToolSearch' } }],
      }).map(([name, blocks]) => [name, blocks.map(messageOf)]),
    ),
    results: (calls, kind) => {
      if (kind === 'none') return [{ role: 'user', content: 'Never mind.' }];
      const source = (media_type: string, data: string) => ({ type: 'base64', media_type, data });
      const content: Fields[] = [{ type: 'text', text: resultText }];
      const picture = pictures[kind];
      if (picture !== undefined)
        content.push({
          type: 'image',
          source: picture[0] === '' ? { type: 'url', url: picture[1] } : source(...picture),
        });
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
    assistant: (content) => ({ role: 'assistant', content }),
    replay: ({ choices: [{ message }] }: Read) => [message],
    callsOf: ({ choices: [{ message }] }: Read) =>
      (message.tool_calls ?? []).map((call: Read) => ({ id: call.id, name: call.function.name })),
    options: {
      usual: (start) => start,
      'without tools': ({ tools: _, ...start }) => start,
      'a forced call': (start) => ({ ...start, tool_choice: 'required' }),
      'a forced tool': (start) => ({
        ...start,
        tool_choice: { type: 'function', function: { name: 'get_weather' } },
      }),
      'no call': (start) => ({ ...start, tool_choice: 'none' }),
      'one call at a time': (start) => ({ ...start, parallel_tool_calls: false }),
      sampling: (start) => ({ ...start, temperature: 0.3, top_p: 0.9 }),
      'least effort': (start) => ({ ...start, reasoning_effort: 'minimal' }),
      'most effort': (start) => ({ ...start, reasoning_effort: 'xhigh' }),
      'no thinking': (start) => ({ ...start, reasoning_effort: 'none' }),
      'a user': (start) => ({ ...start, user: 'user_1', service_tier: 'flex', prompt_cache_key: 'k' }),
      'odd schemas': (start) => ({
        ...start,
        tools: oddTools.map(([name, parameters]) => ({
          type: 'function',
          function: { name: name.replace('.', '_'), parameters },
        })),
      }),
      'no room given': ({ max_completion_tokens: _, ...start }) => start,
      'a schema for the answer': (start) => ({
        ...start,
        response_format: { type: 'json_schema', json_schema: { name: 'x', strict: true, schema } },
      }),
      'any JSON': ({ tools: _, ...start }) => ({ ...start, response_format: { type: 'json_object' } }),
      'any JSON beside tools': (start) => ({ ...start, response_format: { type: 'json_object' } }),
      'stop sequences': (start) => ({ ...start, stop: ['END', 'STOP'] }),
    },
    extras: {
      'a call with a long id': chatCall(longId, '{}'),
      'a call whose arguments were cut': chatCall('cut_1', cutArguments),
      'a refusal': [{ role: 'assistant', content: null, refusal: 'No.' }],
      'reasoning of another vendor': [
        {
          ...{ role: 'assistant', content: 'so', reasoning_content: 'plain thought' },
          reasoning_details: [{ type: 'reasoning.encrypted', data: 'Rk9SRUlHTg==' }],
        },
      ],
      'a later system message': [{ role: 'system', content: 'Answer briefly.' }],
      'parts of text': [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'a' },
            { type: 'text', text: 'b' },
          ],
        },
      ],
    },
    results: (calls, kind) => {
      if (kind === 'none') return [{ role: 'user', content: 'Never mind.' }];
      const results = calls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: resultText }));
      const picture = pictures[kind];
      const file = { filename: 'a.pdf', file_data: `data:application/pdf;base64,${pdf}` };
      if (picture !== undefined) {
        const url = urlOf(picture);
        return [...results, { role: 'user', content: [{ type: 'image_url', image_url: { url } }] }];
      }
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
    assistant: (text) => ({ type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] }),
    replay: ({ output }: Read) => output,
    callsOf: ({ output }: Read) =>
      output.flatMap(({ type, call_id, name }: Read) =>
        type === 'function_call' ? [{ id: call_id, name }] : [],
      ),
    options: {
      usual: (start) => start,
      'without tools': ({ tools: _, ...start }) => start,
      'a forced call': (start) => ({ ...start, tool_choice: 'required' }),
      'a forced tool': (start) => ({ ...start, tool_choice: { type: 'function', name: 'get_weather' } }),
      'no call': (start) => ({ ...start, tool_choice: 'none' }),
      'one call at a time': (start) => ({ ...start, parallel_tool_calls: false }),
      sampling: (start) => ({ ...start, temperature: 0.3, top_p: 0.9 }),
      'least effort': (start) => ({ ...start, reasoning: { effort: 'minimal' } }),
      'most effort': (start) => ({ ...start, reasoning: { effort: 'xhigh', summary: 'auto' } }),
      'no thinking': (start) => ({ ...start, reasoning: { effort: 'none' } }),
      'a user': (start) => ({ ...start, user: 'user_1', service_tier: 'flex', prompt_cache_key: 'k' }),
      'odd schemas': (start) => ({
        ...start,
        tools: oddTools.map(([name, parameters]) => ({
          ...{ type: 'function', name: name.replace('.', '_'), parameters, strict: false },
        })),
      }),
      'a tool of free text': (start) => ({
        ...start,
        tools: [...(start.tools as Fields[]), { type: 'custom', name: 'apply_patch', description: 'x' }],
      }),
      'web search beside tools': (start) => ({
        ...start,
        tools: [...(start.tools as Fields[]), { type: 'web_search' }],
      }),
      'web search alone': (start) => ({ ...start, tools: [{ type: 'web_search' }] }),
      'a namespace': (start) => ({
        ...start,
        tools: [{ type: 'namespace', name: 'mcp', tools: start.tools }, ...(start.tools as Fields[])],
      }),
      'a schema for the answer': (start) => ({
        ...start,
        text: { format: { type: 'json_schema', name: 'x', strict: true, schema }, verbosity: 'low' },
      }),
      'any JSON': ({ tools: _, ...start }) => ({ ...start, text: { format: { type: 'json_object' } } }),
    },
    extras: {
      'reasoning of another vendor': [
        { type: 'reasoning', id: 'rs_x', summary: [], encrypted_content: 'Rk9SRUlHTg==' },
      ],
      'a search of the web': [
        { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'x' } },
      ],
      'a call with a long id': responsesCall(longId, '{}'),
      'a call whose arguments were cut': responsesCall('cut_1', cutArguments),
      'a patch': [
        { type: 'custom_tool_call', call_id: 'patch_1', name: 'apply_patch', input: '*** Begin' },
        { type: 'custom_tool_call_output', call_id: 'patch_1', output: 'done' },
      ],
      'a tool search': [
        {
          type: 'tool_search_call',
          call_id: 'ts_1',
          execution: 'client',
          arguments: { query: 'x' },
          status: 'completed',
        },
        {
          type: 'tool_search_output',
          call_id: 'ts_1',
          execution: 'client',
          status: 'completed',
          tools: [{ type: 'function', name: 'found_tool', parameters: schema, strict: false }],
        },
      ],
      'a later system message': [
        { type: 'message', role: 'system', content: [{ type: 'input_text', text: 'Answer briefly.' }] },
      ],
    },
    results: (calls, kind) => {
      const user = (role: string, text: string) => ({
        type: 'message',
        role,
        content: [{ type: 'input_text', text }],
      });
      if (kind === 'none') return [user('user', 'Never mind.')];
      const shown = pictures[kind];
      const picture = shown && { type: 'input_image', image_url: urlOf(shown), detail: 'auto' };
      const file = { type: 'input_file', filename: 'a.pdf', file_data: `data:application/pdf;base64,${pdf}` };
      const text = { type: 'input_text', text: resultText };
      const output = picture ? [text, picture] : kind === 'document' ? [text, file] : resultText;
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
    assistant: (text) => ({ role: 'model', parts: [{ text }] }),
    replay: ({ candidates: [{ content }] }: Read) => [content],
    callsOf: ({ candidates: [{ content }] }: Read) =>
      content.parts.flatMap(({ functionCall: call }: Read) =>
        call === undefined ? [] : [{ id: call.id, name: call.name }],
      ),
    options: {
      usual: (start) => start,
      'without tools': ({ tools: _, ...start }) => start,
      'a forced call': (start) => ({ ...start, toolConfig: { functionCallingConfig: { mode: 'ANY' } } }),
      'a forced tool': (start) => ({
        ...start,
        toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['get_weather'] } },
      }),
      'no call': (start) => ({ ...start, toolConfig: { functionCallingConfig: { mode: 'NONE' } } }),
      sampling: (start) => ({
        ...start,
        generationConfig: { temperature: 0.3, topP: 0.9, topK: 20, maxOutputTokens: 8_000 },
      }),
      'least effort': (start) => ({
        ...start,
        generationConfig: { thinkingConfig: { thinkingLevel: 'minimal' } },
      }),
      'most effort': (start) => ({
        ...start,
        generationConfig: { thinkingConfig: { thinkingBudget: 32_000 } },
      }),
      'no thinking': (start) => ({ ...start, generationConfig: { thinkingConfig: { thinkingBudget: 0 } } }),
      'odd schemas': (start) => ({
        ...start,
        tools: [
          {
            functionDeclarations: oddTools.map(([name, parametersJsonSchema]) => ({
              ...{ name: name.replace('2fa', 'fa'), description: 'x', parametersJsonSchema },
            })),
          },
        ],
      }),
      "Google's own schemas": (start) => ({
        ...start,
        tools: [
          {
            functionDeclarations: names.map((name) => ({
              name,
              parameters: { type: 'OBJECT', properties: { city: { type: 'STRING', nullable: true } } },
            })),
          },
        ],
      }),
      'web search beside tools': (start) => ({
        ...start,
        tools: [...(start.tools as Fields[]), { googleSearch: {} }],
      }),
      'web search alone': (start) => ({ ...start, tools: [{ googleSearch: {} }] }),
      'a schema for the answer': (start) => ({
        ...start,
        generationConfig: { responseMimeType: 'application/json', responseJsonSchema: schema },
      }),
      'any JSON': ({ tools: _, ...start }) => ({
        ...start,
        generationConfig: { responseMimeType: 'application/json' },
      }),
    },
    extras: {
      'a thought of another vendor': [
        {
          role: 'model',
          parts: [
            { text: 'secret thought', thought: true, thoughtSignature: 'Rk9SRUlHTg==' },
            { text: 'so' },
          ],
        },
      ],
    },
    results: (calls, kind) => {
      if (kind === 'none') return [{ role: 'user', parts: [{ text: 'Never mind.' }] }];
      const results = calls.map((call) => ({
        functionResponse: { ...call, response: { output: resultText } },
      }));
      const data = (mimeType: string, text: string) => ({ inlineData: { mimeType, data: text } });
      const picture = pictures[kind];
      if (picture !== undefined) {
        const [type, text] = picture;
        const part = type === '' ? { fileData: { mimeType: 'image/png', fileUri: text } } : data(type, text);
        return [{ role: 'user', parts: [...results, part] }];
      }
      if (kind === 'document') return [{ role: 'user', parts: [...results, data('application/pdf', pdf)] }];
      return [{ role: 'user', parts: kind === 'text' ? results : [...results, { text: 'Go on, please.' }] }];
    },
  },
};

export interface Step {
  readonly says: Says;
  readonly answers: Answers;
  readonly ids: Ids;
  readonly callForm: CallForm;
  readonly fault: Fault;
  readonly option: string;
  /** Of its client's `extras`; none of that name is none. */
  readonly extra: string;
  readonly isCompacted: boolean;
  /** Whether the request ends with the beginning of the answer. */
  readonly isBegun: boolean;
}

export interface Plan {
  readonly turns: readonly Step[];
  /** The turns that go to the other vendor. */
  readonly elsewhere: ReadonlySet<number>;
}

/** Plans that have each thing at least once. */
export function everyPlan({ options, extras }: Client): readonly Plan[] {
  const at = <T>(list: readonly T[], index: number) => list[index % list.length] as T;
  const [optionNames, extraNames] = [Object.keys(options), Object.keys(extras)];
  const steps = Math.max(optionNames.length, answers.length * 2, extraNames.length * 2);
  const turn = (i: number): Step => ({
    // Counts that share no divisor with the others, so that combinations differ.
    says: at(['thinking and call', 'parallel', 'text', 'call', 'thinking', 'text and call', 'call'], i),
    answers: at(answers, i),
    ids: 'fresh',
    callForm: 'usual',
    fault: 'none',
    option: at(optionNames, i),
    extra: i % 2 === 0 ? 'none' : at(extraNames, (i - 1) / 2),
    isCompacted: false,
    isBegun: i === 2,
  });
  return Array.from({ length: Math.ceil(steps / 5) }, (_, plan) => ({
    turns: Array.from({ length: 5 }, (_none, step) => turn(plan * 5 + step)),
    elsewhere: new Set<number>(),
  }));
}

export function randomPlan(random: Random, { options, extras }: Client): Plan {
  const turn = () => ({
    says: random.of(says),
    answers: random.of(answers),
    ids: random.of(ids),
    callForm: random.of(callForms),
    fault: random.of(faults),
    option: random.of(Object.keys(options)),
    extra: random.of(['none', 'none', ...Object.keys(extras)]),
    isCompacted: random.below(6) === 0,
    isBegun: random.below(8) === 0,
  });
  const elsewhere = new Set([1 + random.below(4), ...(random.below(2) === 0 ? [1 + random.below(4)] : [])]);
  return { turns: Array.from({ length: 5 }, turn), elsewhere };
}
