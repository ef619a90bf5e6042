import Anthropic, { APIError as AnthropicError } from '@anthropic-ai/sdk';
import OpenAI, { APIError as OpenAIError } from 'openai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { GatewayError } from '../../../src/errors.ts';
import { type FakeProvider, startFakeProvider } from './fake-provider.ts';
import { plainAnswers, text as plainText } from './plain-answers.ts';
import { runFixture, startTranslation } from './run-translation.ts';

let provider: FakeProvider;
let anthropic: Anthropic;
let openai: OpenAI;

beforeAll(async () => {
  provider = await startFakeProvider();
  anthropic = new Anthropic({ baseURL: provider.url, apiKey: 'key', maxRetries: 0 });
  openai = new OpenAI({ baseURL: `${provider.url}/v1`, apiKey: 'key', maxRetries: 0 });
});

afterAll(() => provider.close());

const text = 'Grüße aus dem 🌿-Haus:\n“フィカス” wächst.';
const koeln = { city: 'Köln 🏰', days: 3 };
const bonn = { city: 'Bonn' };
const scenarios = [
  'text',
  'text-then-tool',
  'two-tools',
  'tool-no-arguments',
  'thinking',
  'length',
  'refusal',
];
const hello = [{ role: 'user' as const, content: 'hello' }];

function messageStream() {
  return anthropic.messages.stream({ model: 'asked-for', max_tokens: 1_000, messages: hello });
}

function chatStream() {
  return openai.chat.completions.stream({
    model: 'asked-for',
    messages: hello,
    stream_options: { include_usage: true },
  });
}

function responseStream() {
  return openai.responses.stream({ model: 'asked-for', input: 'hello' });
}

describe.each(['chat', 'responses'] as const)("Anthropic's SDK at a provider of %s", (dialect) => {
  test.each(scenarios)('accepts the stream of %s', async (scenario) => {
    provider.answer(runFixture('messages', dialect, scenario).text, 'text/event-stream');

    const message = await messageStream().finalMessage();

    expect(message.usage.output_tokens).toBe(25);
    expect(message.stop_reason).not.toBeNull();
  });

  test('puts text and calls together', async () => {
    provider.answer(runFixture('messages', dialect, 'two-tools-interleaved').text, 'text/event-stream');

    const message = await messageStream().finalMessage();

    expect(message.content).toMatchObject([
      { type: 'tool_use', name: 'get_weather', input: koeln },
      { type: 'tool_use', name: 'get_weather', input: bonn },
    ]);
    expect(message.stop_reason).toBe('tool_use');
  });

  test('raises an exception for an error in mid-stream', async () => {
    provider.answer(runFixture('messages', dialect, 'error').text, 'text/event-stream');

    await expect(messageStream().finalMessage()).rejects.toBeInstanceOf(AnthropicError);
  });

  test('raises an exception for a cut stream', async () => {
    provider.answer(runFixture('messages', dialect, 'cut').text, 'text/event-stream');

    await expect(messageStream().finalMessage()).rejects.toThrow(/stream ended|message_stop/i);
  });

  test('reads a whole answer', async () => {
    const { body } = startTranslation('messages', dialect).answer(plainAnswers[dialect]['two tools']);
    provider.answer(JSON.stringify(body), 'application/json');

    const message = await anthropic.messages.create({ model: 'asked-for', max_tokens: 10, messages: hello });

    expect(message.content).toMatchObject([{ input: koeln }, { input: bonn }]);
  });
});

describe.each(['messages', 'responses'] as const)("OpenAI's SDK on chat at a provider of %s", (dialect) => {
  test.each(scenarios)('accepts the stream of %s', async (scenario) => {
    provider.answer(runFixture('chat', dialect, scenario).text, 'text/event-stream');

    const completion = await chatStream().finalChatCompletion();

    expect(completion.choices[0]?.finish_reason).toEqual(expect.any(String));
    expect(completion.usage?.completion_tokens).toBe(25);
  });

  test('puts text and calls together', async () => {
    provider.answer(runFixture('chat', dialect, 'text-then-tool').text, 'text/event-stream');

    const { choices } = await chatStream().finalChatCompletion();

    expect(choices[0]?.message.content).toBe(text);
    expect(choices[0]?.message.tool_calls).toMatchObject([
      { type: 'function', function: { name: 'get_weather', arguments: JSON.stringify(koeln) } },
    ]);
    expect(choices[0]?.finish_reason).toBe('tool_calls');
  });

  test('raises an exception for an error in mid-stream', async () => {
    provider.answer(runFixture('chat', dialect, 'error').text, 'text/event-stream');

    await expect(chatStream().finalChatCompletion()).rejects.toBeInstanceOf(OpenAIError);
  });

  test('raises an exception for a cut stream', async () => {
    provider.answer(runFixture('chat', dialect, 'cut').text, 'text/event-stream');

    await expect(chatStream().finalChatCompletion()).rejects.toThrow(/finish_reason/);
  });

  test('reads a whole answer', async () => {
    const { body } = startTranslation('chat', dialect).answer(plainAnswers[dialect].text);
    provider.answer(JSON.stringify(body), 'application/json');

    const { choices } = await openai.chat.completions.create({ model: 'asked-for', messages: hello });

    expect(choices[0]?.message.content).toBe(plainText);
  });
});

