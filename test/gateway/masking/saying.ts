import type { TextDialectName as Dialect } from '../../../src/dialects/registry.ts';
import { askedOf, json, stream } from '../../kit/answers.ts';
import { textDialects } from '../../kit/dialects.ts';
import type { HostRequest, Script } from '../../kit/host.ts';
import { blockDelta, blockStart, blockStop, chatChunk } from '../../kit/stream-events.ts';

/** What a model says, whatever the dialect. */
export interface Said {
  readonly text: string;
  /** A reasoning summary. */
  readonly thinking?: string;
  /** The arguments of a call, as JSON. */
  readonly input?: string;
  /** What is called, and by which id. */
  readonly name?: string;
  readonly id?: string;
  /** Set for a tool that takes a text: its arguments are no JSON. */
  readonly isCustom?: true;
}

/** How a text comes in pieces. */
export type Cut = (text: string) => readonly string[];

const whole: Cut = (text) => [text];
export const letters: Cut = (text) => [...text];

/** How some hosts write an event otherwise. */
export type Change = (event: string) => string;
const unchanged: Change = (event) => event;

function changing(change: (data: Fields) => object): Change {
  return (event) =>
    event.replace(/^(data: )(\{[^\n]*)$/m, (_, head: string, data: string) =>
      [head, JSON.stringify(change(JSON.parse(data) as Fields))].join(''),
    );
}

/** With a reason to finish in every event that has a text, as some hosts of Chat and of Gemini send it. */
export const finishing = changing(({ choices, candidates, ...rest }) => ({
  ...rest,
  ...(choices && {
    choices: choices.map((choice) => (hasText(choice.delta) ? { ...choice, finish_reason: 'stop' } : choice)),
  }),
  ...(candidates && {
    candidates: candidates.map((each) => (hasText(each.content) ? { ...each, finishReason: 'STOP' } : each)),
  }),
}));

/** With capitals as escapes, which JSON allows for any character. */
export const escaping: Change = (event) => {
  const start = event.indexOf('{');
  const escapes = event
    .slice(start)
    .replace(/[A-Z]/g, (letter) => `\\u00${letter.charCodeAt(0).toString(16)}`);
  return event.slice(0, Math.max(0, start)) + (start < 0 ? event : escapes);
};

/** With every other piece of a chat's text in a list, as some hosts send it. */
export function listing(): Change {
  let count = 0;
  return changing(({ choices, ...rest }) => {
    count += 1;
    const inList = (delta: unknown) => {
      const { content, ...others } = delta as { content?: unknown };
      return content === undefined || count % 2 === 0
        ? delta
        : { ...others, content: [{ type: 'text', text: content }] };
    };
    return {
      ...rest,
      ...(choices && { choices: choices.map((each) => ({ ...each, delta: inList(each.delta) })) }),
    };
  });
}

/** With the numbers of answers, blocks and items written differently from event to event. */
export function numbering(): Change {
  let count = 0;
  return (event) =>
    event.replace(/"(\w*index)":(\d+)/g, (_, name: string, number: string) => {
      count += 1;
      const forms = [number, `"${number}"`, `${number}.0`, number === '0' ? 'null' : number];
      return `"${name}":${forms[count % forms.length]}`;
    });
}

/** With members of other dialects before its own, which clients pass over. */
export const withOthers = changing((data) => ({
  ...(data.choices === undefined && { choices: [] }),
  ...(data.candidates === undefined && { candidates: [] }),
  ...data,
}));

/** The same of a second answer, where a request may ask for several. */
export const ofSecond = changing(({ choices, candidates, ...rest }) => ({
  ...rest,
  ...(choices && { choices: choices.map((choice) => ({ ...choice, index: 1 })) }),
  ...(candidates && { candidates: candidates.map((each) => ({ ...each, index: 1 })) }),
}));

interface Fields {
  readonly choices?: readonly { readonly delta?: unknown }[];
  readonly candidates?: readonly { readonly content?: unknown }[];
}

function hasText(said: unknown): boolean {
  return /"(?:content|reasoning_content|arguments|text)":"[^"]/.test(JSON.stringify(said) ?? '');
}

