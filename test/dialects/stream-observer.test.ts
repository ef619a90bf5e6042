import { describe, expect, test } from 'vitest';
import { dialects, type TextDialectName } from '../../src/dialects/registry.ts';
import { eventLimitBytes } from '../../src/dialects/sse.ts';
import { StreamObserver } from '../../src/dialects/stream-observer.ts';
import { noUsage, type Usage } from '../../src/dialects/usage.ts';
import { GatewayError } from '../../src/errors.ts';
import { textDialects } from '../kit/dialects.ts';
import { cpuMs } from '../kit/growth.ts';
import { recordedStream } from '../kit/recorded-streams.ts';
import { blockStart, chatChunk } from '../kit/stream-events.ts';

interface Seen {
  readonly usage: Usage | undefined;
  readonly isComplete: boolean;
  readonly events: number;
}

function watch(name: TextDialectName, chunks: readonly (Buffer | string)[]): Seen {
  const observer = new StreamObserver(dialects[name]);
  for (const chunk of chunks) observer.observe(Buffer.from(chunk as string));
  const { tally, isComplete, events } = observer;
  return { usage: tally.usage, isComplete, events };
}

const seen = (events: number, usage: Partial<Usage>): Seen => ({
  usage: { ...noUsage, ...usage },
  isComplete: true,
  events,
});
// biome-ignore format: a case a line
const whole: Readonly<Record<TextDialectName, Seen>> = {
  messages: seen(8, { inputTokens: 135, outputTokens: 15, cacheReadTokens: 100, cacheWriteTokens: 10 }),
  chat: seen(6, { inputTokens: 19, outputTokens: 10, cacheReadTokens: 4, reasoningTokens: 3 }),
  responses: seen(8, { inputTokens: 36, outputTokens: 87, cacheReadTokens: 6, reasoningTokens: 64 }),
  gemini: seen(4, { inputTokens: 120, outputTokens: 25, cacheReadTokens: 40 }),
};

/** Of dialects with several recordings, the one that is watched. */
const recordings = { messages: 'messages', chat: 'chat', responses: 'responses', gemini: 'gemini.text' };

describe.each(textDialects)('a recorded stream of %s', (name) => {
  // Google's hosts write line ends of two bytes.
  const text = recordedStream(recordings[name]).toString().replaceAll('\r\n', '\n');
  const withPairs = text.replaceAll('\n', '\r\n');
  const streams = [Buffer.from(text), Buffer.from(withPairs)];

  test('is the same split at every byte position, with line ends of one byte and of two', () => {
    for (const bytes of streams) {
      for (let at = 0; at <= bytes.length; at += 1) {
        expect(watch(name, [bytes.subarray(0, at), bytes.subarray(at)]), `at ${at}`).toEqual(whole[name]);
      }
    }
  });

  test.each([1, 2, 3, 7])('is the same in pieces of %i bytes', (size) => {
    for (const stream of streams) {
      const pieces: Buffer[] = [];
      for (let at = 0; at < stream.length; at += size) pieces.push(stream.subarray(at, at + size));

      expect(watch(name, pieces)).toEqual(whole[name]);
    }
  });

  test('may have line ends of both kinds, as when somebody between adds comments of his own', () => {
    const mixed = `: ping\r\n\r\n${text.replace('\n\n', '\r\n\r\n')}`;

    expect(watch(name, [mixed])).toEqual(whole[name]);
    expect(watch(name, [`: ping\n\n${withPairs}`])).toEqual(whole[name]);
  });

  test('is not complete when it is cut before the end of its last event', () => {
    const events = text.split(/(?<=\n\n)/);
    const last = name === 'chat' ? 4 : events.length - 1; // with its finish reason a chat may end
    const bytes = Buffer.from(events.slice(0, last + 1).join(''));

    for (let length = 0; length < bytes.length - 2; length += 1) {
      expect(watch(name, [bytes.subarray(0, length)]).isComplete, `cut at ${length}`).toBe(false);
    }
  });
});

