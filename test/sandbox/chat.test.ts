import { expect, test } from 'vitest';
import { post, readEvents, startClients } from './clients.ts';

const { openai, url } = await startClients();
const hello = { model: 'sandbox-mini', messages: [{ role: 'user' as const, content: 'hello 🌍' }] };
const helloText = 'The sandbox read: "hello 🌍". It works offline and always replies the same way.';

test('sends usage in one more chunk when asked, and null before', async () => {
  const asked = await post(`${url}/v1/chat/completions`, {
    ...hello,
    stream: true,
    stream_options: { include_usage: true },
  });
  const silent = await post(`${url}/v1/chat/completions`, { ...hello, stream: true });

  const chunks = readEvents(asked.text);
  expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { completion_tokens: 20 } });
  expect(chunks.slice(0, -1).every((chunk) => chunk.usage === null)).toBe(true);
  expect(readEvents(silent.text).some((chunk) => 'usage' in chunk)).toBe(false);
  expect(asked.text.endsWith('data: [DONE]\n\n')).toBe(true);
  expect(asked.text).not.toContain('event:');
  expect(asked.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
  expect(asked.headers.get('x-request-id')).toMatch(/^req_/);
  expect(asked.headers.get('x-ratelimit-remaining-requests')).toBe('9999');
});

test('makes as many choices as asked, the same ones streamed and plain', async () => {
  const body = { ...hello, n: 2 };

  const plain = await openai.chat.completions.create(body);
  const streamed = await openai.chat.completions.stream(body).finalChatCompletion();

  const texts = plain.choices.map(({ message }) => message.content);
  expect(texts).toEqual([helloText, `${helloText} This is answer 2.`]);
  expect(streamed.choices.map(({ message }) => message.content)).toEqual(texts);
  expect(streamed.choices.map(({ index }) => index)).toEqual([0, 1]);
});