const anyObject = { type: 'object', properties: {} };
/** A request that says a text and has a tool, without its model. */
export const bodies: Readonly<Record<Dialect, (text: string) => object>> = {
  messages: (text) => ({
    max_tokens: 64,
    messages: [{ role: 'user', content: text }],
    tools: [{ name: 'run', input_schema: anyObject }],
  }),
  chat: (text) => ({
    messages: [{ role: 'user', content: text }],
    tools: [{ type: 'function', function: { name: 'run', parameters: anyObject } }],
  }),
  responses: (text) => ({
    input: text,
    tools: [{ type: 'function', name: 'run', parameters: anyObject, strict: false }],
  }),
  gemini: (text) => ({
    contents: [{ role: 'user', parts: [{ text }] }],
    tools: [{ functionDeclarations: [{ name: 'run', parametersJsonSchema: anyObject }] }],
  }),
};

/** The last text of a request's user. */
export function lastText(body: Buffer): string {
  const { messages, input, contents } = JSON.parse(body.toString()) as {
    messages?: unknown[];
    input?: unknown;
    contents?: { parts: unknown }[];
  };
  const turns = contents?.map(({ parts }) => ({ content: parts })) ?? messages;
  const last = (turns ?? (Array.isArray(input) ? input : [{ content: input }])).at(-1) as {
    content: unknown;
  };
  if (typeof last.content === 'string') return last.content;
  return (last.content as { text?: string }[]).map(({ text = '' }) => text).join('');
}

/** A host that says what `say` makes of the last text, in the dialect in which it is asked, streamed if it is asked to. */
export function saying(say: (text: string) => Said, cut: Cut = whole, change = unchanged): Script {
  return replying((body) => say(lastText(body)), cut, change);
}

/** The same, of the whole request. */
export function replying(
  say: (body: Buffer, dialect: Dialect) => Said,
  cut: Cut = whole,
  change = unchanged,
): Script {
  return (response, request) => {
    const { dialect, isStream } = conversationOf(request);
    const said = say(request.body, dialect);
    const events = eventsOf(dialect, said, cut).map(change);
    const answer = isStream ? stream([events.join('')]) : json(change(answerOf(dialect, said)));
    return answer(response, request);
  };
}

/** What a request is for that goes on with a conversation. */
export function conversationOf(request: HostRequest) {
  const asked = askedOf(request);
  const dialect = textDialects.find((name) => name === asked.dialect);
  if (dialect === undefined) throw new Error(`${asked.dialect} has no conversations`);
  return { ...asked, dialect };
}

/** What a model says as the events of a stream, or as a whole answer. */
export function eventsOf(dialect: Dialect, said: Said, cut: Cut = whole): readonly string[] {
  return streams[dialect](said, cut);
}

export function answerOf(dialect: Dialect, said: Said): string {
  return JSON.stringify(answers[dialect](said));
}

const callOf = ({ name = 'run', id = 'call_1' }: Said) => ({ name, id });
/** What `make` makes of the arguments of a call, if there is one. */
const ifCalled = <Made>({ input }: Said, make: (input: string) => Made): readonly Made[] =>
  input === undefined ? [] : [make(input)];

const answers: Readonly<Record<Dialect, (said: Said) => object>> = {
  messages: (said) => ({
    id: `msg_${said.id}`,
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [
      { type: 'text', text: said.text },
      ...ifCalled(said, (input) => ({
        type: 'tool_use',
        ...callOf(said),
        input: JSON.parse(input) as unknown,
      })),
    ],
    stop_reason: said.input === undefined ? 'end_turn' : 'tool_use',
    stop_sequence: null,
    usage: { input_tokens: 3, output_tokens: 4 },
  }),
  chat: (said) => ({
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1_700_000_000,
    model: 'm',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: said.text,
          reasoning_content: said.thinking,
          tool_calls: said.input === undefined ? undefined : [functionCall(said, said.input)],
        },
        finish_reason: said.input === undefined ? 'stop' : 'tool_calls',
      },
    ],
    usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 },
  }),
  responses: (said) => responseOf(said, 'completed'),
  gemini: (said) =>
    generated([...thoughts(said.thinking, whole), { text: said.text }, ...calledParts(said)], 'STOP'),
};

