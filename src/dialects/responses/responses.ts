import type { JsonDocument } from '../../json/json-document.ts';
import { blockTypes, finishedWhole, nothingFinished, type Role, type TextDialect } from '../dialect.ts';
import { betweenOpenAi, fieldTable, responsesFields, toMessages, toOpenAi } from '../field-table.ts';
import { toFields } from '../fields.ts';
import { minResponsesCap } from '../translation/context.ts';
import { isOpenAiErrorBody, openAiErrorBody, openAiLimitHeaders } from '../translation/openai.ts';
import { membersNamed } from '../usage.ts';
import { responsesCodec } from './codec.ts';
import { responsesErrorEvent } from './errors.ts';
import { parseResponseUsage } from './usage.ts';

const lastTypes = new Set<unknown>(['response.completed', 'response.incomplete', 'response.failed']);

const fieldsTo = {
  chat: fieldTable(responsesFields, betweenOpenAi, toOpenAi('reasoning')),
  messages: fieldTable(responsesFields, toMessages('reasoning')),
};

/** Input items other than messages, by their type; those that anybody may have written have no single role. */
export const items: ReadonlyMap<string, Role | 'outer' | undefined> = new Map([
  ...blockTypes({
    assistant: `reasoning function_call custom_tool_call computer_call image_generation_call local_shell_call
      shell_call apply_patch_call tool_search_call mcp_approval_request program`,
    tool_result: `function_call_output custom_tool_call_output computer_call_output local_shell_call_output
      shell_call_output apply_patch_call_output program_output`,
    user: 'mcp_approval_response',
    tool_definition: 'additional_tools tool_search_output mcp_list_tools',
  }),
  // Calls that carry their own results.
  ...['web_search_call', 'file_search_call', 'code_interpreter_call', 'mcp_call'].map(ofNobody),
  ...['item_reference', 'compaction', 'compaction_trigger', 'configuration_update'].map(ofNobody),
]);

function ofNobody(type: string): readonly [string, undefined] {
  return [type, undefined];
}

/** Types of the objects inside an item; then annotations, actions and results of the provider's own tools. */
const blocks = blockTypes({
  outer: `input_text output_text input_image input_file input_audio refusal summary_text reasoning_text
    computer_screenshot

    url_citation file_citation container_file_citation file_path logs image search open_page find_in_page url exec
    click double_click drag keypress move screenshot scroll type wait exit timeout create_file update_file
    delete_file direct program`,
});

const messageRoles = new Map<string | undefined, Role>([
  ['system', 'system'],
  ['developer', 'system'],
  ['user', 'user'],
  ['assistant', 'assistant'],
]);

/** An item that has both a type of its own and a role would be read by one host as this, by another as that. */
function itemRole(document: JsonDocument, item: number): Role | undefined {
  const type = document.member(item, 'type');
  const name = document.memberText(item, 'type');
  if (type === undefined || name === 'message') return messageRoles.get(document.memberText(item, 'role'));
  if (name === undefined || document.member(item, 'role') !== undefined) return undefined;
  return items.get(name) as Role | undefined; // no item has the role of what holds it
}

/** OpenAI's Responses API. */
export const responses: TextDialect = {
  name: 'responses',
  methods: [
    { path: '/v1/responses', stream: 'asked' },
    {
      path: '/v1/responses/input_tokens',
      stream: false,
      countAnswer: (tokens) => ({ object: 'response.input_tokens', input_tokens: tokens }),
    },
    // Its answer is a history in a form that only the host reads.
    { path: '/v1/responses/compact', stream: false, isUntranslatable: true },
  ],
  operation: 'chat',
  recognizes: (body) => 'input' in body,
  limitHeaders: openAiLimitHeaders,
  minCap: minResponsesCap,
  laterField: 'background',
  caps: ['max_output_tokens'],
  required: [],
  places: new Map([
    ['instructions', 'system'],
    ['input', 'turns'],
    ['tools', 'tool_definition'],
  ]),
  settings: ['text'],

  turnRole: itemRole,
  blocks,

  answerUsage: (answer) => parseResponseUsage(toFields(answer)),
  eventUsage: (event, known) => parseResponseUsage(toFields(toFields(event).response)) ?? known,
  // A stream repeats each item once it is whole, so its texts count twice there.
  writtenMembers: membersNamed('output', 'item', 'delta'),
  isLastEvent: (head) =>
    /^(?:event: ?|data: ?\{"type": ?")(?:response\.(?:completed|incomplete|failed)|error)(?:"|$)/m.test(head),
  // For hosts that put the type after other fields and send no event line.
  finishes: (event) => (lastTypes.has(toFields(event).type) ? finishedWhole : nothingFinished),
  isErrorBody: isOpenAiErrorBody,
  errorBody: openAiErrorBody,
  errorEvent: responsesErrorEvent,
  // As OpenAI's own host sends; Codex takes no comment for a sign of life.
  heartbeat: { name: 'keepalive', data: '{"type":"keepalive"}' },

  fieldsTo,
  get codec() {
    return responsesCodec;
  },
};
