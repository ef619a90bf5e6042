import { hasModel } from '../../../src/dialects/model-path.ts';
import { dialects } from '../../../src/dialects/registry.ts';
import { dialectNames } from '../../kit/dialects.ts';
import { type Bypass, saying, targetOf } from './case.ts';

const notAllowed = { status: 403, reason: 'model.not_allowed' };
const tooLong = { status: 403, reason: 'limits.max_output_tokens' };
const noTool = { status: 403, reason: 'tools.not_allowed' };
const field = (at: string) => ({ status: 400, reason: 'request.field', at });

const onEvery = (name: string, more: object, expect: Bypass['expect']): readonly Bypass[] =>
  dialectNames.map((endpoint) => ({
    name: `${endpoint}: ${name}`,
    endpoint,
    body: { ...saying(endpoint, 'hello'), ...more },
    expect,
  }));

/** A name is in the body, or where a dialect has it in the path, there: a body may only repeat it. */
const named = (name: string, model: unknown, expect: Bypass['expect']): readonly Bypass[] =>
  onEvery(name, { model }, expect).flatMap((bypass): readonly Bypass[] => {
    const { endpoint } = bypass;
    if (endpoint === 'count_tokens' || !hasModel(dialects[endpoint].methods[0])) return [bypass];
    const inBody = { ...bypass, name: `${bypass.name}, in the body`, expect: field('/model') };
    if (typeof model !== 'string') return [inBody];
    return [inBody, { ...bypass, body: saying(endpoint, 'hello'), target: targetOf(endpoint, model) }];
  });

const cap = (endpoint: Bypass['endpoint'], more: object, expect = tooLong): Bypass => ({
  name: `${endpoint}: ${JSON.stringify(more).slice(0, 70)}`,
  endpoint,
  body: { ...saying(endpoint, 'hello'), ...more },
  expect,
});
export const modelsAndCaps: readonly Bypass[] = [
  ...named('a model that is not allowed', 'gpt-banned', notAllowed),
  ...named('an allowed name that is another model there', 'harmless-alias', notAllowed),
  ...named('a name whose fallback is not allowed', 'with-fallback', notAllowed),
  ...named('an allowed name in capitals', 'GPT-TEST', notAllowed),
  ...named('an allowed name with something behind', 'gpt-test/../gpt-banned', notAllowed),
  ...named('a name with a line end', 'gpt-test\n', field('/model')),
  ...named('a name with a glob', 'gpt-*', field('/model')),
  ...named('a list of names', ['gpt-test', 'gpt-banned'], field('/model')),
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

  // More spellings are in policy/matchers/max-output-tokens, more tools in policy/matchers/tools.
  cap('messages', { max_tokens: 1001 }),
  cap('messages', { max_tokens: 5, max_output_tokens: 5000 }),
  cap('messages', { max_tokens: 5, max_tokens_to_sample: 5000 }),
  cap('chat', { max_completion_tokens: 5000 }),
  cap('chat', { max_tokens: null, max_completion_tokens: 5000 }),
  cap('chat', { 'max-tokens': 5000 }),
  cap('chat', { generation_config: { max_new_tokens: 5000 } }),
  cap('chat', { extra_body: [{ deeper: { maxOutputTokens: 5000 } }] }),
  cap('responses', { max_output_tokens: 5000 }),
  cap('responses', { max_output_tokens: 5, reasoning: { max_tokens: 5000 } }),

  cap('gemini', { generationConfig: { maxOutputTokens: 5000 } }),
  cap('gemini', { generationConfig: { maxOutputTokens: 5 }, generation_config: { maxOutputTokens: 5000 } }),
  cap(
    'gemini',
    { generationConfig: { maxOutputTokens: '5000' } },
    field('/generationConfig/maxOutputTokens'),
  ),
  cap('gemini', { maxOutputTokens: 5000 }),

  cap('messages', { tools: [{ name: 'shell', input_schema: {} }] }, noTool),
  cap('chat', { tools: [{ type: 'function', function: { name: 'shell' } }] }, noTool),
  cap('responses', { tools: [{ type: 'shell' }] }, noTool),
  cap('gemini', { tools: [{ functionDeclarations: [{ name: 'shell' }] }] }, noTool),
  cap('gemini', { tools: { functionDeclarations: { name: 'shell' } } }, noTool),
  cap('gemini', { tools: [{ shell: {} }] }, noTool),
  cap('gemini', { tool_config: { function_calling_config: { allowed_function_names: ['shell'] } } }, noTool),
];
