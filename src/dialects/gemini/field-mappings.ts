import {
  answered,
  dropped,
  type FieldMapping,
  fieldTable,
  isOn,
  isSet,
  refused,
  renamed,
} from '../field-mapping.ts';
import { geminiThinking } from '../translation/model-quirks.ts';

const allDropped = (...fields: readonly string[]) => fields.map((field) => dropped(field));

const inPath = 'in the path';
const lowered = 'lowered to the limit configured for the model';
const thinksNot: Pick<FieldMapping, 'when' | 'applies'> = {
  when: 'a model without thinking',
  applies: (_value, context) => geminiThinking(context) === 'none',
};

// Written by a client of this dialect, in camelCase; snake_case means the same.

const common: readonly FieldMapping[] = [
  answered('model', `the name ${inPath} counts, and another one is refused`),
  refused('cachedContent', 'content kept at another provider'),
  ...allDropped('safetySettings', 'labels', 'serviceTier', 'store'),
  refused('generationConfig.candidateCount', 'only one choice can be answered', { when: 'above 1' }),
  refused('generationConfig.responseLogprobs', 'this provider has no log probabilities', { when: 'true' }),
  refused('generationConfig.responseModalities', 'only text can be answered', {
    when: 'contains anything but TEXT',
  }),
  dropped('generationConfig.topK', {
    note: 'with seed, penalties, logprobs, mediaResolution, imageConfig, speechConfig',
  }),
  refused('tools[].googleSearch', "the provider's own tools", { when: 'there are no functions' }),
  dropped('tools[].googleSearch', { when: "the provider's own tools beside functions" }),
  dropped('contents[].parts[].thought', { note: 'with its signature' }),
  dropped('contents[].parts[].executableCode', { note: 'with codeExecutionResult, toolCall, toolResponse' }),
  refused('contents[].parts[].fileData', 'files kept at Google, and videos', { when: 'a file of Google' }),
];

interface Places {
  readonly contents: string;
  readonly text: string;
  readonly system: string;
  readonly cap: string;
  readonly stop?: string;
  readonly format: string;
  readonly parameters: string;
  readonly description: string;
  readonly call: string;
  readonly result: string;
  readonly media: string;
}

function toOther(places: Places): readonly FieldMapping[] {
  const note = 'the gateway itself ends the answer at those that the provider does not take';
  return [
    renamed('contents', places.contents),
    renamed('systemInstruction', places.system),
    renamed('generationConfig.maxOutputTokens', places.cap, { note: lowered }),
    renamed('generationConfig.temperature', 'temperature'),
    renamed('generationConfig.topP', 'top_p'),
    places.stop === undefined
      ? answered('generationConfig.stopSequences', 'the answer is cut there, and the provider is stopped')
      : renamed('generationConfig.stopSequences', places.stop, { note }),
    renamed('generationConfig.responseJsonSchema', places.format, {
      note: 'responseSchema too; JSON without a schema as a JSON mode or an instruction',
    }),
    dropped('generationConfig.thinkingConfig', { when: 'the model is not known to accept an effort' }),
    renamed('tools[].functionDeclarations', 'tools'),
    renamed('tools[].functionDeclarations[].parameters', places.parameters, {
      note: 'types in lower case; parametersJsonSchema as it is',
    }),
    renamed('tools[].functionDeclarations[].description', places.description),
    renamed('toolConfig', 'tool_choice', { note: 'allowedFunctionNames removes all others' }),
    renamed('contents[].parts[].text', places.text),
    renamed('contents[].parts[].inlineData', places.media, { note: 'images, PDF and plain text' }),
    renamed('contents[].parts[].functionCall', places.call),
    renamed('contents[].parts[].functionResponse', places.result, {
      note: 'output or error as a text, any other object as JSON; responses without an id by name, in order',
    }),
  ];
}