// What a call's arguments may hold, or a text: the words with which the dialects end their answers.
const ends = {
  finishReason: 'STOP',
  blockReason: 'SAFETY',
  finish_reason: 'stop',
  type: 'message_stop',
  more: [{ type: 'response.completed' }],
};
const geminiEvent = (parts: readonly object[], more: object = {}) => ({
  candidates: [{ content: { parts }, index: 0, ...more }],
});
const callOf: Readonly<Record<TextDialectName, object>> = {
  messages: blockStart(1, { type: 'tool_use', id: 't', name: 'run', input: ends }),
  chat: chatChunk({ tool_calls: [{ index: 0, function: { name: 'run', arguments: ends } }] }),
  responses: { item: { type: 'function_call', arguments: ends }, type: 'response.output_item.added' },
  gemini: geminiEvent([{ functionCall: { name: 'run', args: ends } }]),
};
const lastOf: Readonly<Record<TextDialectName, object>> = {
  messages: { other: 1, type: 'message_stop' },
  chat: chatChunk({}, 'stop'),
  responses: { response: {}, type: 'response.completed' },
  gemini: geminiEvent([], { finishReason: 'STOP' }),
};
const line = (event: object) => `data: ${JSON.stringify(event)}\n\n`;

test.each(textDialects)('a stream of %s whose arguments have the words of an end is not complete', (name) => {
  const call = line(callOf[name]);

  expect(watch(name, [call]).isComplete).toBe(false);
  expect(watch(name, [call, call]).isComplete).toBe(false);
  expect(watch(name, [call.trimEnd()]).isComplete).toBe(false);
  expect(watch(name, [call, line(lastOf[name])]).isComplete).toBe(true);
});

describe('of several answers', () => {
  const more = { candidates: 'gemini', choices: 'chat' } as const;
  test.each(Object.entries(more))('%s: each must be finished', (list, name) => {
    const reason = name === 'chat' ? 'finish_reason' : 'finishReason';
    const piece = (index: number) => line({ [list]: [{ index, delta: { content: 'a' } }] });
    const end = (index: number) => line({ [list]: [{ index, [reason]: 'STOP' }] });
    const isComplete = (...events: string[]) => {
      const observer = new StreamObserver(dialects[name], { answers: 2 });
      for (const event of events) observer.observe(Buffer.from(event));
      return observer.isComplete;
    };

    expect(isComplete(piece(0), piece(1), end(0))).toBe(false);
    expect(isComplete(piece(0), piece(1), end(1), piece(0), piece(0), piece(0))).toBe(false);
    expect(isComplete(piece(0), piece(1), end(1), piece(0), piece(0), end(0))).toBe(true);
    expect(isComplete(piece(0), end(0))).toBe(true);
  });
});

