import {
  carried,
  dropped,
  type FieldMapping,
  fieldTable,
  isOn,
  notOpenAi,
  openAi,
  refused,
  renamed,
} from '../field-mapping.ts';
import {
  isOpenAiReasoningModel,
  takesReasoningEffort,
  takesSampling,
  thinkingControl,
} from '../translation/model-quirks.ts';

const lowered = 'lowered to the limit configured for the model';
const needsState = 'the state is kept at another provider; send the whole conversation';

const common: readonly FieldMapping[] = [
  carried('model', { note: "the model's name at the provider" }),
  carried('stream'),
  refused('previous_response_id', needsState),
  refused('conversation', needsState),
  refused('prompt', needsState),
  refused('background', 'answers cannot be fetched later', isOn),
  dropped('background'),
  dropped('store', { note: 'nothing is stored at the provider' }),
  dropped('include'),
  dropped('client_metadata'),
  dropped('truncation'),
  dropped('context_management'),
  dropped('max_tool_calls'),
  dropped('top_logprobs'),
  dropped('stream_options'),
  dropped('metadata'),
  carried('tools', {
    note: 'functions; those of a namespace as NAMESPACE__NAME; long names in a reversible short form',
  }),
  dropped('tools[type]', { when: 'tools that run at OpenAI' }),
  carried('tool_choice', { note: 'a list of allowed tools removes all others; left out without tools' }),
  refused('tool_choice.type', 'tools that run at OpenAI', { when: 'such a tool is the forced one' }),
  dropped('reasoning.summary', { note: 'with context and mode' }),
  dropped('input[type=reasoning]', { note: 'encrypted for its provider' }),
  dropped('input[type]', { when: 'items of tools that ran at OpenAI' }),
  refused('input[type=item_reference]', 'items kept at another provider'),
  refused('input[type=compaction]', 'a history that another provider has compacted'),
  refused('input[].content[].file_id', 'files kept at another provider'),
];

const toChat: readonly FieldMapping[] = [
  renamed('input', 'messages', {
    note: 'consecutive calls become one assistant message, with the text before them',
  }),
  renamed('instructions', 'messages[].content', { note: 'the leading system message' }),
  renamed('input[].role=developer', 'messages[].content', {
    note: 'system, too; leading ones become one message',
  }),
  renamed('max_output_tokens', 'max_completion_tokens', { ...openAi, note: lowered }),
  renamed('max_output_tokens', 'max_tokens', { ...notOpenAi, note: lowered }),
  dropped('temperature', {
    when: 'an OpenAI reasoning model',
    applies: (_value, context) => isOpenAiReasoningModel(context),
  }),
  carried('temperature'),
  dropped('top_p', {
    when: 'an OpenAI reasoning model',
    applies: (_value, context) => isOpenAiReasoningModel(context),
  }),
  carried('top_p'),
  renamed('text.format', 'response_format'),
  renamed('text.verbosity', 'verbosity', openAi),
  dropped('text.verbosity', notOpenAi),
  dropped('reasoning', {
    when: 'the model is not known to accept an effort',
    applies: (_value, context) => !takesReasoningEffort(context),
  }),
  renamed('reasoning.effort', 'reasoning_effort'),
  carried('parallel_tool_calls'),
  dropped('service_tier', notOpenAi),
  carried('service_tier'),
  dropped('prompt_cache_key', notOpenAi),
  carried('prompt_cache_key'),
  renamed('user', 'safety_identifier', { ...openAi, note: 'as a hash if longer than 64' }),
  carried('user', notOpenAi),
  carried('safety_identifier', { ...openAi, note: 'unless there is a user' }),
  renamed('safety_identifier', 'user', { ...notOpenAi, note: 'unless there is a user' }),
  renamed('tools[].parameters', 'tools[].function.parameters'),
  renamed('tools[].description', 'tools[].function.description'),
  renamed('tools[].strict', 'tools[].function.strict'),
  renamed('tools[type=custom]', 'tools[].function.parameters', {
    note: 'a function with one text parameter',
  }),
  renamed('input[].content[].text', 'messages[].content'),
  renamed('input[].content[].image_url', 'messages[].content[].image_url'),
  renamed('input[].content[].file_data', 'messages[].content[].file', openAi),
  refused('input[].content[].file_data', 'documents other than plain text', notOpenAi),
  refused('input[].content[].file_url', 'documents at a URL'),
  renamed('input[type=function_call]', 'messages[].tool_calls'),
  renamed('input[type=custom_tool_call]', 'messages[].tool_calls', {
    note: 'the text as the parameter input',
  }),
  renamed('input[type=function_call_output]', 'messages[].tool_call_id', {
    note: 'one tool message per result; images follow in the next user message',
  }),
];