/** By the provider's dialect, the nearest first. */
export const geminiMappings = {
  chat: fieldTable(
    common,
    toOther({
      contents: 'messages',
      text: 'messages[].content',
      system: 'messages[].content',
      cap: 'max_tokens',
      stop: 'stop',
      format: 'response_format',
      parameters: 'tools[].function.parameters',
      description: 'tools[].function.description',
      call: 'messages[].tool_calls',
      result: 'messages[].content',
      media: 'messages[].content[].image_url',
    }),
  ),
  messages: fieldTable(
    common,
    toOther({
      contents: 'messages',
      text: 'messages[].content[].text',
      system: 'system[].text',
      cap: 'max_tokens',
      stop: 'stop_sequences',
      format: 'output_config.format',
      parameters: 'tools[].input_schema',
      description: 'tools[].description',
      call: 'messages[].content[].input',
      result: 'messages[].content[].content',
      media: 'messages[].content[].source',
    }),
  ),
  responses: fieldTable(
    common,
    toOther({
      contents: 'input',
      text: 'input[].content[].text',
      system: 'instructions',
      cap: 'max_output_tokens',
      format: 'text.format',
      parameters: 'tools[].parameters',
      description: 'tools[].description',
      call: 'input[].arguments',
      result: 'input[].output',
      media: 'input[].content[].image_url',
    }),
  ),
};

// Of clients of other dialects, which know nothing of this one.

const config = 'generationConfig';
const functions = 'tools[].functionDeclarations';

const unanswered = { note: 'a call without a result gets an error as result' };
const orInline = { note: 'or inlineData' };
const oneText = { note: 'a function with one text parameter' };

const always: readonly FieldMapping[] = [
  answered('model', inPath),
  answered('stream', inPath),
  renamed('temperature', `${config}.temperature`),
  renamed('top_p', `${config}.topP`),
  ...allDropped('service_tier', 'metadata'),
  renamed('tools', functions, { note: 'as functions; names over 64 characters get a reversible short form' }),
  renamed('tool_choice', 'toolConfig.functionCallingConfig', { note: 'left out without tools' }),
];

const openAi: readonly FieldMapping[] = [
  ...allDropped(
    'user',
    'safety_identifier',
    'prompt_cache_key',
    'store',
    'parallel_tool_calls',
    'top_logprobs',
  ),
];