describe('what hosts do', () => {
  const chunk = (choice: string, rest = '') => `data: {"choices":[${choice}]${rest}}\n\n`;
  const text = chunk('{"delta":{"content":"a"},"finish_reason":null}');
  const finish = chunk('{"delta":{},"finish_reason":"stop"}');
  const usage = chunk('', ',"usage":{"prompt_tokens":1,"completion_tokens":2}');

  test.each([
    ['no [DONE] after the finish reason', [text, finish]],
    ['no blank line after the last event', [text, finish.trimEnd()]],
    ['a comment at the very end', [text, finish, ': bye\n']],
    ['no space after the colon', ['data:{"choices":[]}\n\n', 'data:[DONE]\n\n']],
    ['a comment in the event of [DONE]', [text, ': keep-alive\ndata: [DONE]\n\n']],
    ['an error instead of an end', [text, 'data: {"error":{"message":"overloaded"}}\n\n']],
  ])('chat: %s', (_name, chunks) => {
    expect(watch('chat', chunks).isComplete).toBe(true);
  });

  test.each([
    ['nothing at all', []],
    ['a text after which it breaks off', [text, text]],
    ['a finish reason and half of the usage', [text, finish, usage.slice(0, 30)]],
    ['a finish reason and half of an end', [text, finish, 'data: [DO']],
    ['half a finish reason', [text, finish.slice(0, -8)]],
    ['an empty finish reason', [chunk('{"delta":{"content":"a"},"finish_reason":""}')]],
    ['no error yet', [`data: {"error":null,${text.slice('data: {'.length)}`]],
    ['[DONE] within a text', [chunk('{"delta":{"content":"data: [DONE]\\n\\n"},"finish_reason":null}')]],
    [
      'a finish reason within a text',
      [chunk('{"delta":{"content":"\\"finish_reason\\":\\"stop\\""},"finish_reason":null}')],
    ],
  ])('chat, not complete: %s', (_name, chunks) => {
    expect(watch('chat', chunks).isComplete).toBe(false);
  });

  test.each(['[DONE]', 'no last event', 'no blank line after it'])(
    'hides a usage that the client did not ask for, with %s, wherever the stream is split',
    (end) => {
      const hidden = 'data: {"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":6}}\r\n\r\n';
      const before = ['data: {"choices":[{"delta":{}}],"usage":null}\n\n', ': a comment\n\n', hidden].join(
        '',
      );
      const finish = 'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\n';
      const tail =
        { '[DONE]': `${hidden}data: [DONE]\n\n`, 'no last event': hidden }[end] ?? hidden.trimEnd();
      const stream = Buffer.from(before + finish + tail);
      const passed = stream.toString().replaceAll(hidden, '').replace(hidden.trimEnd(), '');

      for (let at = 0; at <= stream.length; at += 1) {
        const observer = new StreamObserver(dialects.chat, { hidesUsage: true });
        const chunks = [stream.subarray(0, at), stream.subarray(at)].map((chunk) => observer.observe(chunk));
        expect(observer.isComplete).toBe(true);
        expect(Buffer.concat([...chunks, observer.finish()]).toString()).toBe(passed);
        expect(observer.tally).toMatchObject({ usage: { inputTokens: 5, outputTokens: 6 } });
      }
    },
  );

  test('usage on the finish chunk, and null on all others', () => {
    const chunks = [
      'data: {"choices":[],"usage":null}\n\n',
      'data: {"choices":[{"finish_reason":"stop"}],"usage":{"prompt_tokens":5,"completion_tokens":6}}\n\n',
      'data: {"choices":[],"usage":null}\n\n',
    ];

    expect(watch('chat', chunks).usage).toMatchObject({ inputTokens: 5, outputTokens: 6 });
  });

  test.each([
    ['message_start alone', [], { inputTokens: 3, outputTokens: 1 }],
    ['a delta that tells the output only', ['{"output_tokens":9}'], { inputTokens: 3, outputTokens: 9 }],
    [
      'a delta that tells everything',
      ['{"input_tokens":4,"cache_read_input_tokens":2,"output_tokens":9}'],
      { inputTokens: 6, outputTokens: 9, cacheReadTokens: 2 },
    ],
    ['a delta with nulls', ['{"input_tokens":null,"output_tokens":9}'], { inputTokens: 3, outputTokens: 9 }],
    [
      'deltas that add up by themselves',
      ['{"output_tokens":5}', '{"output_tokens":9}'],
      { inputTokens: 3, outputTokens: 9 },
    ],
  ])('messages, usage of %s', (_name, deltas, expected) => {
    const start =
      'data: {"type":"message_start","message":{"usage":{"input_tokens":3,"output_tokens":1}}}\n\n';
    const events = deltas.map((each) => `data: {"type":"message_delta","delta":{},"usage":${each}}\n\n`);

    expect(watch('messages', [start, ...events]).usage).toMatchObject(expected);
  });

  test.each([
    ['messages', 'event: message_stop\ndata: {"type":"message_stop"}\n\n'],
    ['messages', 'data: {"type":"message_stop"}\n\n'],
    ['messages', 'event: error\ndata: {"type":"error"}\n\n'],
    ['messages', 'data: {"usage":{},"type":"message_stop"}\n\n'],
    ['responses', 'event: response.completed\ndata: {}\n\n'],
    ['responses', 'event: response.failed\ndata: {}\n\n'],
    ['responses', 'event: error\ndata: {}\n\n'],
    ['responses', 'data: {"type":"response.completed","response":{}}\n\n'],
    ['responses', 'data: {"response":{"output":[]},"sequence_number":9,"type":"response.completed"}\n\n'],
    ['responses', 'event: response.completed\ndata: {}\n\ndata: [DONE]\n\n'],
  ] as const)('%s ends with %s', (name, event) => {
    expect(watch(name, ['event: x\ndata: {}\n\n', event]).isComplete).toBe(true);
  });

  test.each([
    ['messages', 'event: message_stopped\ndata: {}\n\n'],
    ['messages', 'data: {"type":"message_delta","delta":{"text":"\\"type\\":\\"message_stop\\""}}\n\n'],
    ['responses', 'event: response.completed_soon\ndata: {}\n\n'],
    [
      'responses',
      'data: {"type":"response.output_text.delta","delta":"\\"type\\":\\"response.completed\\""}\n\n',
    ],
    ['responses', 'data: [DONE]\n\n'],
  ] as const)('%s does not end with %s', (name, event) => {
    expect(watch(name, [event]).isComplete).toBe(false);
  });

  test('usage that is not JSON, or is nonsense, does no harm', () => {
    expect(watch('chat', ['data: {"usage":{"prompt_tokens":\n\n']).usage).toBeUndefined();
    expect(
      watch('chat', ['data: {"usage":{"prompt_tokens":"x","completion_tokens":-1}}\n\n']).usage,
    ).toBeUndefined();
  });
});

