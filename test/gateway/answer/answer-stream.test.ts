import { describe, expect, test } from 'vitest';
import type { DialectName } from '../../../src/dialects/registry.ts';
import { GatewayError } from '../../../src/errors.ts';
import { exactStream } from '../relaying.ts';

const secret = 'sk-provider-0123456789abcdef';
const delta = 'data: {"choices":[{"delta":{"content":"a"},"finish_reason":null}]}\n\n';
const done = 'data: [DONE]\n\n';

const withSecrets = (secrets: readonly string[]) => exactStream('chat', secrets);

/** What a client gets of chunks in which a provider ends its stream. */
function passed(chunks: readonly string[], stream = withSecrets([secret])): string {
  const texts = chunks.map((chunk) => stream.transform(Buffer.from(chunk)).toString());
  return texts.join('') + stream.end().toString();
}

describe.each([
  ['an error', (words: string) => `data: {"error":{"message":"${words}"}}\n\n`],
  ['an event of that name', (words: string) => `event: error\ndata: {"message":"${words}"}\n\n`],
  ['a piece of text', (words: string) => `data: {"choices":[{"delta":{"content":"${words}"}}]}\n\n`],
  ['an id', (words: string) => `id: ${words}\ndata: {}\n\n`],
  ['a comment', (words: string) => `: ${words}\n\n`],
  ['text after its piece', (words: string) => `data: {"delta":"a","more":{"x":["${words}"]}}\r\n\r\n`],
])('a secret in %s', (_what, write) => {
  const event = write(`key ${secret} is wrong`);
  const expected = delta + write('key [secret] is wrong') + done;

  test('is masked, wherever it is split into two chunks', () => {
    const texts = Array.from({ length: event.length + 1 }, (_each, at) =>
      passed([delta + event.slice(0, at), event.slice(at) + done]),
    );

    expect(new Set(texts)).toEqual(new Set([expected]));
  });

  test('is masked if it arrives byte by byte', () => {
    expect(passed([...(delta + event + done)])).toBe(expected);
  });
});

test('of two secrets that overlap none is whole, wherever two chunks part them', () => {
  const event = 'data: {"error":{"message":"secret-one-two-three"}}\n\n';
  const texts = Array.from({ length: event.length + 1 }, (_each, at) =>
    passed([event.slice(0, at), event.slice(at) + done], withSecrets(['secret-one-two', 'two-three-four'])),
  );

  expect(new Set(texts)).toEqual(new Set([`data: {"error":{"message":"[secret]-three"}}\n\n${done}`]));
});

test('events without a secret go on as they are, in their own bytes', () => {
  const stream = withSecrets([secret]);
  const chunks = [delta, delta + delta].map((text) => Buffer.from(text));

  for (const chunk of chunks) expect(stream.transform(chunk)).toBe(chunk);
});

/** What a client gets of a stream that its provider ends in the middle. */
function cut(dialect: DialectName, text: string): string {
  const stream = exactStream(dialect);
  const begun = stream.transform(Buffer.from(text)).toString();
  expect(() => stream.end()).toThrow('ended its stream in the middle');
  const error = new GatewayError('provider.broken_response', 'the provider ended its stream in the middle');
  return begun + stream.fail(error, 'request').toString();
}

test('an error that Google writes without its last blank line ends the stream in the provider’s words', () => {
  const text = 'data: {"candidates":[{"content":{"parts":[{"text":"a"}]}}]}\r\n\r\n';
  const bare = '{\n  "error": {"code": 503, "message": "overloaded", "status": "UNAVAILABLE"}\n}';

  expect(cut('gemini', text + bare)).toBe(`${text}${bare}\n\n`);
  for (const length of [1, 9, bare.length - 1]) {
    expect(cut('gemini', text + bare.slice(0, length))).toMatch(/\n\r\n\{"error":.*in the middle.*\n\n$/);
  }
  // Not what is no error, and not where clients read no bare objects.
  expect(cut('gemini', '{"candidates":[]}')).toMatch(/^\{"error":.*in the middle/);
  expect(cut('chat', bare)).toMatch(/^data: .*in the middle/);
});
