import { expect, test } from 'vitest';
import type { DialectName } from '../../../src/dialects/registry.ts';
import { policyOf } from '../deciding.ts';

const decide = policyOf({
  id: 't',
  action: 'block',
  when: { tools: ['shell', 'web_search*', 'bash_*', 'repo'] },
});

const offers: readonly (readonly [string, DialectName, unknown, string])[] = [
  [
    'a tool of messages',
    'messages',
    { tools: [{ name: 'read' }, { name: 'shell', input_schema: {} }] },
    '/tools/1/name',
  ],
  [
    'a server tool',
    'messages',
    { tools: [{ type: 'web_search_20250305', name: 'search' }] },
    '/tools/0/type',
  ],
  ['a built-in tool', 'messages', { tools: [{ type: 'bash_20250124', name: 'b' }] }, '/tools/0/type'],
  ['a forced tool', 'messages', { tool_choice: { type: 'tool', name: 'shell' } }, '/tool_choice/name'],
  [
    'a server',
    'messages',
    { mcp_servers: [{ type: 'url', url: 'https://e.com', name: 'repo' }] },
    '/mcp_servers/0/name',
  ],
  [
    'a single tool of a server',
    'messages',
    { mcp_servers: [{ name: 'a', tool_configuration: { allowed_tools: ['shell'] } }] },
    '/mcp_servers/0/tool_configuration/allowed_tools/0',
  ],
  [
    'a function',
    'chat',
    { tools: [{ type: 'function', function: { name: 'shell' } }] },
    '/tools/0/function/name',
  ],
  [
    'a custom tool',
    'chat',
    { tools: [{ type: 'custom', custom: { name: 'shell' } }] },
    '/tools/0/custom/name',
  ],
  ['an old function', 'chat', { functions: [{ name: 'shell' }] }, '/functions/0/name'],
  [
    'a forced function',
    'chat',
    { tool_choice: { type: 'function', function: { name: 'shell' } } },
    '/tool_choice/function/name',
  ],
  [
    'an allowed tool',
    'chat',
    {
      tool_choice: {
        type: 'allowed_tools',
        allowed_tools: { mode: 'auto', tools: [{ type: 'function', function: { name: 'shell' } }] },
      },
    },
    '/tool_choice/allowed_tools/tools/0/function/name',
  ],
  ['an old forced function', 'chat', { function_call: { name: 'shell' } }, '/function_call/name'],
  ['a flat function', 'responses', { tools: [{ type: 'function', name: 'shell' }] }, '/tools/0/name'],
  ['a hosted tool', 'responses', { tools: [{ type: 'shell' }] }, '/tools/0/type'],
  [
    'a tool in a namespace',
    'responses',
    { tools: [{ type: 'namespace', name: 'n', tools: [{ type: 'function', name: 'shell' }] }] },
    '/tools/0/tools/0/name',
  ],
  [
    'a server by its label',
    'responses',
    { tools: [{ type: 'mcp', server_label: 'repo', server_url: 'https://e.com' }] },
    '/tools/0/server_label',
  ],
  ['a forced hosted tool', 'responses', { tool_choice: { type: 'web_search_preview' } }, '/tool_choice/type'],
  [
    'a tool added in the conversation',
    'responses',
    { input: [{ type: 'additional_tools', tools: [{ type: 'function', name: 'shell' }] }] },
    '/input/0/tools/0/name',
  ],
];

test.each(offers)('finds %s (%s)', (_name, endpoint, body, at) => {
  expect(decide(body, { endpoint }).refusal).toMatchObject({ rule: 't', at });
});

test.each([
  ['in another case', { tools: [{ name: 'Shell' }] }],
  ['in Cyrillic letters', { tools: [{ name: 'ѕhеll' }] }],
  ['with an invisible character', { tools: [{ name: 'sh\u200bell' }] }],
])('finds a tool %s', (_name, body) => {
  expect(decide(body).action).toBe('block');
});

test('takes no name of a property for a tool', () => {
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