describe.each(['messages', 'chat'] as const)("OpenAI's SDK on responses at a provider of %s", (dialect) => {
  test.each(scenarios)('accepts the stream of %s', async (scenario) => {
    provider.answer(runFixture('responses', dialect, scenario).text, 'text/event-stream');

    const response = await responseStream().finalResponse();

    expect(response.status).toMatch(/completed|incomplete/);
    expect(response.usage?.output_tokens).toBe(25);
  });

  test('puts text and calls together', async () => {
    provider.answer(runFixture('responses', dialect, 'text-then-tool').text, 'text/event-stream');

    const response = await responseStream().finalResponse();

    expect(response.output_text).toBe(text);
    expect(response.output).toMatchObject([
      { type: 'message' },
      { type: 'function_call', name: 'get_weather', arguments: JSON.stringify(koeln) },
    ]);
  });

  test('raises an exception for an error in mid-stream', async () => {
    provider.answer(runFixture('responses', dialect, 'error').text, 'text/event-stream');

    await expect(responseStream().finalResponse()).rejects.toBeInstanceOf(OpenAIError);
  });

  test('reads a whole answer', async () => {
    const { body } = startTranslation('responses', dialect).answer(plainAnswers[dialect].text);
    provider.answer(JSON.stringify(body), 'application/json');

    const response = await openai.responses.create({ model: 'asked-for', input: 'hello' });

    expect(response.output_text).toBe(plainText);
  });
});

describe('a failure of the gateway after the first byte', () => {
  const failure = new GatewayError('provider.timeout', 'the provider went silent');

  test("is an exception of Anthropic's SDK", async () => {
    provider.answer(
      startTranslation('messages', 'chat').stream().fail(failure, 'req_1'),
      'text/event-stream',
    );

    await expect(messageStream().finalMessage()).rejects.toMatchObject({ type: 'timeout_error' });
  });

  test("is an exception of OpenAI's SDK on chat", async () => {
    provider.answer(
      startTranslation('chat', 'messages').stream().fail(failure, 'req_1'),
      'text/event-stream',
    );

    await expect(chatStream().finalChatCompletion()).rejects.toMatchObject({ code: 'provider.timeout' });
  });

  test("is an exception of OpenAI's SDK on responses", async () => {
    provider.answer(
      startTranslation('responses', 'chat').stream().fail(failure, 'req_1'),
      'text/event-stream',
    );

    await expect(responseStream().finalResponse()).rejects.toMatchObject({ message: /went silent/ });
  });
});

describe("a provider's error", () => {
  const tooLong = {
    error: { message: 'maximum context length is 8192 tokens', type: 'invalid_request_error', code: null },
  };

  test("is the right exception of Anthropic's SDK, in words that its clients act on", async () => {
    const body = startTranslation('messages', 'chat').error(400, tooLong);
    provider.answer(JSON.stringify(body), 'application/json', 400);

    await expect(
      anthropic.messages.create({ model: 'asked-for', max_tokens: 10, messages: hello }),
    ).rejects.toMatchObject({
      status: 400,
      type: 'invalid_request_error',
      message: expect.stringContaining('prompt is too long'),
    });
  });

  test("is the right exception of OpenAI's SDK", async () => {
    const overloaded = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };
    provider.answer(
      JSON.stringify(startTranslation('chat', 'messages').error(529, overloaded)),
      'application/json',
      529,
    );

    await expect(
      openai.chat.completions.create({ model: 'asked-for', messages: hello }),
    ).rejects.toMatchObject({
      status: 529,
      type: 'server_error',
      message: '529 Overloaded',
    });
  });
});
