import { type Bypass, model, saying } from './case.ts';

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
const rawCap = (
  endpoint: 'messages' | 'chat' | 'responses',
  member: string,
  expect: Bypass['expect'],
): Bypass => ({
  name: `${endpoint}: ${member}`,
  endpoint,
  raw: `{"model":"${model[endpoint]}",${endpoint === 'responses' ? '"input":"a"' : '"messages":[]'},${member}}`,
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
  ...onEvery('a name with a NUL', { model: 'gpt-test\0' }, field('/model')),
  ...onEvery('a name with a blank before it', { model: ' gpt-test' }, field('/model')),
  ...onEvery('a name with a zero width space', { model: 'gpt\u200b-test' }, field('/model')),
  ...onEvery('a name in Cyrillic letters', { model: 'gрt-test' }, field('/model')),
  ...onEvery('a name with a glob', { model: 'gpt-*' }, field('/model')),
  ...onEvery('no text for a name', { model: { name: 'gpt-test' } }, field('/model')),
  ...onEvery('a list of names', { model: ['gpt-test', 'gpt-banned'] }, field('/model')),
  ...onEvery('null for a name', { model: null }, field('/model')),
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
  rawCap('messages', '"max_tokens":5e3', tooLong),
  rawCap('chat', '"max_tokens":5000.0', tooLong),
  rawCap('responses', '"max_output_tokens":1.001e3', tooLong),
  rawCap('chat', '"max_\\u0074okens":5000', tooLong),
  rawCap('messages', '"max_tokens":999.99999999999999999999', field('/max_tokens')),
  rawCap('messages', '"max_tokens":-5', field('/max_tokens')),
  rawCap('messages', '"max_tokens":"5"', field('/max_tokens')),
  rawCap('messages', '"max_tokens":[5000]', field('/max_tokens')),
  rawCap('chat', '"max_tokens":true', field('/max_tokens')),
  rawCap('chat', '"max_completion_tokens":9007199254740993', field('/max_completion_tokens')),
  rawCap('chat', '"max_tokens":1e-5', field('/max_tokens')),
  rawCap('responses', '"max_output_tokens":1e400', field('/max_output_tokens')),
  rawCap('chat', '"Max_Tokens":5', field('/Max_Tokens')),
  rawCap('chat', '"stream":"true"', field('/stream')),
  rawCap('responses', '"stream":1', field('/stream')),

  cap('messages', { tools: [{ name: 'shell', input_schema: {} }] }, noTool),
  cap('messages', { tools: [{ type: 'bash_20250124', name: 'run' }] }, noTool),
  cap('messages', { tool_choice: { type: 'tool', name: 'shell' } }, noTool),
  cap('messages', { mcp_servers: [{ type: 'url', url: 'https://example.org', name: 'shell' }] }, noTool),
  cap('messages', { tools: [{ type: 'mcp_toolset', mcp_server_name: 'shell' }] }, noTool),
  cap('chat', { tools: [{ type: 'function', function: { name: 'shell' } }] }, noTool),
  cap('chat', { tools: [{ type: 'custom', custom: { name: 'shell' } }] }, noTool),
  cap('chat', { functions: [{ name: 'shell' }] }, noTool),
  cap('chat', { function_call: { name: 'shell' } }, noTool),
  cap(
    'chat',
    {
      tool_choice: {
        type: 'allowed_tools',
        allowed_tools: { mode: 'auto', tools: [{ type: 'function', function: { name: 'shell' } }] },
      },
    },
    noTool,
  ),
  cap('responses', { tools: [{ type: 'shell' }] }, noTool),
  cap('responses', { tools: [{ type: 'local_shell' }] }, noTool),
  cap(
    'responses',
    { tools: [{ type: 'namespace', name: 'n', tools: [{ type: 'function', name: 'shell' }] }] },
    noTool,
  ),
  cap(
    'responses',
    {
      tools: [
        { type: 'mcp', server_label: 's', server_url: 'https://example.org', allowed_tools: ['shell'] },
      ],
    },
    noTool,
  ),
  cap('responses', { tool_choice: { type: 'function', name: 'shell' } }, noTool),
  cap(
    'responses',
    { input: [{ type: 'additional_tools', tools: [{ type: 'function', name: 'shell' }] }] },
    noTool,
  ),
];