/** What Gemini sends at once: an answer, or an event of one. */
const generated = (parts: readonly object[], finishReason?: 'STOP') => ({
  candidates: [{ content: { role: 'model', parts }, ...(finishReason && { finishReason }), index: 0 }],
  usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 4, totalTokenCount: 7 },
  modelVersion: 'm',
  responseId: 'r1',
});

const thoughts = (thinking: string | undefined, cut: Cut) =>
  (thinking === undefined ? [] : cut(thinking)).map((text) => ({ text, thought: true }));

/** As a chat has it. */
function functionCall(said: Said, input: string): object {
  const { id, name } = callOf(said);
  return { id, type: 'function', function: { name, arguments: input } };
}

/** As Gemini has it. */
const calledParts = (said: Said) =>
  ifCalled(said, (input) => ({ functionCall: { ...callOf(said), args: JSON.parse(input) as unknown } }));

function responseOf(said: Said, status: string): object {
  return {
    id: 'resp_1',
    object: 'response',
    created_at: 1_700_000_000,
    status,
    model: 'm',
    output: status === 'completed' ? itemsOf(said) : [],
    usage: { input_tokens: 3, output_tokens: 4, total_tokens: 7 },
  };
}

interface Item {
  readonly type: string;
  readonly id: string;
  readonly [name: string]: unknown;
}

interface Event {
  readonly type: string;
  readonly [name: string]: unknown;
}

function itemsOf(said: Said): readonly Item[] {
  const { text, thinking, isCustom } = said;
  const { id, name } = callOf(said);
  const summary = [{ type: 'summary_text', text: thinking }];
  const reasoning = { type: 'reasoning', id: 'rs_1', encrypted_content: 'gAAA', summary };
  const content = [{ type: 'output_text', text, annotations: [] }];
  return [
    ...(thinking === undefined ? [] : [reasoning]),
    { type: 'message', id: 'm_1', role: 'assistant', status: 'completed', content },
    ...ifCalled(said, (input) => ({
      ...(isCustom ? { type: 'custom_tool_call', input } : { type: 'function_call', arguments: input }),
      id: `fc_${id}`,
      call_id: id,
      name,
      status: 'completed',
    })),
  ];
}

const streams: Readonly<Record<Dialect, (said: Said, cut: Cut) => readonly string[]>> = {
  gemini: (said, cut) => {
    const parts = [
      ...thoughts(said.thinking, cut),
      ...cut(said.text).map((text) => ({ text })),
      ...calledParts(said),
    ];
    const events = [...parts.map((part) => generated([part])), generated([{ text: '' }], 'STOP')];
    return events.map((event) => `data: ${JSON.stringify(event)}\r\n\r\n`);
  },
  messages: (said, cut) => {
    const block = (index: number, content_block: object, deltas: readonly object[]) => [
      blockStart(index, content_block),
      ...deltas.map((delta) => blockDelta(index, delta)),
      blockStop(index),
    ];
    const events = [
      {
        type: 'message_start',
        message: {
          ...(answers.messages(said) as object),
          content: [],
          stop_reason: null,
          usage: { input_tokens: 3, output_tokens: 1 },
        },
      },
      ...block(
        0,
        { type: 'text', text: '' },
        cut(said.text).map((text) => ({ type: 'text_delta', text })),
      ),
      ...ifCalled(said, (input) =>
        block(
          1,
          { type: 'tool_use', ...callOf(said), input: {} },
          cut(input).map((partial_json) => ({ type: 'input_json_delta', partial_json })),
        ),
      ).flat(),
      {
        type: 'message_delta',
        delta: { stop_reason: said.input === undefined ? 'end_turn' : 'tool_use', stop_sequence: null },
        usage: { output_tokens: 4 },
      },
      { type: 'message_stop' },
    ];
    return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  },
  chat: (said, cut) => {
    const { text, thinking, input } = said;
    const chunk = (delta: object, finish_reason: string | null = null) => ({
      ...{ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1_700_000_000, model: 'm' },
      ...chatChunk(delta, finish_reason),
    });
    const events: object[] = [
      chunk({ role: 'assistant', content: '' }),
      ...cut(thinking ?? '').map((reasoning_content) => chunk({ reasoning_content })),
      ...cut(text).map((content) => chunk({ content })),
      ...ifCalled(said, (all) => cut(all))
        .flat()
        .map((piece, at) => {
          const call = at === 0 ? functionCall(said, piece) : { function: { arguments: piece } };
          return chunk({ tool_calls: [{ index: 0, ...call }] });
        }),
      chunk({}, input === undefined ? 'stop' : 'tool_calls'),
      { ...chunk({}), choices: [], usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 } },
    ];
    return [...events.map((event) => `data: ${JSON.stringify(event)}\n\n`), 'data: [DONE]\n\n'];
  },
  responses: (said, cut) => {
    const events = itemsOf(said).flatMap((item, output_index): Event[] => {
      const { empty, text, channel, field = 'text', part } = streamedAs(item, said);
      const at = { item_id: item.id, output_index, ...part?.place };
      const partEvent = (what: string, content: object) =>
        part === undefined ? [] : [{ type: `response.${part.name}.${what}`, ...at, part: content }];
      return [
        { type: 'response.output_item.added', output_index, item: { ...item, ...empty } },
        ...partEvent('added', { ...part?.full, text: '' }),
        ...cut(text).map((delta) => ({ type: `response.${channel}.delta`, ...at, delta })),
        { type: `response.${channel}.done`, ...at, [field]: text },
        ...partEvent('done', { ...part?.full }),
        { type: 'response.output_item.done', output_index, item },
      ];
    });
    return [
      { type: 'response.created', response: responseOf(said, 'in_progress') },
      ...events,
      { type: 'response.completed', response: responseOf(said, 'completed') },
    ].map(
      (event, sequence_number) =>
        `event: ${event.type}\ndata: ${JSON.stringify({ ...event, sequence_number })}\n\n`,
    );
  },
};

