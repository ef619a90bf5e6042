import { expect, test } from 'vitest';
import type { DialectName } from '../../../src/dialects/registry.ts';
import { policyOf } from '../deciding.ts';

const rule = (absent: string) => ({
  id: 'c',
  action: 'block',
  when: { max_output_tokens: { over: 1000, absent } },
});
const decide = policyOf(rule('allow'));

// biome-ignore format: a case a line
const bodies: readonly (readonly [string, DialectName, unknown, string | undefined])[] = [
  ['a cap that is small enough', 'messages', { max_tokens: 1000 }, undefined],
  ['a cap that is too large', 'messages', { max_tokens: 1001 }, '/max_tokens'],
  ['the larger of two', 'chat', { max_tokens: 10, max_completion_tokens: 2000 }, '/max_completion_tokens'],
  ["another dialect's name", 'messages', { max_tokens: 10, max_output_tokens: 2000 }, '/max_output_tokens'],
  ['another case', 'messages', { max_tokens: 10, Max_Tokens: 2000 }, '/Max_Tokens'],
  ['camel case', 'chat', { maxTokens: 2000 }, '/maxTokens'],
  ['a nested option', 'chat', { options: { num_predict: 2000 } }, '/options/num_predict'],
  ['a nested configuration', 'chat', { extra_body: { generationConfig: { maxOutputTokens: 2000 } } }, '/extra_body/generationConfig/maxOutputTokens'],
  ['a number in a string', 'chat', { extra: { max_tokens: '10' } }, '/*/max_tokens'],
  ['a negative number', 'chat', { extra: { max_tokens: -1 } }, '/*/max_tokens'],
  ['zero, which some hosts take for none', 'chat', { max_tokens: 0 }, '/max_tokens'],
  ['a fraction', 'chat', { extra: { max_tokens: 10.5 } }, '/*/max_tokens'],
  ['an exponent', 'messages', '{"max_tokens":1e9}', '/max_tokens'],
  ['no cap', 'messages', { messages: [] }, undefined],
  ['null for a cap', 'chat', { max_tokens: null }, undefined],
  ['the property of a tool', 'messages', { max_tokens: 5, tools: [{ input_schema: { properties: { max_tokens: 5000 } } }] }, undefined],
  ['the cap of a tool that asks a model', 'messages', { max_tokens: 5, tools: [{ type: 'advisor_20260301', name: 'a', max_tokens: 5000 }] }, '/tools/0/max_tokens'],
  ['the property of an answer', 'chat', { response_format: { json_schema: { name: 'a', schema: { properties: { max_tokens: {} } } } } }, undefined],
  ["somebody's data", 'messages', { max_tokens: 5, messages: [{ role: 'user', content: [{ max_tokens: 5000 }] }] }, undefined],
];

test.each(bodies)('%s (%s)', (_name, endpoint, body, at) => {
  expect(decide(body, { endpoint }).refusal?.at).toBe(at);
});

test('may block a request without a cap', () => {
  expect(policyOf(rule('block'))({ messages: [] }).action).toBe('block');
  expect(policyOf(rule('block'))({ max_tokens: 5 }).action).toBe('allow');
});

// What a host ignores bounds nothing.
const ignored: readonly (readonly [DialectName, object])[] = [
  ['chat', { extra_body: { max_tokens: 1 } }],
  ['chat', { options: { num_predict: 1 } }],
  ['chat', { max_output_tokens: 1 }],
  ['chat', { maxTokens: 1 }],
  ['responses', { max_tokens: 1 }],
  ['responses', { reasoning: { max_tokens: 1 } }],
  ['messages', { fallbacks: [{ model: 'm', max_tokens: 1 }] }],
  ['messages', { tools: [{ type: 'advisor_20260301', name: 'a', max_tokens: 1 }] }],
];
const own = {
  messages: { max_tokens: 5 },
  chat: { max_completion_tokens: 5 },
  responses: { max_output_tokens: 5 },
  gemini: { generationConfig: { maxOutputTokens: 5 } },
  embeddings: {},
  gemini_embeddings: {},
} as const;

test.each(ignored)("a cap that is not the dialect's own does not stand for it (%s %j)", (endpoint, body) => {
  const strict = policyOf(rule('block'));
  expect(strict(body, { endpoint }).action).toBe('block');
  expect(strict({ ...body, ...own[endpoint] }, { endpoint }).action).toBe('allow');
});