export const geminiMappingsFrom = {
  messages: fieldTable(always, [
    renamed('messages', 'contents', unanswered),
    renamed('system', 'systemInstruction'),
    renamed('max_tokens', `${config}.maxOutputTokens`, { note: lowered }),
    renamed('stop_sequences', `${config}.stopSequences`, {
      note: 'the first five; the gateway itself ends the answer at the others',
    }),
    ...allDropped(
      'top_k',
      'cache_control',
      'container',
      'context_management',
      'speed',
      'user_profile_id',
      'diagnostics',
      'betas',
    ),
    refused('mcp_servers', 'tools of an MCP server need the provider to call it; this one does not', isSet),
    dropped('mcp_servers'),
    refused('inference_geo', 'this provider makes no promise about the place of inference'),
    dropped('thinking', thinksNot),
    renamed('thinking.budget_tokens', `${config}.thinkingConfig`, {
      note: 'up to 4,096 low, 16,384 medium, else high',
    }),
    renamed('output_config.format', `${config}.responseJsonSchema`),
    renamed('tools[].input_schema', `${functions}[].parametersJsonSchema`),
    renamed('messages[].content[].tool_use', 'contents[].parts[].functionCall'),
    renamed('messages[].content[].tool_result', 'contents[].parts[].functionResponse', {
      note: 'as output or error; images follow in the next content',
    }),
    renamed('messages[].content[].image', 'contents[].parts[].fileData', orInline),
    dropped('messages[].content[].thinking', { note: 'signed for its provider; redacted_thinking too' }),
    refused('messages[].content[].source.file_id', 'files kept at another provider'),
  ]),
  chat: fieldTable(always, openAi, [
    renamed('messages', 'contents', unanswered),
    renamed('messages[].role=system', 'systemInstruction', {
      when: 'at the beginning',
      note: 'developer too',
    }),
    renamed('messages[].role=system', 'contents[].parts[].text', {
      when: 'later',
      note: 'a marked user text',
    }),
    answered('stream_options', 'usage is sent when the client asked for it'),
    refused('n', 'only one choice can be answered', { when: 'above 1', applies: (value) => value !== 1 }),
    dropped('n'),
    refused('logprobs', 'this provider has no log probabilities', isOn),
    dropped('logprobs'),
    refused('modalities', 'only text can be answered', {
      when: 'contains anything but text',
      applies: (value) => Array.isArray(value) && value.some((each) => each !== 'text'),
    }),
    dropped('modalities'),
    refused('audio', 'only text can be answered'),
    refused('functions', 'the old form of tools; use tools'),
    refused('function_call', 'the old form of tool_choice; use tool_choice'),
    refused('web_search_options', 'searches of the web are asked for in another way'),
    ...allDropped(
      'prompt_cache_retention',
      'seed',
      'frequency_penalty',
      'presence_penalty',
      'logit_bias',
      'prediction',
      'verbosity',
    ),
    renamed('max_completion_tokens', `${config}.maxOutputTokens`, { note: lowered }),
    renamed('max_tokens', `${config}.maxOutputTokens`, { note: lowered }),
    renamed('stop', `${config}.stopSequences`),
    renamed('response_format', `${config}.responseJsonSchema`, { note: 'json_object as responseMimeType' }),
    dropped('reasoning_effort', thinksNot),
    renamed('reasoning_effort', `${config}.thinkingConfig`, {
      note: 'as thinkingLevel, or a thinkingBudget for older models',
    }),
    renamed('tools[].function.parameters', `${functions}[].parametersJsonSchema`),
    renamed('tools[].custom', `${functions}[].parametersJsonSchema`, oneText),
    renamed('messages[].content[].image_url', 'contents[].parts[].fileData', orInline),
    renamed('messages[].content[].file', 'contents[].parts[].inlineData'),
    renamed('messages[].tool_calls', 'contents[].parts[].functionCall'),
    renamed('messages[].tool_call_id', 'contents[].parts[].functionResponse'),
    dropped('messages[].reasoning_content', { note: 'unsigned thinking' }),
  ]),
  responses: fieldTable(always, openAi, [
    renamed('input', 'contents', unanswered),
    renamed('instructions', 'systemInstruction'),
    renamed('max_output_tokens', `${config}.maxOutputTokens`, { note: lowered }),
    ...['previous_response_id', 'conversation', 'prompt'].map((field) =>
      refused(field, 'the state is kept at another provider; send the whole conversation'),
    ),
    refused('background', 'answers cannot be fetched later', isOn),
    ...allDropped(
      'background',
      'include',
      'client_metadata',
      'truncation',
      'context_management',
      'max_tool_calls',
      'stream_options',
    ),
    renamed('text.format', `${config}.responseJsonSchema`, { note: 'json_object as responseMimeType' }),
    dropped('text.verbosity'),
    dropped('reasoning', thinksNot),
    renamed('reasoning.effort', `${config}.thinkingConfig`),
    renamed('tools[].parameters', `${functions}[].parametersJsonSchema`),
    renamed('tools[type=custom]', `${functions}[].parametersJsonSchema`, oneText),
    dropped('tools[type]', { when: 'tools that run at OpenAI' }),
    renamed('input[].content[].image_url', 'contents[].parts[].fileData', orInline),
    renamed('input[].content[].file_data', 'contents[].parts[].inlineData'),
    renamed('input[type=function_call]', 'contents[].parts[].functionCall'),
    renamed('input[type=function_call_output]', 'contents[].parts[].functionResponse'),
    dropped('input[type=reasoning]', { note: 'encrypted for its provider' }),
    refused('input[type=item_reference]', 'items kept at another provider'),
    refused('input[].content[].file_id', 'files kept at another provider'),
  ]),
};
