import { describe, expect, test } from 'vitest';
import type { DialectName } from '../../../src/dialects/registry.ts';
import { decider, policyOf } from '../deciding.ts';

const decide = policyOf({
  id: 't',
  action: 'block',
  when: { tools: ['shell', 'web_search*', 'bash_*', 'repo'] },
});

const named = (name: string) => ({ type: 'function', name });
const within = (role: string, block: object) => ({ messages: [{ role, content: [block] }] });
const found = (...content: object[]) => within('user', { type: 'tool_result', tool_use_id: 'a', content });
const added = (tool: object) => within('system', { type: 'tool_addition', tool });
const reference = { type: 'tool_reference', tool_name: 'shell' };

// biome-ignore format: a case a line
const offers: readonly (readonly [string, DialectName, unknown, string])[] = [
  ['a tool of messages', 'messages', { tools: [{ name: 'read' }, { name: 'shell', input_schema: {} }] }, '/tools/1/name'],
  ['a server tool', 'messages', { tools: [{ type: 'web_search_20250305', name: 'search' }] }, '/tools/0/type'],
  ['a built-in tool', 'messages', { tools: [{ type: 'bash_20250124', name: 'b' }] }, '/tools/0/type'],
  ['a forced tool', 'messages', { tool_choice: { type: 'tool', name: 'shell' } }, '/tool_choice/name'],
  ['a server', 'messages', { mcp_servers: [{ type: 'url', url: 'https://e.com', name: 'repo' }] }, '/mcp_servers/0/name'],
  ['a single tool of a server', 'messages', { mcp_servers: [{ name: 'a', tool_configuration: { allowed_tools: ['shell'] } }] }, '/mcp_servers/0/tool_configuration/allowed_tools/0'],
  ['a search setting', 'chat', { search_parameters: { mode: 'on' } }, '/search_parameters'],
  ['a search switch', 'chat', { enable_search: true }, '/enable_search'],
  ['a plugin', 'chat', { plugins: [{ id: 'web_search' }] }, '/plugins/0/id'],
  ['a function', 'chat', { tools: [{ type: 'function', function: { name: 'shell' } }] }, '/tools/0/function/name'],
  ['a custom tool', 'chat', { tools: [{ type: 'custom', custom: { name: 'shell' } }] }, '/tools/0/custom/name'],
  ['an old function', 'chat', { functions: [{ name: 'shell' }] }, '/functions/0/name'],
  ['a forced function', 'chat', { tool_choice: { type: 'function', function: { name: 'shell' } } }, '/tool_choice/function/name'],
  ['an allowed tool', 'chat', { tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [{ type: 'function', function: { name: 'shell' } }] } } }, '/tool_choice/allowed_tools/tools/0/function/name'],
  ['an old forced function', 'chat', { function_call: { name: 'shell' } }, '/function_call/name'],
  ['a flat function', 'responses', { tools: [{ type: 'function', name: 'shell' }] }, '/tools/0/name'],
  ['a hosted tool', 'responses', { tools: [{ type: 'shell' }] }, '/tools/0/type'],
  ['a tool in a namespace', 'responses', { tools: [{ type: 'namespace', name: 'n', tools: [named('shell')] }] }, '/tools/0/tools/0/name'],
  ['a server by its label', 'responses', { tools: [{ type: 'mcp', server_label: 'repo', server_url: 'https://e.com' }] }, '/tools/0/server_label'],
  ['a forced hosted tool', 'responses', { tool_choice: { type: 'web_search_preview' } }, '/tool_choice/type'],
  ['a declared function', 'gemini', { tools: [{ functionDeclarations: [{ name: 'shell' }] }] }, '/tools/0/functionDeclarations/0/name'],
  ['a tool of the provider', 'gemini', { tools: { web_search: {} } }, '/tools/web_search'],
  ['a function that may be called', 'gemini', { toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['read', 'shell'] } } }, '/toolConfig/functionCallingConfig/allowedFunctionNames/1'],
  ['one in the other spelling', 'gemini', { tool_config: { function_calling_config: { allowed_function_names: 'shell' } } }, '/tool_config/function_calling_config/allowed_function_names'],
  ['a function of a request that is counted', 'gemini', { generateContentRequest: { tools: [{ functionDeclarations: [{ name: 'shell' }] }] } }, '/generateContentRequest/tools/0/functionDeclarations/0/name'],
  ['a function that may be called in one', 'gemini', { generate_content_request: { toolConfig: { functionCallingConfig: { allowedFunctionNames: ['shell'] } } } }, '/generate_content_request/toolConfig/functionCallingConfig/allowedFunctionNames/0'],
  ['a tool added in the conversation', 'responses', { input: [{ type: 'additional_tools', tools: [named('shell')] }] }, '/input/0/tools/0/name'],
];

