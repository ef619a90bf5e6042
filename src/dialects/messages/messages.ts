import { blockTypes, finishedWhole, nothingFinished, type TextDialect } from '../dialect.ts';
import { fieldTable, messagesFields, toOpenAi } from '../field-table.ts';
import { toFields } from '../fields.ts';
import { membersNamed } from '../usage.ts';
import { messagesCodec } from './codec.ts';
import { isMessagesErrorBody, messagesErrorBody, messagesErrorEvent } from './errors.ts';
import { parseMessagesEventUsage, parseMessagesUsage } from './usage.ts';

const toOthers = fieldTable(messagesFields, toOpenAi('thinking'), { kept: 'metadata' });

const turnRoles = ['user', 'assistant', 'system'] as const;

/**
 * Types of the objects inside a turn, as the API and its betas have them; then contents of results of the provider's own
 * tools; then sources, citations and settings of blocks.
 */
const blocks = blockTypes({
  outer: `text image document search_result thinking redacted_thinking tool_use server_tool_use mcp_tool_use
    container_upload compaction fallback tool_reference browser_state

    web_search_result web_search_tool_result_error web_fetch_result web_fetch_tool_result_error
    code_execution_result code_execution_output encrypted_code_execution_result code_execution_tool_result_error
    bash_code_execution_result bash_code_execution_output bash_code_execution_tool_result_error
    text_editor_code_execution_view_result text_editor_code_execution_create_result
    text_editor_code_execution_str_replace_result text_editor_code_execution_tool_result_error
    tool_search_tool_search_result tool_search_tool_result_error
    advisor_result advisor_redacted_result advisor_tool_result_error

    base64 url content file char_location page_location content_block_location search_result_location
    web_search_result_location ephemeral direct`,
  tool_result: `tool_result mcp_tool_result web_search_tool_result web_fetch_tool_result code_execution_tool_result
    bash_code_execution_tool_result text_editor_code_execution_tool_result tool_search_tool_result
    advisor_tool_result`,
  tool_definition: 'tool_addition tool_removal mcp_tool_listing',
});

/** Anthropic's Messages API, version 2023-06-01. */
export const messages: TextDialect = {
  name: 'messages',
  methods: [
    { path: '/v1/messages', stream: 'asked' },
    {
      path: '/v1/messages/count_tokens',
      stream: false,
      countAnswer: (tokens) => ({ input_tokens: tokens }),
    },
  ],
  operation: 'chat',
  recognizes: (body) => 'messages' in body && ('max_tokens' in body || 'system' in body),
  ownHeaders: { prefix: 'anthropic-', always: ['anthropic-version', '2023-06-01'] },
  limitHeaders({ unit, max, remaining, resetMs, nowMs }) {
    const name = `anthropic-ratelimit-${unit}`;
    const reset = new Date(Math.ceil((nowMs + resetMs) / 1_000) * 1_000).toISOString().replace('.000Z', 'Z');
    return [`${name}-limit`, String(max), `${name}-remaining`, String(remaining), `${name}-reset`, reset];
  },
  needsCap: true,
  storedConversation: 'thread',
  caps: ['max_tokens'],
  required: ['messages'],
  places: new Map([
    ['system', 'system'],
    ['messages', 'turns'],
    ['tools', 'tool_definition'],
  ]),
  settings: ['metadata'],

  turnRole(document, turn) {
    const role = document.member(turn, 'role');
    return role === undefined ? undefined : turnRoles.find((each) => document.isText(role, each));
  },
  blocks,

  answerUsage: (answer) => parseMessagesUsage(toFields(answer).usage),
  // message_start has the input's tokens, message_delta the output's; what comes later overwrites.
  eventUsage: (event, known) => parseMessagesEventUsage(toFields(event), known),
  writtenMembers: membersNamed('content', 'content_block', 'delta'),
  isLastEvent: (head) =>
    /^(?:event: ?(?:message_stop|error)$|data: ?\{"type": ?"(?:message_stop|error)")/m.test(head),
  // For hosts that put the type after other fields and send no event line.
  finishes: (event) => (toFields(event).type === 'message_stop' ? finishedWhole : nothingFinished),
  isErrorBody: isMessagesErrorBody,
  errorBody: messagesErrorBody,
  errorEvent: messagesErrorEvent,
  heartbeat: { name: 'ping', data: '{"type":"ping"}' },

  fieldsTo: { chat: toOthers, responses: toOthers },
  get codec() {
    return messagesCodec;
  },
};
