import { describe, expect, test } from 'vitest';
import { dialects } from '../../../src/dialects/registry.ts';
import { ExactStream } from '../../../src/gateway/answer/passing-stream.ts';
import { createScrubber } from '../../../src/gateway/answer/scrub.ts';
import { bodyOf, relay } from '../relaying.ts';

const secret = 'sk-provider-0123456789abcdef';
const delta = 'data: {"choices":[{"delta":{"content":"a"},"finish_reason":null}]}\n\n';
const done = 'data: [DONE]\n\n';
const withSecrets = (...secrets: readonly string[]) =>
  new ExactStream(dialects.chat, createScrubber(secrets));

/** What a client gets of chunks in which a provider ends its stream. */
async function relayed(chunks: readonly string[], stream: ExactStream): Promise<string> {
  const { answer, connection, outcome } = await relay('chat', undefined, stream);
  for (const chunk of chunks) answer.write(chunk);
  answer.sink.end();
  expect(await outcome).toBe('complete');
  await connection.until(() => bodyOf(connection).isWhole);
  return bodyOf(connection).text;
}

describe.each([
  ['an object', (words: string) => `data: {"error":{"message":"${words}"}}\n\n`],
  ['an object with a space before it', (words: string) => `data: {"error": {"message":"${words}"}}\n\n`],
  ['an event of that name', (words: string) => `event: error\ndata: {"message":"${words}"}\n\n`],
  [
    'an event of that name without a space',
    (words: string) => `event:error\ndata: {"message":"${words}"}\n\n`,
  ],
  ['a type', (words: string) => `data: {"type":"error","message":"${words}"}\n\n`],
  ['a text', (words: string) => `data: {"error":"${words}"}\n\n`],
])('an error that is told as %s', (_what, told) => {
  const event = told(`key ${secret} is wrong`);
  const expected = delta + told('key [secret] is wrong') + done;

  test('loses the secret in it, wherever two chunks part it', async () => {
    const texts = Array.from({ length: event.length + 1 }, async (_each, at) =>
      relayed([delta + event.slice(0, at), event.slice(at) + done], withSecrets(secret)),
    );

    expect(new Set(await Promise.all(texts))).toEqual(new Set([expected]));
  });

  test('loses it where each byte comes by itself', async () => {
    expect(await relayed([...(delta + event + done)], withSecrets(secret))).toBe(expected);
  });
});

test('of two secrets that overlap none is whole, wherever two chunks part them', async () => {
  const event = 'data: {"error":{"message":"secret-one-two-three"}}\n\n';
  const texts = Array.from({ length: event.length + 1 }, (_each, at) =>
    relayed([event.slice(0, at), event.slice(at) + done], withSecrets('secret-one-two', 'two-three-four')),
  );

  const expected = `data: {"error":{"message":"[secret]-three"}}\n\n${done}`;
  expect(new Set(await Promise.all(texts))).toEqual(new Set([expected]));
});

test('a stream that breaks off in a secret keeps what came of it', async () => {
  const { answer, connection, outcome } = await relay('chat', undefined, withSecrets(secret));

  answer.write(`${delta}data: {"error":{"message":"key ${secret.slice(0, -1)}`);
  answer.sink.end();

  expect(await outcome).toBe('provider.broken_response');
  await connection.closed;
  const { text } = bodyOf(connection);
  expect(text.startsWith(`${delta}data: {"error":{"message":"key \n\ndata: {`)).toBe(true);
  expect(text).not.toContain(secret.slice(0, 4));
});

test('chunks of a stream without an error go on as they are, whatever is at their ends', () => {
  const stream = withSecrets(secret);
  const chunks = [delta, `data: {"content":"no error: ${secret.slice(0, 9)}`, `${secret.slice(9)}"}\n\n`];

  for (const chunk of chunks.map((text) => Buffer.from(text))) expect(stream.pass(chunk)).toBe(chunk);
});
