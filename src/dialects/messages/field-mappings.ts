import {
  answered,
  carried,
  dropped,
  type FieldMapping,
  fieldTable,
  isSet,
  notOpenAi,
  openAi,
  refused,
  renamed,
} from '../field-mapping.ts';
import { isOpenAiReasoningModel, takesReasoningEffort } from '../translation/model-quirks.ts';

const lowered = 'lowered to the limit configured for the model';
const isReasoning: Pick<FieldMapping, 'when' | 'applies'> = {
  when: 'an OpenAI reasoning model',
  applies: (_value, context) => isOpenAiReasoningModel(context),
};
const takesNoEffort: Pick<FieldMapping, 'when' | 'applies'> = {
  when: 'the model is not known to accept an effort',
  applies: (_value, context) => !takesReasoningEffort(context),
};

const common: readonly FieldMapping[] = [
  carried('model', { note: "the model's name at the provider" }),
  carried('stream'),
  dropped('temperature', isReasoning),
  carried('temperature'),
  dropped('top_p', isReasoning),
  carried('top_p'),
  dropped('top_k'),
  renamed('metadata.user_id', 'safety_identifier', { ...openAi, note: 'as a hash' }),
  renamed('metadata.user_id', 'user', { ...notOpenAi, note: 'as a hash' }),
  dropped('cache_control'),
  dropped('container'),
  dropped('context_management'),
  dropped('service_tier'),
  dropped('speed'),
  dropped('user_profile_id'),
  dropped('diagnostics'),
  dropped('betas'),
  refused('mcp_servers', 'tools of an MCP server need the provider to call it; this one does not', isSet),
  dropped('mcp_servers'),
  refused('inference_geo', 'this provider makes no promise about the place of inference'),
  carried('tools', {
    note: 'custom tools, as functions; names over 64 characters get a reversible short form',
  }),
  refused('tools[type]', 'dated server tools', { when: 'there are no other tools, or it is the forced one' }),
  dropped('tools[type]', { when: 'dated server tools beside others' }),
  dropped('tools[].cache_control'),
  dropped('tools[].defer_loading', { note: 'with eager_input_streaming, input_examples, allowed_callers' }),
  carried('tool_choice', { note: 'any becomes required; left out without tools' }),
  renamed('tool_choice.disable_parallel_tool_use', 'parallel_tool_calls', { note: 'true becomes false' }),
  dropped('thinking', takesNoEffort),
  dropped('thinking.type', { when: 'adaptive or disabled' }),
  dropped('output_config.effort', takesNoEffort),
  dropped('messages[].output_config'),
  dropped('messages[].content[].cache_control'),
  dropped('messages[].content[].thinking', { note: 'signed for its provider; redacted_thinking too' }),
  dropped('messages[].content[].server_tool_use', { note: 'with the results of such tools' }),
  refused('messages[].content[].source.file_id', 'files kept at another provider'),
  refused('messages[].content[]', 'blocks of types that are not listed here'),
];

const toChat: readonly FieldMapping[] = [
  carried('messages'),
  renamed('system', 'messages[].content', {
    note: 'one leading system message, blank lines between the blocks',
  }),
  renamed('max_tokens', 'max_completion_tokens', { ...openAi, note: lowered }),
  carried('max_tokens', { ...notOpenAi, note: lowered }),
  renamed('stop_sequences', 'stop', {
    note: 'the first four; the gateway itself ends the answer at the others',
  }),
  renamed('thinking.budget_tokens', 'reasoning_effort', {
    note: 'up to 4,096 low, 16,384 medium, else high',
  }),
  renamed('output_config.effort', 'reasoning_effort', { note: 'xhigh and max become high' }),
  renamed('output_config.format', 'response_format', { note: 'json_schema under the name answer' }),
  renamed('tools[].input_schema', 'tools[].function.parameters', {
    note: 'gets properties if it has none',
  }),
  renamed('tools[].description', 'tools[].function.description'),
  renamed('tools[].strict', 'tools[].function.strict'),
  renamed('messages[].role=system', 'messages[].role', { ...openAi, note: 'a system message in its place' }),
  renamed('messages[].role=system', 'messages[].content', {
    ...notOpenAi,
    note: 'a marked user text in its place',
  }),
  renamed('messages[].content[].text', 'messages[].content', { note: 'one string if there is only text' }),
  renamed('messages[].content[].image', 'messages[].content[].image_url'),
  renamed('messages[].content[].document', 'messages[].content', { when: 'plain text', note: 'as text' }),
  renamed('messages[].content[].document', 'messages[].content[].file', {
    ...openAi,
    when: 'a PDF, at OpenAI',
  }),
  refused('messages[].content[].document', 'PDF elsewhere, and documents at a URL'),
  renamed('messages[].content[].search_result', 'messages[].content', { note: 'as text' }),
  renamed('messages[].content[].tool_use', 'messages[].tool_calls'),
  renamed('messages[].content[].tool_result', 'messages[].tool_call_id', {
    note: 'one tool message per result; images follow in the next user message',
  }),
  renamed('messages[].content[].is_error', 'messages[].content', { note: 'the text begins with Error:' }),
];

const toResponses: readonly FieldMapping[] = [
  renamed('messages', 'input'),
  renamed('system', 'instructions', { note: 'blank lines between the blocks' }),
  renamed('max_tokens', 'max_output_tokens', { note: `${lowered}; at least 16` }),
  answered('stop_sequences', 'the answer is cut there, and the provider is stopped'),
  renamed('thinking.budget_tokens', 'reasoning.effort', {
    note: 'up to 4,096 low, 16,384 medium, else high',
  }),
  renamed('output_config.effort', 'reasoning.effort', { note: 'xhigh and max become high' }),
  renamed('output_config.format', 'text.format', { note: 'json_schema under the name answer' }),
  renamed('tools[].input_schema', 'tools[].parameters', { note: 'gets properties if it has none' }),
  carried('tools[].description'),
  carried('tools[].strict', { note: 'false if absent, because the default is true in this dialect' }),
  renamed('messages[].role=system', 'input[].role', { ...openAi, note: 'a system item in its place' }),
  renamed('messages[].role=system', 'input[].content[].text', { ...notOpenAi, note: 'a marked user text' }),
  renamed('messages[].content[].text', 'input[].content[].text'),
  renamed('messages[].content[].image', 'input[].content[].image_url'),
  renamed('messages[].content[].document', 'input[].content[].text', { when: 'plain text', note: 'as text' }),
  renamed('messages[].content[].document', 'input[].content[].file_url', { when: 'at a URL' }),
  renamed('messages[].content[].document', 'input[].content[].file_data', { when: 'a PDF' }),
  renamed('messages[].content[].search_result', 'input[].content[].text', { note: 'as text' }),
  renamed('messages[].content[].tool_use', 'input[].arguments', { note: 'function_call' }),
  renamed('messages[].content[].tool_result', 'input[].output', {
    note: 'function_call_output, an array if there are images',
  }),
  renamed('messages[].content[].is_error', 'input[].output', { note: 'the text begins with Error:' }),
];

/** By the provider's dialect, the nearest first. */
export const messagesMappings = {
  chat: fieldTable(common, toChat),
  responses: fieldTable(common, toResponses),
};