const mcp = { type: 'mcp', server_label: 'files', server_url: 'https://e.com' };
const server = { type: 'url', url: 'https://e.com', name: 'files' };
const toolset = { type: 'mcp_toolset', mcp_server_name: 'files' };
const [on, off, later] = [{ enabled: true }, { enabled: false }, { defer_loading: true }];

// biome-ignore format: a case a line
const more: readonly (readonly [string, DialectName, unknown, string])[] = [
  ['a tool of a server that is allowed by a list', 'responses', { tools: [{ ...mcp, allowed_tools: ['read', 'shell'] }] }, '/tools/0/allowed_tools/1'],
  ['a tool of a server that is allowed by a filter', 'responses', { tools: [{ ...mcp, allowed_tools: { tool_names: ['shell'] } }] }, '/tools/0/allowed_tools/tool_names/0'],
  ['a tool that a toolset switches on', 'messages', { tools: [{ ...toolset, default_config: off, configs: { shell: on } }] }, '/tools/0/configs/*'],
  ['a tool of a toolset that loads it later', 'messages', { tools: [{ ...toolset, default_config: { ...off, ...later }, configs: { shell: { ...on, ...later } } }] }, '/tools/0/configs/*'],
  ['a deferred tool', 'messages', { tools: [{ type: 'tool_search_tool_regex_20251119', name: 'find' }, { name: 'shell', ...later }] }, '/tools/1/name'],
  ['a deferred function', 'responses', { tools: [{ type: 'tool_search' }, { ...named('shell'), ...later }] }, '/tools/1/name'],
  ['a tool that was searched', 'messages', found(reference), '/messages/0/content/0/content/0/tool_name'],
  ["a tool that the provider's search found", 'messages', within('assistant', { type: 'tool_search_tool_result', content: { type: 'tool_search_tool_search_result', tool_references: [reference] } }), '/messages/0/content/0/content/tool_references/0/tool_name'],
  ['a tool that is added', 'messages', added({ type: 'tool_definition', definition: { name: 'shell', input_schema: {} } }), '/messages/0/content/0/tool/definition/name'],
  ['a tool of a listing', 'messages', within('assistant', { type: 'mcp_tool_listing', mcp_server_name: 'files', tools: [{ name: 'shell' }] }), '/messages/0/content/0/tools/0/name'],
  ['a tool that a search put out', 'responses', { input: [{ type: 'tool_search_output', tools: [named('shell')] }] }, '/input/0/tools/0/name'],
  ["a server's list of tools", 'responses', { input: [{ type: 'mcp_list_tools', server_label: 'files', tools: [{ name: 'shell' }] }] }, '/input/0/tools/0/name'],
  ['an allowed tool of responses', 'responses', { tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [named('shell')] } }, '/tool_choice/tools/0/name'],
  ['the search that chat switches on by a field', 'chat', { web_search_options: {} }, '/web_search_options'],
];

test.each([...offers, ...more])('finds %s (%s)', (_name, endpoint, body, at) => {
  expect(decide(body, { endpoint }).refusal).toMatchObject({ rule: 't', at });
});

