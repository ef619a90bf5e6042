// Streams of all the shapes that a loop inside a loop would make slow, in each dialect that has streams.
import { toFrame } from './aws-frames.mjs';

const usage = { input_tokens: 1, output_tokens: 1 };
const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [] };
const chunk = (delta, finish_reason = null) => ({
  ...{ id: 'c', object: 'chat.completion.chunk', model: 'm' },
  choices: [{ index: 0, delta, finish_reason }],
});
const called = (index, { id, text }) =>
  chunk({
    tool_calls: [
      id === undefined
        ? { index, function: { arguments: text } }
        : { index, id, type: 'function', function: { name: 't', arguments: text } },
    ],
  });
const candidate = (part, more) => ({
  candidates: [{ index: 0, content: { role: 'model', parts: [part] }, ...more }],
});
const response = (status, output = []) => ({ id: 'r', object: 'response', status, model: 'm', output });
const answered = (output_index) => ({
  type: 'message',
  id: `m${output_index}`,
  role: 'assistant',
  content: [],
});
const callItem = (at, text) => ({
  type: 'function_call',
  id: `f${at}`,
  call_id: `c${at}`,
  name: 't',
  arguments: text,
});

/**
 * By dialect: how a stream begins and ends, and the events of a text, of a call's arguments, and of blocks that begin and
 * end (`block`) or, where the dialect lets them, stay open (`open`), each with an index of its own.
 */
const dialects = {
  messages: {
    begin: [
      { type: 'message_start', message: { ...message, stop_reason: null, stop_sequence: null, usage } },
    ],
    openText: [{ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }],
    openCall: [
      {
        type: 'content_block_start',
        index: 0,
        content_block: { type: 'tool_use', id: 'toolu_1', name: 't', input: {} },
      },
    ],
    text: (text) => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }),
    argument: (partial_json) => ({
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'input_json_delta', partial_json },
    }),
    close: [{ type: 'content_block_stop', index: 0 }],
    block: (at, text) => [
      { type: 'content_block_start', index: at, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: at, delta: { type: 'text_delta', text } },
      { type: 'content_block_stop', index: at },
    ],
    end: [
      { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage },
      { type: 'message_stop' },
    ],
  },
  chat: {
    begin: [chunk({ role: 'assistant', content: '' })],
    openCall: [called(0, { id: 'c', text: '' })],
    text: (content) => chunk({ content }),
    argument: (text) => called(0, { text }),
    block: (at) => [called(at, { id: `c${at}`, text: '{"a":1}' })],
    open: (at) => [called(at, { id: `c${at}`, text: '{"a":' })],
    end: [chunk({}, 'stop'), '[DONE]'],
  },
  responses: {
    begin: [{ type: 'response.created', response: response('in_progress') }],
    openText: [
      { type: 'response.output_item.added', output_index: 0, item: answered(0) },
      {
        type: 'response.content_part.added',
        ...{ output_index: 0, content_index: 0, item_id: 'm0' },
        part: { type: 'output_text', text: '', annotations: [] },
      },
    ],
    openCall: [{ type: 'response.output_item.added', output_index: 0, item: callItem(0, '') }],
    text: (delta) => ({
      type: 'response.output_text.delta',
      ...{ output_index: 0, content_index: 0, item_id: 'm0' },
      delta,
    }),
    argument: (delta) => ({
      type: 'response.function_call_arguments.delta',
      ...{ output_index: 0, item_id: 'f0' },
      delta,
    }),
    block: (at) => [
      { type: 'response.output_item.added', output_index: at, item: callItem(at, '') },
      {
        type: 'response.function_call_arguments.delta',
        ...{ output_index: at, item_id: `f${at}` },
        delta: '{"a":1}',
      },
      { type: 'response.output_item.done', output_index: at, item: callItem(at, '{"a":1}') },
    ],
    end: [{ type: 'response.completed', response: response('completed') }],
  },
  gemini: {
    begin: [],
    text: (text) => candidate({ text }),
    block: (at) => [candidate({ functionCall: { id: `c${at}`, name: 't', args: { a: at } } })],
    end: [
      {
        ...candidate({ text: '' }, { finishReason: 'STOP' }),
        usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
      },
    ],
  },
};

/** Events for about so many bytes. */
function repeated(bytes, make) {
  const events = [];
  for (let length = 0, at = 0; length < bytes; at += 1) {
    for (const event of [make(at)].flat()) {
      events.push(event);
      length += JSON.stringify(event).length + 40;
    }
  }
  return events;
}

/** The events of a stream of about so many bytes between its first and its last. */
const streams = {
  'tiny events': (bytes, { text }) => ({ events: repeated(bytes, () => text('a')) }),
  'one huge event': (bytes, { text }) => ({ events: [text('the gateway streams '.repeat(bytes / 40))] }),
  'single bytes': (bytes, { text }) => ({
    events: repeated(bytes / 16, () => text(' stream')),
    writes: 1,
  }),
  'unknown fields': (bytes, { text }) => ({
    events: repeated(bytes, (at) => ({
      ...text('a'),
      ...Object.fromEntries(Array.from({ length: 100 }, (_, field) => [`x${at}_${field}`, field])),
    })),
  }),
  'beginnings of placeholders': (bytes, { text }) => ({ events: repeated(bytes, () => text('EMAIL_')) }),
  'arguments by the letter': (bytes, { argument }) => ({
    isCall: true,
    events: repeated(bytes, (at) => argument(at === 0 ? '{"a":"' : 'x')),
  }),
  'blocks that end': (bytes, { block }) => ({
    areBlocks: true,
    events: repeated(bytes, (at) => block(at, 'EMAIL_')),
  }),
  'calls that stay open': (bytes, { open }) => ({ areBlocks: true, events: repeated(bytes, open) }),
};
const needs = { 'arguments by the letter': 'argument', 'calls that stay open': 'open' };

/** The shapes that streams of a dialect can have. */
export function streamNamesOf(dialect) {
  return Object.keys(streams).filter((name) => !(name in needs) || needs[name] in dialects[dialect]);
}

/** A stream of a dialect, by default as server-sent events, and how many bytes of it are written at once; undefined: all. */
export function shapedStream(name, bytes, { dialect = 'messages', inFrames = false } = {}) {
  const own = dialects[dialect];
  const { events, writes, isCall, areBlocks } = streams[name](bytes, own);
  const open = areBlocks ? [] : ((isCall ? own.openCall : own.openText) ?? []);
  const close = areBlocks ? [] : (own.close ?? []);
  const all = [...own.begin, ...open, ...events, ...close, ...own.end];
  const body = inFrames ? Buffer.concat(all.map(toFrame)) : Buffer.from(all.map(toSse).join(''));
  return { type: inFrames ? 'application/vnd.amazon.eventstream' : 'text/event-stream', body, writes };
}

function toSse(event) {
  if (typeof event === 'string') return `data: ${event}\n\n`;
  const name = event.type === undefined ? '' : `event: ${event.type}\n`;
  return `${name}data: ${JSON.stringify(event)}\n\n`;
}
