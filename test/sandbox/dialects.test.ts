import { expect, test } from 'vitest';
import { post, readEvents, startClients, weatherSchema } from './clients.ts';

const { anthropic, openai, url } = await startClients();
const hello = {
  model: 'sandbox-mini',
  max_tokens: 1024,
  messages: [{ role: 'user' as const, content: 'hello 🌍' }],
};

test('a stream has the headers of a real host', async () => {
  const messages = await post(`${url}/v1/messages?beta=true`, { ...hello, stream: true });
  const chat = await post(`${url}/v1/chat/completions`, { ...hello, stream: true });

  for (const { headers } of [messages, chat]) {
    expect(headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(headers.get('cache-control')).toBe('no-cache');
  }
  expect(messages.headers.get('request-id')).toMatch(/^req_/);
  expect(messages.headers.get('anthropic-ratelimit-requests-remaining')).toBe('9999');
  expect(chat.headers.get('x-request-id')).toMatch(/^req_/);
  expect(chat.headers.get('x-ratelimit-remaining-requests')).toBe('9999');
});

test('a chat has its usage in one more chunk if asked, and null before', async () => {
  const ask = async (more: object) =>
    (await post(`${url}/v1/chat/completions`, { ...hello, stream: true, ...more })).text;
  const chunks = readEvents(await ask({ stream_options: { include_usage: true } }));

  expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { completion_tokens: 20 } });
  expect(chunks.slice(0, -1).every((chunk) => chunk.usage === null)).toBe(true);
  expect(readEvents(await ask({})).some((chunk) => 'usage' in chunk)).toBe(false);
});

test('a chat has as many choices as asked, the same ones streamed and plain', async () => {
  const body = { ...hello, n: 2 };

  const plain = await openai.chat.completions.create(body);
  const streamed = await openai.chat.completions.stream(body).finalChatCompletion();

  const texts = plain.choices.map(({ message }) => message.content);
  expect(texts[1]).toBe(`${texts[0]} This is answer 2.`);
  expect(streamed.choices.map(({ message }) => message.content)).toEqual(texts);
});

test('answers the same request with the same bytes', async () => {
  const first = await post(`${url}/v1/messages`, { ...hello, stream: true });
  const second = await post(`${url}/v1/messages`, { ...hello, stream: true });

  expect(second.text).toBe(first.text);
  expect(second.headers.get('request-id')).not.toBe(first.headers.get('request-id'));
});

test('thinking is accepted again as it was', async () => {
  const body = { ...hello, model: 'sandbox-think', max_tokens: 4096 };
  const { content } = await anthropic.messages.create(body);

  const next = await anthropic.messages.create({
    ...body,
    messages: [...hello.messages, { role: 'assistant', content }, { role: 'user', content: 'more' }],
  });

  expect(next.stop_reason).toBe('end_turn');
});

test('count_tokens counts what a message with the same prompt is charged', async () => {
  const { max_tokens: _, ...prompt } = {
    ...hello,
    system: 'be brief',
    tools: [{ name: 'get_weather', input_schema: weatherSchema }],
  };

  const counted = await anthropic.messages.countTokens(prompt);
  const message = await anthropic.messages.create({ ...prompt, max_tokens: 10 });

  expect(counted.input_tokens).toBe(message.usage.input_tokens);
});

test('sends Retry-After only if waiting helps', async () => {
  const retryAfter = async (status: number) =>
    (await post(`${url}/v1/messages`, { ...hello, model: `sandbox-error-${status}` })).headers.get(
      'retry-after',
    );

  expect(await Promise.all([429, 503, 529, 500, 400].map(retryAfter))).toEqual(['1', '1', '1', null, null]);
});

test('refuses a thread in the way that makes clients send the whole conversation', async () => {
  const creating = anthropic.beta.messages.create({ ...hello, thread: { type: 'create' } });

  await expect(creating).rejects.toMatchObject({ status: 400, errorCode: 'thread_unsupported_request' });
});
