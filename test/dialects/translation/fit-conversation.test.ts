import { describe, expect, test } from 'vitest';
import type { TranslationContext } from '../../../src/dialects/translation/context.ts';
import { startTranslation } from './run-translation.ts';

// Options of a request as hosts of OpenAI's dialect take them.

function sent(body: object, changes: Partial<TranslationContext>) {
  const tools = [{ name: 'f', input_schema: { type: 'object' } }];
  const messages = [{ role: 'user', content: 'hello' }];
  const request = { model: 'm', max_tokens: 99, messages, tools, ...body };
  return startTranslation('messages', 'chat', undefined, changes).request(request);
}

const forced = { tool_choice: { type: 'any' } };

describe('a forced call', () => {
  test('switches thinking off where the model can do without', () => {
    const { body } = sent(forced, { host: 'deepseek', targetModel: 'deepseek-v4-pro' });

    expect(body).toMatchObject({ tool_choice: 'required', thinking: { type: 'disabled' } });
    expect(sent(forced, { host: 'qwen', targetModel: 'qwen3-max' }).body).toMatchObject({
      tool_choice: 'required',
      enable_thinking: false,
    });
  });

  test.each([
    ['moonshot', 'kimi-k2.7-code'],
    ['openrouter', 'deepseek/deepseek-v4-pro'],
    ['zai', 'glm-5'],
  ] as const)('is wished for only at %s (%s), and the record says so', (host, targetModel) => {
    const { body, dropped } = sent(forced, { host, targetModel });

    expect(body).toMatchObject({ tool_choice: 'auto' });
    expect(body).not.toHaveProperty('thinking');
    expect(dropped).toContain('tool_choice');
  });

  test.each([
    ['moonshot', 'kimi-k3'],
    ['unknown', 'some-model'],
  ] as const)('stays at %s (%s)', (host, targetModel) => {
    expect(sent(forced, { host, targetModel }).body).toMatchObject({ tool_choice: 'required' });
  });
});

test('no thinking is asked for by the switch of the host', () => {
  const none = { tools: [], tool_choice: undefined, output_config: undefined };
  const { body } = startTranslation('chat', 'responses').request({ model: 'm', messages: [] });
  const chat = startTranslation('responses', 'chat', undefined, {
    host: 'moonshot',
    targetModel: 'kimi-k2.6',
  });

  expect(chat.request({ model: 'm', input: 'x', reasoning: { effort: 'none' } }).body).toMatchObject({
    thinking: { type: 'disabled' },
  });
  expect(body).not.toHaveProperty('thinking');
  expect(sent(none, { host: 'moonshot', targetModel: 'kimi-k2.6' }).body).not.toHaveProperty('thinking');
});

test('a choice of no tool is an offer of none where the host knows only auto', () => {
  const { body } = sent({ tool_choice: { type: 'none' } }, { host: 'zai', targetModel: 'glm-5' });

  expect(body).not.toHaveProperty('tools');
  expect(body).not.toHaveProperty('tool_choice');
});

test('fixed temperatures are left out, whatever the client calls them', () => {
  const gemini = startTranslation('gemini', 'chat', undefined, {
    host: 'moonshot',
    targetModel: 'kimi-k2.6',
  });
  const contents = [{ role: 'user', parts: [{ text: 'x' }] }];
  const { body, dropped } = gemini.request({ contents, generationConfig: { temperature: 0.2, topP: 0.5 } });

  expect(body).not.toHaveProperty('temperature');
  expect(dropped).toEqual(expect.arrayContaining(['temperature', 'top_p']));
});

test.each([
  ['mistral', { stream: true }],
  ['zai', { stream: true, user: expect.any(String) as unknown }],
  ['unknown', { stream: true, stream_options: { include_usage: true }, user: expect.any(String) as unknown }],
] as const)('%s is asked for no more than it knows', (host, expected) => {
  const { body } = sent({ stream: true, metadata: { user_id: 'me' } }, { host, targetModel: 'm' });
  const { model: _, messages: _m, tools: _t, max_tokens: _c, ...others } = body as Record<string, unknown>;

  expect(others).toEqual(expected);
});
