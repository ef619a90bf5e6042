import { describe, expect, test } from 'vitest';
import type { Option } from '../kit/conversations.ts';
import { askBySdk, type Outcome } from '../kit/sdk-outcome.ts';
import { startClients } from './clients.ts';

// What the sandbox decides, the same in each dialect whether plain or streamed, as the official SDKs understand it.

const { url } = await startClients();
const helloText = 'The sandbox read: "hello 🌍". It works offline and always replies the same way.';
const called = { name: 'get_weather', input: { city: 'sandbox', days: 1 } };
const turns = { messages: [{ role: 'user', content: 'hello 🌍' }] };

const words = {
  messages: {
    hello: turns,
    capped: { ...turns, max_tokens: 3 },
    forced: { tool_choice: { type: 'tool', name: 'get_weather' } },
    off: { ...turns, tool_choice: { type: 'none' } },
  },
  chat: {
    hello: turns,
    capped: { ...turns, max_completion_tokens: 3 },
    forced: { tool_choice: { type: 'function', function: { name: 'get_weather' } } },
    off: { ...turns, tool_choice: 'none' },
  },
  responses: {
    hello: { input: 'hello 🌍' },
    capped: { input: 'hello 🌍', max_output_tokens: 3 },
    forced: { tool_choice: { type: 'function', name: 'get_weather' } },
    off: { input: 'hello 🌍', tool_choice: 'none' },
  },
} as const;

interface Case {
  readonly model: string;
  readonly option: Option;
  readonly more?: keyof (typeof words)['chat'];
  readonly expected: Partial<Outcome>;
}

// biome-ignore format: a case a line
const cases: Readonly<Record<string, Case>> = {
  'answers with a text built from the last user text': { model: 'sandbox-mini', option: 'text', more: 'hello', expected: { text: helloText, thinking: '', calls: [], finish: 'stop', outputTokens: 20 } },
  'cuts the text at the cap': { model: 'sandbox-mini', option: 'text', more: 'capped', expected: { text: 'The sandbox ', finish: 'length', outputTokens: 3 } },
  'obeys a forced tool': { model: 'sandbox-mini', option: 'tools', more: 'forced', expected: { calls: [called], finish: 'tools' } },
  'obeys a forced tool after thinking': { model: 'sandbox-think', option: 'tools', more: 'forced', expected: { calls: [called], finish: 'tools' } },
  'obeys a forced tool with a long text to say': { model: 'sandbox-long', option: 'tools', more: 'forced', expected: { calls: [called], finish: 'tools' } },
  'calls a tool unasked': { model: 'sandbox-tool', option: 'tools', expected: { calls: [called], finish: 'tools' } },
  'calls no tool when tools are off': { model: 'sandbox-tool', option: 'tools', more: 'off', expected: { calls: [], text: helloText, finish: 'stop' } },
  'reports the result of a tool': { model: 'sandbox-tool', option: 'tool result', expected: { calls: [], text: expect.stringContaining('sunny, 21 °C'), finish: 'stop' } },
  'thinks before the text': { model: 'sandbox-think', option: 'thinking', more: 'hello', expected: { thinking: expect.stringContaining('A short reply'), text: helloText, outputTokens: 37 } },
  'writes JSON of the asked schema': { model: 'sandbox-mini', option: 'structured', expected: { text: '{"city":"sandbox","days":1}' } },
};

describe.each(Object.keys(words) as (keyof typeof words)[])('%s', (client) => {
  const ask = (model: string, isStream: boolean, option: Option = 'text', more: object = {}) =>
    askBySdk({ url: url, key: 'x' }, { client, model, option, isStream, more });

  test.each(Object.entries(cases))('%s', async (_name, { model, option, more, expected }) => {
    const members = more === undefined ? {} : words[client][more];

    const plain = await ask(model, false, option, members);

    expect(plain).toMatchObject(expected);
    expect(plain.inputTokens).toBeGreaterThan(2);
    expect(await ask(model, true, option, members)).toEqual(plain);
  });

  test.each([false, true])('a cut answer does not arrive (stream: %s)', async (isStream) => {
    await expect(ask('sandbox-cut', isStream)).rejects.toThrow();
  });

  test.each([
    [400, 'invalid_request_error', 'invalid_request_error', null],
    [401, 'authentication_error', 'invalid_request_error', 'invalid_api_key'],
    [402, 'billing_error', expect.any(String), null],
    [403, 'permission_error', 'invalid_request_error', null],
    [404, 'not_found_error', 'invalid_request_error', 'model_not_found'],
    [408, 'timeout_error', expect.any(String), null],
    [409, 'conflict_error', 'invalid_request_error', null],
    [413, 'request_too_large', expect.any(String), null],
    [422, 'invalid_request_error', 'invalid_request_error', null],
    [429, 'rate_limit_error', 'rate_limit_exceeded', 'rate_limit_exceeded'],
    [500, 'api_error', 'server_error', null],
    [503, 'api_error', 'server_error', null],
    [504, 'timeout_error', 'server_error', null],
    [529, 'overloaded_error', 'server_error', null],
    [599, 'api_error', 'server_error', null],
  ])('sandbox-error-%i is an error of type %s or %s', async (status, ofMessages, ofOthers, code) => {
    const error = { status, requestID: expect.stringMatching(/^req_/) };

    await expect(ask(`sandbox-error-${status}`, true)).rejects.toMatchObject(
      client === 'messages' ? { ...error, type: ofMessages } : { ...error, type: ofOthers, code },
    );
  });
});
