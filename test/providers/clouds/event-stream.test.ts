import { expect, test } from 'vitest';
import type { GatewayError } from '../../../src/errors.ts';
import { sseAnswer } from '../../../src/providers/clouds/event-stream.ts';
import { AnswerHeaders } from '../../../src/providers/headers.ts';
import type { BodySink, ProviderAnswer } from '../../../src/providers/transport/pool.ts';
import { bedrockEvents } from '../../gateway/masking/saying.ts';
import { chunkFrame, exceptionFrame } from '../../kit/amazon-stream.ts';

const events = bedrockEvents(['Plants', ' need “light”']);
const whole = Buffer.concat(events.map(chunkFrame));
const expected = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');

/** What a client would get of a stream that comes in these pieces. */
function decode(pieces: readonly Buffer[]) {
  let text = '';
  let outcome: 'ended' | GatewayError | undefined;
  let source: BodySink | undefined;
  let aborted = false;
  const answer: ProviderAnswer = {
    status: 200,
    headers: new AnswerHeaders({ 'content-type': 'application/vnd.amazon.eventstream', 'request-id': 'r1' }),
    isBehind: false,
    pipe: (sink) => {
      source = sink;
    },
    resume: () => undefined,
    flush: () => undefined,
    abort: () => {
      aborted = true;
    },
  };
  const decoded = sseAnswer(answer);
  decoded.pipe({
    data: (chunk) => {
      text += chunk.toString();
      return true;
    },
    end: () => {
      outcome = 'ended';
    },
    fail: (error) => {
      outcome = error;
    },
  });
  for (const piece of pieces) source?.data(piece);
  source?.end();
  return { text, outcome, aborted, headers: decoded.headers };
}

test('frames become server-sent events, and the type is said', () => {
  const { text, outcome, headers } = decode([whole]);

  expect(text).toBe(expected);
  expect(outcome).toBe('ended');
  expect(headers.get('content-type')).toBe('text/event-stream');
  expect(headers.get('request-id')).toBe('r1');
});

test('the same wherever the stream is cut in two, and in single bytes', () => {
  for (let at = 1; at < whole.length; at += 1) {
    expect(decode([whole.subarray(0, at), whole.subarray(at)]).text).toBe(expected);
  }
  expect(decode([...whole].map((byte) => Buffer.of(byte))).text).toBe(expected);
});

test('a stream that is cut in a frame fails at every byte, and keeps what was whole', () => {
  const ends = new Set<number>();
  let at = 0;
  for (const frame of events.map(chunkFrame)) {
    at += frame.length;
    ends.add(at);
  }
  for (let length = 1; length < whole.length; length += 1) {
    const { outcome, aborted } = decode([whole.subarray(0, length)]);
    if (ends.has(length)) expect(outcome).toBe('ended');
    else expect([outcome, aborted]).toMatchObject([{ code: 'provider.broken_response' }, true]);
  }
});

test('a length that no frame has is refused before it is waited for', () => {
  const frame = chunkFrame(events[0]);
  frame.writeUInt32BE(0x7fff_ffff, 0);

  expect(decode([frame]).outcome).toMatchObject({ code: 'provider.broken_response' });
});

test.each([
  ['throttlingException', 'rate_limit_error'],
  ['serviceUnavailableException', 'overloaded_error'],
  ['modelTimeoutException', 'timeout_error'],
  ['validationException', 'invalid_request_error'],
  ['modelStreamErrorException', 'api_error'],
  ['internalServerException', 'api_error'],
  ['somethingNewException', 'api_error'],
])('the exception %s becomes an error event: %s', (exception, type) => {
  const { text, outcome } = decode([exceptionFrame(exception, 'Too many tokens')]);

  expect(text).toBe(
    `event: error\ndata: {"type":"error","error":{"type":"${type}","message":"Too many tokens"}}\n\n`,
  );
  expect(outcome).toBe('ended');
});