test('a function in a namespace has its own name, and that with the namespace', () => {
  const body = {
    tools: [{ type: 'namespace', name: 'agents', tools: [{ type: 'function', name: 'spawn' }] }],
  };
  const actions = ['spawn', 'agents', 'agents__spawn', 'agents.spawn', 'agents__*', 'other__spawn'].map(
    (name) =>
      policyOf({ id: 't', action: 'block', when: { tools: [name] } })(body, { endpoint: 'responses' }).action,
  );

  expect(actions).toEqual(['block', 'block', 'block', 'block', 'block', 'allow']);
});

// biome-ignore format: a case a line
const unnamed: readonly (readonly [string, DialectName, unknown, string])[] = [
  ['a server without a list', 'responses', { tools: [mcp] }, '/tools/0'],
  ['a server with a list of nothing', 'responses', { tools: [{ ...mcp, allowed_tools: [] }] }, '/tools/0'],
  ['a server with a filter without names', 'responses', { tools: [{ ...mcp, allowed_tools: { read_only: true } }] }, '/tools/0'],
  ['a server without an address', 'responses', { tools: [{ type: 'mcp', server_label: 'files' }] }, '/tools/0'],
  ['a connector', 'responses', { tools: [{ type: 'mcp', server_label: 'box', connector_id: 'connector_dropbox' }] }, '/tools/0'],
  ['a server that is added later', 'responses', { input: [{ type: 'additional_tools', tools: [mcp] }] }, '/input/0/tools/0'],
  ['a toolset', 'messages', { tools: [toolset] }, '/tools/0'],
  ['a toolset without one of its tools', 'messages', { tools: [{ ...toolset, configs: { shell: off } }] }, '/tools/0'],
  ['a toolset that is added later', 'messages', added({ type: 'mcp_toolset_reference', server_name: 'files' }), '/messages/0/content/0/tool'],
  ['a server with all its tools', 'messages', { mcp_servers: [server] }, '/mcp_servers/0'],
  ['a tool without a name', 'chat', { tools: [{ type: 'function', function: {} }] }, '/tools/0'],
];

describe('tools whose names are not in the request', () => {
  test.each(unnamed)('%s may be any (%s)', (_name, endpoint, body, at) => {
    expect(decide(body, { endpoint }).refusal).toMatchObject({ rule: 't', at });
    expect(
      policyOf({ id: 't', action: 'block', unless: { tools: ['files', 'mcp*', 'read'] } })(body, { endpoint })
        .action,
    ).toBe('block');
    expect(policyOf({ id: 't', action: 'block', unless: { tools: ['*'] } })(body, { endpoint }).action).toBe(
      'allow',
    );
  });

  test.each<[DialectName, unknown]>(
    // biome-ignore format: a case a line
    [
      ['responses', { tools: [{ type: 'mcp', server_label: 'files' }] }],
      ['messages', { tools: [toolset] }],
      ['messages', added({ type: 'mcp_toolset_reference', server_name: 'files' })],
    ],
  )('are counted as unseen (%s)', (endpoint, body) => {
    const strict = decider({ unseen_references: 'block' });

    expect(strict(body, { endpoint }).refusal).toMatchObject({ reason: 'content.unseen_reference' });
  });

  test.each<[string, DialectName, unknown]>(
    // biome-ignore format: a case a line
    [
      ['a server with a list', 'responses', { tools: [{ ...mcp, allowed_tools: ['read'] }] }],
      ['a server with a filter', 'responses', { tools: [{ ...mcp, allowed_tools: { tool_names: ['read'] } }] }],
      ['a toolset with what is switched on', 'messages', { tools: [{ ...toolset, default_config: off, configs: { read: on, shell: off } }] }],
      ['a server with a toolset', 'messages', { mcp_servers: [server], tools: [{ ...toolset, default_config: off, configs: { read: on } }] }],
      ['a server with a list of its own', 'messages', { mcp_servers: [{ ...server, tool_configuration: { allowed_tools: ['read'] } }] }],
      ['a tool that is taken away', 'messages', within('system', { type: 'tool_removal', tool: reference })],
      ['functions of a request that is counted', 'gemini', { generateContentRequest: { tools: [{ functionDeclarations: [{ name: 'read' }] }], toolConfig: { functionCallingConfig: { allowedFunctionNames: ['read'] } } } }],
      ['no tools', 'chat', { tools: [] }],
    ],
  )('do not include %s (%s)', (_name, endpoint, body) => {
    expect(decide(body, { endpoint }).action).toBe('allow');
  });
});