describe('sizes', () => {
  const limit = eventLimitBytes;

  test('an event as large as the limit passes', () => {
    const event = `data: ${'x'.repeat(limit - 8)}\n\n`;

    expect(watch('chat', [event.slice(0, 70_000), event.slice(70_000)]).events).toBe(1);
  });

  test('a longer one is refused, however it arrives', () => {
    const event = Buffer.from(`data: ${'x'.repeat(limit)}\n\n`);
    for (const size of [65_536, 1_048_576, limit]) {
      const observer = new StreamObserver(dialects.chat);
      const feed = () => {
        for (let at = 0; at < event.length; at += size) observer.observe(event.subarray(at, at + size));
      };

      expect(feed).toThrow(GatewayError);
      expect(feed).toThrow('one event is larger than 33554432 bytes');
    }
  });

  test('a megabyte in pieces of one byte costs no more than its length', () => {
    const observer = new StreamObserver(dialects.chat);
    const byte = Buffer.from('x');
    observer.observe(Buffer.from('data: '));
    const observe = () => {
      for (let i = 0; i < 1_000_000; i += 1) observer.observe(byte);
      observer.observe(Buffer.from('\n'));
      observer.observe(Buffer.from('\n'));
    };

    expect(cpuMs(observe)).toBeLessThan(10_000); // generous: what is quadratic here takes an hour
    expect(observer.events).toBe(1);
  });

  test('an event waits for its end, and no longer', () => {
    const observer = new StreamObserver(dialects.chat);
    const passed = ['data', ': {}\n', '\r', '\n', ': c\n', 'x', '\n', '\n'].map((piece) =>
      observer.observe(Buffer.from(piece)).toString(),
    );

    expect(passed).toEqual(['', '', '', 'data: {}\n\r\n', '', '', '', ': c\nx\n\n']);
  });

  test('a chunk of whole events is passed on as it is, without a copy', () => {
    const chunk = Buffer.from('data: {}\n\ndata: {}\n\n');

    expect(new StreamObserver(dialects.chat).observe(chunk)).toBe(chunk);
  });
});
