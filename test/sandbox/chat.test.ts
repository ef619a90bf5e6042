import { expect, test } from 'vitest';
import { post, readEvents, startClients, weatherSchema } from './clients.ts';

const { openai, url } = await startClients();
const hello = { model: 'sandbox-mini', messages: [{ role: 'user' as const, content: 'hello 🌍' }] };
const helloText = 'The sandbox read: "hello 🌍". It works offline and always replies the same way.';
const tools = [{ type: 'function' as const, function: { name: 'get_weather', parameters: weatherSchema } }];

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

test('sandbox-tool calls unasked, reports the result, and calls again on the next turn', async () => {
  const body = { ...hello, model: 'sandbox-tool', tools };
  const first = await openai.chat.completions.create(body);
  const message = first.choices[0]?.message;
  const [call] = message?.tool_calls ?? [];
  if (message === undefined || call === undefined) throw new Error('there was no call');
  const answered = [
    ...hello.messages,
    message,
    { role: 'tool' as const, tool_call_id: call.id, content: 'rain, 12 degrees' },
  ];

  const second = await openai.chat.completions.create({ ...body, messages: answered });
  const last = second.choices[0]?.message;
  if (last === undefined) throw new Error('there was no answer');
  const third = await openai.chat.completions.create({
    ...body,
    messages: [...answered, last, { role: 'user', content: 'again' }],
  });

  expect(last.content).toContain('rain, 12 degrees');
  expect(second.choices[0]?.finish_reason).toBe('stop');
  expect(third.choices[0]?.finish_reason).toBe('tool_calls');
});

test('sandbox-think reasons before the text and counts it', async () => {
  const body = { ...hello, model: 'sandbox-think' };

  const completion = await openai.chat.completions.create(body);
  const { text } = await post(`${url}/v1/chat/completions`, { ...body, stream: true });

  expect(completion.choices[0]?.message).toMatchObject({
    reasoning_content: expect.stringContaining('A short reply'),
    content: helloText,
  });
  expect(completion.usage?.completion_tokens_details?.reasoning_tokens).toBe(17);
  const deltas = readEvents(text).map((chunk) =>
    Object.keys((chunk.choices as { delta: object }[])[0]?.delta ?? {}),
  );
  const kinds = deltas.flat().filter((name, i, all) => name !== all[i - 1]);
  expect(kinds).toEqual(['role', 'content', 'reasoning_content', 'content']);
});