test.each([
  ['in another case', { tools: [{ name: 'Shell' }] }],
  ['in Cyrillic letters', { tools: [{ name: 'ѕhеll' }] }],
  ['with an invisible character', { tools: [{ name: 'sh\u200bell' }] }],
  ['with blanks around its name', { tools: [{ name: ' shell\t' }] }],
])('finds a tool %s', (_name, body) => {
  expect(decide(body).action).toBe('block');
});

test("does not take a property's name for a tool", () => {
  const body = {
    tools: [
      { name: 'read', input_schema: { properties: { name: { type: 'shell' }, shell: { name: 'shell' } } } },
    ],
  };

  expect(decide(body).action).toBe('allow');
});

test('in unless every offered tool must match', () => {
  const only = policyOf({ id: 't', action: 'block', unless: { tools: ['read', 'list_*'] } });

  expect(only({ tools: [{ name: 'read' }, { name: 'list_files' }] }).action).toBe('allow');
  expect(only({ tools: [{ name: 'read' }, { name: 'shell' }] }).action).toBe('block');
  expect(only({ messages: [] }).action).toBe('allow');
});

test.each([
  ['chat_template_kwargs', { tools: [{ name: 'shell' }] }],
  ['extra_body', { nested: [{ toolConfig: {} }] }],
  ['tool_config', { function_calling_config: {} }],
  ['generation_config', { mcpServers: [] }],
])('what a host may read tools from under %s counts as tools without names', (field, value) => {
  const decision = decide({ [field]: value });

  expect(decision.action).toBe('block');
  expect(decision.verdicts[0]?.matches[0]?.at).toBe(`/${field}`);
});

test.each([
  ['response_format', { type: 'json_schema', json_schema: { schema: { properties: { tool: {} } } } }],
  ['metadata', { tool: 'cli' }],
  ['stream_options', { include_usage: true }],
  ['logit_bias', { '50256': -100 }],
])('%s does not', (field, value) => {
  expect(decide({ [field]: value }).action).toBe('allow');
});

test('a choice of one tool of a server is that tool, one of a server what its entry says', () => {
  const only = policyOf({ id: 't', action: 'block', unless: { tools: ['mcp', 'files', 'read'] } });
  const server = { ...mcp, allowed_tools: ['read'] };
  const choice = { type: 'mcp', server_label: 'files' };
  const choose = (more: object) => only({ tools: [server], tool_choice: { ...choice, ...more } }).action;
  const allow = (...tools: object[]) =>
    only({ tools: [server], tool_choice: { type: 'allowed_tools', mode: 'auto', tools } }).action;
  const added = { type: 'additional_tools', tools: [server] };

  expect(choose({ name: 'read' })).toBe('allow');
  expect(choose({ name: 'shell' })).toBe('block');
  expect(choose({})).toBe('allow');
  expect(choose({ server_label: 'other' })).toBe('block');
  expect(allow(choice)).toBe('allow');
  expect(allow({ ...choice, server_label: 'other' })).toBe('block');
  expect(only({ tools: [mcp], tool_choice: choice }).action).toBe('block');
  expect(only({ tool_choice: choice }).action).toBe('block');
  expect(only({ input: [added], tool_choice: choice }, { endpoint: 'responses' }).action).toBe('allow');
});
