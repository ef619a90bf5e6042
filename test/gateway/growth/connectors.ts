import type { DialectName } from '../../../src/dialects/registry.ts';
import type { Body } from '../leaks/shapes.ts';

const url = 'https://mcp.example.org';
const asked = { server_label: 'files_1', name: 'read_1', arguments: '{}' };
const listed = { name: 'read_1', description: 'reads', input_schema: { type: 'object' } };

/**
 * Requests whose tools belong to servers that their hosts ask: what is named in one list is looked up in another. Lists
 * that grow together have none inside.
 */
const requests: Partial<Record<DialectName, readonly Body[]>> = {
  messages: [
    {
      max_tokens: 16,
      messages: [{ role: 'user', content: 'hello' }],
      mcp_servers: [{ type: 'url', name: 'files_1', url }],
      tools: [{ type: 'mcp_toolset', mcp_server_name: 'files_1', configs: { read_1: { enabled: true } } }],
    },
  ],
  responses: [
    {
      input: [
        { type: 'mcp_call', id: 'm_1', ...asked },
        { type: 'mcp_approval_request', id: 'a_1', ...asked },
        { type: 'mcp_approval_response', approval_request_id: 'a_1', approve: true },
      ],
      tools: [{ type: 'mcp', server_label: 'files_1', server_url: url }],
      tool_choice: { type: 'mcp', server_label: 'files_1', name: 'read_1' },
    },
    {
      input: [{ type: 'mcp_list_tools', id: 'l_1', server_label: 'files_1', tools: [listed] }],
      tools: [{ type: 'mcp', server_label: 'files_1', server_url: url, allowed_tools: ['read_1'] }],
    },
  ],
};

export function connectorsOf(dialect: DialectName): readonly Body[] {
  return requests[dialect] ?? [];
}