const toMessages: readonly FieldMapping[] = [
  renamed('input', 'messages', {
    note: 'consecutive user messages are merged; a call without an output gets an error as result',
  }),
  renamed('instructions', 'system[].text'),
  renamed('input[].role=developer', 'system[].text', { when: 'at the beginning', note: 'system, too' }),
  renamed('input[].role=developer', 'messages[].content[].text', {
    when: 'later',
    note: 'a marked user text',
  }),
  renamed('max_output_tokens', 'max_tokens', { note: `${lowered}; a default where it is absent` }),
  dropped('temperature', {
    when: 'a Claude model that does not accept it',
    applies: (_value, context) => !takesSampling(context),
  }),
  carried('temperature', { note: 'at most 1; dropped beside a thinking budget' }),
  dropped('top_p', {
    when: 'a Claude model that does not accept it',
    applies: (_value, context) => !takesSampling(context),
  }),
  carried('top_p', { note: 'dropped beside a temperature at Anthropic, and beside a thinking budget' }),
  renamed('text.format', 'output_config.format', { when: 'json_schema' }),
  renamed('text.format', 'system[].text', { when: 'json_object', note: 'as an instruction' }),
  dropped('text.verbosity'),
  dropped('reasoning', {
    when: 'a model without thinking',
    applies: (_value, context) => thinkingControl(context) === 'none',
  }),
  renamed('reasoning.effort', 'output_config.effort', { note: 'minimal becomes low' }),
  renamed('reasoning.effort', 'thinking', { when: 'none, or a model with a thinking budget' }),
  renamed('parallel_tool_calls', 'tool_choice.disable_parallel_tool_use', { note: 'false becomes true' }),
  dropped('service_tier'),
  dropped('prompt_cache_key'),
  renamed('user', 'metadata.user_id'),
  renamed('safety_identifier', 'metadata.user_id', { note: 'unless there is a user' }),
  renamed('tools[].parameters', 'tools[].input_schema'),
  carried('tools[].description'),
  carried('tools[].strict', { note: 'only true' }),
  renamed('tools[type=custom]', 'tools[].input_schema', { note: 'a function with one text parameter' }),
  renamed('input[].content[].text', 'messages[].content[].text'),
  renamed('input[].content[].image_url', 'messages[].content[].source', {
    note: 'JPEG, PNG, GIF, WebP, or a URL',
  }),
  renamed('input[].content[].file_data', 'messages[].content[].source', {
    note: 'a document: PDF or plain text',
  }),
  renamed('input[].content[].file_url', 'messages[].content[].source'),
  renamed('input[type=function_call]', 'messages[].content[].input'),
  renamed('input[type=custom_tool_call]', 'messages[].content[].input', {
    note: 'the text as the parameter input',
  }),
  renamed('input[type=function_call_output]', 'messages[].content[].tool_use_id'),
];

/** By the provider's dialect, the nearest first. */
export const responsesMappings = {
  chat: fieldTable(common, toChat),
  messages: fieldTable(common, toMessages),
};
