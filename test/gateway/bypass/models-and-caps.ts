import { type Bypass, saying } from './case.ts';

const notAllowed = { status: 403, reason: 'model.not_allowed' };
const tooLong = { status: 403, reason: 'limits.max_output_tokens' };
const noTool = { status: 403, reason: 'tools.not_allowed' };
const field = (at: string) => ({ status: 400, reason: 'request.field', at });

const onEvery = (name: string, more: object, expect: Bypass['expect']): readonly Bypass[] =>
  (['messages', 'chat', 'responses', 'embeddings'] as const).map((endpoint) => ({
    name: `${endpoint}: ${name}`,
    endpoint,
    body: { ...saying(endpoint, 'hello'), ...more },
    expect,
  }));

const cap = (endpoint: Bypass['endpoint'], more: object, expect = tooLong): Bypass => ({
  name: `${endpoint}: ${JSON.stringify(more).slice(0, 70)}`,
  endpoint,
  body: { ...saying(endpoint, 'hello'), ...more },
  expect,
});
export const modelsAndCaps: readonly Bypass[] = [
  ...onEvery('a model that is not allowed', { model: 'gpt-banned' }, notAllowed),
  ...onEvery('an allowed name that is another model there', { model: 'harmless-alias' }, notAllowed),
  ...onEvery('a name whose fallback is not allowed', { model: 'with-fallback' }, notAllowed),
  ...onEvery('an allowed name in capitals', { model: 'GPT-TEST' }, notAllowed),
  ...onEvery('an allowed name with something behind', { model: 'gpt-test/../gpt-banned' }, notAllowed),
  ...onEvery('an allowed name with a host before it', { model: 'openai/gpt-banned' }, notAllowed),
  ...onEvery('a name with a line end', { model: 'gpt-test\n' }, field('/model')),
  ...onEvery('a name with a glob', { model: 'gpt-*' }, field('/model')),
  ...onEvery('a list of names', { model: ['gpt-test', 'gpt-banned'] }, field('/model')),
  ...onEvery('a list of substitutes', { models: ['gpt-test', 'gpt-banned'] }, notAllowed),
  ...onEvery('a list of fallbacks', { fallbacks: ['gpt-banned'] }, notAllowed),
  ...onEvery('a list of fallbacks as objects', { fallbacks: [{ model: 'gpt-banned' }] }, notAllowed),
  ...onEvery('a substitute in a field of another name', { fallback_models: ['gpt-banned'] }, notAllowed),
  cap('responses', { tools: [{ type: 'image_generation', model: 'image-banned' }] }, notAllowed),
  cap(
    'messages',
    { tools: [{ type: 'advisor_20260301', name: 'advisor', model: 'claude-banned' }] },
    notAllowed,
  ),

  cap('messages', { max_tokens: 1001 }),
  cap('messages', { max_tokens: 9_007_199_254_740_991 }),
  cap('messages', { max_tokens: 5, max_output_tokens: 5000 }),
  cap('messages', { max_tokens: 5, max_tokens_to_sample: 5000 }),
  cap('chat', { max_tokens: 5000 }),
  cap('chat', { max_completion_tokens: 5000 }),
  cap('chat', { max_tokens: 1, max_completion_tokens: 5000 }),
  cap('chat', { max_tokens: null, max_completion_tokens: 5000 }),
  cap('chat', { max_output_tokens: 5000 }),
  cap('chat', { maxTokens: 5000 }),
  cap('chat', { 'max-tokens': 5000 }),
  cap('chat', { options: { num_predict: 5000 } }),
  cap('chat', { options: { num_predict: -1 } }),
  cap('chat', { extra_body: { max_tokens: 5000 } }),
  cap('chat', { extra_body: [{ deeper: { maxOutputTokens: 5000 } }] }),
  cap('chat', { generation_config: { max_new_tokens: 5000 } }),
  cap('chat', { options: { num_predict: '5000' } }),
  cap('chat', { options: { num_predict: 1e300 } }),
  cap('responses', { max_output_tokens: 5000 }),
  cap('responses', { max_output_tokens: 5, max_tokens: 5000 }),
  cap('responses', { max_output_tokens: 5, reasoning: { max_tokens: 5000 } }),

  // What is a tool, policy/matchers/tools has; what is no cap, dialects/request-fields.
  cap('messages', { tools: [{ name: 'shell', input_schema: {} }] }, noTool),
  cap('chat', { tools: [{ type: 'function', function: { name: 'shell' } }] }, noTool),
  cap('responses', { tools: [{ type: 'shell' }] }, noTool),
];
