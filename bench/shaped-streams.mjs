// Streams of all the shapes that a loop inside a loop would make slow.

const piece = (text) => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } });
const argument = (text) => ({
  type: 'content_block_delta',
  index: 0,
  delta: { type: 'input_json_delta', partial_json: text },
});
const repeated = (bytes, make) => {
  const events = [];
  for (let length = 0, at = 0; length < bytes; at += 1) {
    const event = make(at);
    events.push(event);
    length += JSON.stringify(event).length + 40;
  }
  return events;
};
const toolUse = { type: 'tool_use', id: 'toolu_1', name: 't', input: {} };
/** Streams of about so many bytes: the block that they are of, and its events. */
const streams = {
  'tiny events': (bytes) => ({ events: repeated(bytes, () => piece('a')) }),
  'one huge event': (bytes) => ({ events: [piece('the gateway streams '.repeat(bytes / 40))] }),
  'single bytes': (bytes) => ({ events: repeated(bytes / 16, () => piece(' stream')), writes: 1 }),
  'unknown fields': (bytes) => ({
    events: repeated(bytes, (at) => ({
      ...piece('a'),
      ...Object.fromEntries(Array.from({ length: 100 }, (_, field) => [`x${at}_${field}`, field])),
    })),
  }),
  'arguments by the letter': (bytes) => ({
    block: toolUse,
    events: repeated(bytes, (at) => argument(at === 0 ? '{"a":"' : 'x')),
  }),
};

export const streamNames = Object.keys(streams);

/** A stream of the dialect anthropic, and how many bytes of it are written at once; undefined: all. */
export function shapedStream(name, bytes) {
  const { block = { type: 'text', text: '' }, events, writes } = streams[name](bytes);
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [] };
  const usage = { input_tokens: 1, output_tokens: 1 };
  const all = [
    { type: 'message_start', message: { ...message, stop_reason: null, stop_sequence: null, usage } },
    { type: 'content_block_start', index: 0, content_block: block },
    ...events,
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage },
    { type: 'message_stop' },
  ];
  const text = all.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
  return { body: Buffer.from(text), writes };
}
