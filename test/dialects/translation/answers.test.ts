import { describe, expect, test } from 'vitest';
import type { TextDialectName } from '../../../src/dialects/registry.ts';
import { directions, textDialects } from '../../kit/dialects.ts';
import { startTranslation } from './run-translation.ts';

// biome-ignore lint/suspicious/noExplicitAny: the shape is what is being tested
function answer(client: TextDialectName, provider: TextDialectName, body: unknown): any {
  return startTranslation(client, provider).answer(body).body;
}

describe.each(directions)('a %s client at a provider of %s', (client, provider) => {
  const malformedCall = { candidates: [{ finishReason: 'MALFORMED_FUNCTION_CALL' }] };

  test.each([[null], [[]], ['text'], [{}], [{ error: { message: 'no' } }], [malformedCall]])(
    'refuses %j as an answer',
    (body) => {
      expect(() => answer(client, provider, body)).toThrow(
        expect.objectContaining({ code: 'provider.broken_response' }),
      );
    },
  );
});

test.each(textDialects.filter((name) => name !== 'gemini'))(
  'a %s client is told of a prompt that Gemini blocked',
  (client) => {
    const body = { promptFeedback: { blockReason: 'PROHIBITED_CONTENT' } };

    expect(JSON.stringify(answer(client, 'gemini', body))).toMatch(/refusal|content_filter/);
  },
);

describe('what models and hosts get wrong', () => {
  const withArguments = (value: unknown) => ({
    choices: [{ message: { tool_calls: [{ id: 'c.1', function: { name: 'f', arguments: value } }] } }],
  });

  test.each([
    ['nothing', '', {}],
    ['broken JSON', '{"city": ', { raw_arguments: '{"city": ' }],
    ['no object', '[1]', { raw_arguments: '[1]' }],
    ['the object itself', { a: 1 }, { a: 1 }],
  ])('arguments that are %s never throw', (_name, value, input) => {
    const { content, stop_reason } = answer('messages', 'chat', withArguments(value));

    expect(content).toEqual([{ type: 'tool_use', id: 'c2e1', name: 'f', input }]);
    expect(stop_reason).toBe('tool_use');
  });

  test('an answer with neither text nor calls has no blocks', () => {
    const body = { choices: [{ message: { content: '' }, finish_reason: null }] };

    expect(answer('messages', 'chat', body)).toMatchObject({ content: [], stop_reason: 'end_turn' });
  });

  test('a failed response is not an answer', () => {
    const body = { status: 'failed', error: { code: 'server_error', message: 'no' }, output: [] };

    expect(() => answer('chat', 'responses', body)).toThrow(
      expect.objectContaining({ code: 'provider.broken_response' }),
    );
  });

  test('cached tokens never make the input negative', () => {
    const body = {
      choices: [{ message: { content: 'x' } }],
      usage: { prompt_tokens: 5, completion_tokens: 1, prompt_tokens_details: { cached_tokens: 9 } },
    };

    expect(answer('messages', 'chat', body).usage).toMatchObject({
      input_tokens: 0,
      cache_read_input_tokens: 9,
    });
  });
});
