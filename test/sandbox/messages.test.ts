import { expect, test } from 'vitest';
import { post, readEvents, startClients, weatherSchema } from './clients.ts';

const { anthropic, url } = await startClients();
const hello = {
  model: 'sandbox-mini',
  max_tokens: 1024,
  messages: [{ role: 'user' as const, content: 'hello 🌍' }],
};

test('sends the events in the order of the dialect, under the headers of a real host', async () => {
  const { text, headers } = await post(`${url}/v1/messages?beta=true`, { ...hello, stream: true });

  const types = readEvents(text).map((event) => event.type);
  expect(types.slice(0, 4)).toEqual(['message_start', 'ping', 'content_block_start', 'content_block_delta']);
  expect(types.slice(-3)).toEqual(['content_block_stop', 'message_delta', 'message_stop']);
  expect([...text.matchAll(/^event: (.*)$/gm)].map((match) => match[1])).toEqual(types);
  expect(text).not.toContain('�');
  expect(headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
  expect(headers.get('cache-control')).toBe('no-cache');
  expect(headers.get('request-id')).toMatch(/^req_/);
  expect(headers.get('anthropic-ratelimit-requests-remaining')).toBe('9999');
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