interface Streamed {
  /** What the item has in place of its content before that comes. */
  readonly empty: object;
  readonly text: string;
  /** The name of its pieces' events. */
  readonly channel: string;
  readonly field?: 'arguments' | 'input';
  /** Where its text is a part of it: the part's events, where it is, and the whole of it. */
  readonly part?: { readonly name: string; readonly place: object; readonly full: object };
}

/** How Responses streams an item. */
function streamedAs({ type }: Item, { text, thinking = '', input = '' }: Said): Streamed {
  if (type === 'reasoning') {
    const full = { type: 'summary_text', text: thinking };
    const part = { name: 'reasoning_summary_part', place: { summary_index: 0 }, full };
    return { empty: { summary: [] }, text: thinking, channel: 'reasoning_summary_text', part };
  }
  if (type === 'message') {
    const full = { type: 'output_text', text, annotations: [] };
    const part = { name: 'content_part', place: { content_index: 0 }, full };
    return { empty: { status: 'in_progress', content: [] }, text, channel: 'output_text', part };
  }
  const field = type === 'custom_tool_call' ? 'input' : 'arguments';
  const channel = field === 'input' ? 'custom_tool_call_input' : 'function_call_arguments';
  return { empty: { [field]: '', status: 'in_progress' }, text: input, channel, field };
}

const errorEvent = (data: object) => `event: error\ndata: ${JSON.stringify(data)}\n\n`;
const error = { error: { message: 'no', type: 'server_error' } };
/** How a host says in a stream that it failed. */
export const failureOf: Readonly<Record<Dialect, string>> = {
  messages: errorEvent({ type: 'error', ...error }),
  chat: `data: ${JSON.stringify(error)}\n\n`,
  responses: errorEvent({ type: 'error', message: 'no', code: 'x' }),
  gemini: `${JSON.stringify({ error: { code: 503, message: 'no', status: 'UNAVAILABLE' } })}\n\n`,
};

/** The events of a message in these pieces of text, the last one with what Bedrock adds to it. */
export function bedrockEvents(texts: readonly string[]): readonly Readonly<Record<string, unknown>>[] {
  const events = eventsOf('messages', { text: texts.join('') }, () => texts).map((event) =>
    JSON.parse(event.slice(event.indexOf('data: ') + 'data: '.length)),
  );
  const metrics = { inputTokenCount: 3, outputTokenCount: 4 };
  return [...events.slice(0, -1), { ...events.at(-1), 'amazon-bedrock-invocationMetrics': metrics }];
}
