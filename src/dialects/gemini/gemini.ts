import { geminiThinking } from '../../hosts/models.ts';
import { type JsonDocument, kinds } from '../../json/json-document.ts';
import { blockTypes, type Dialect, type Role, type TextDialect } from '../dialect.ts';
import {
  chatFields,
  droppedIf,
  fieldTable,
  messagesFields,
  refused,
  responsesFields,
} from '../field-table.ts';
import { both, toFields } from '../fields.ts';
import { blankLine } from '../sse.ts';
import { openAiLimitHeaders } from '../translation/openai.ts';
import { membersNamed } from '../usage.ts';
import { geminiCodec } from './codec.ts';
import { geminiErrorBody, geminiErrorEvent, isGeminiErrorBody } from './errors.ts';
import { geminiFinishes } from './finishes.ts';
import { parseGeminiAnswerUsage } from './usage.ts';
import {
  atBothVersions,
  geminiModels,
  generate,
  ownHeaders,
  pathOf,
  pathsOf,
  streamGenerate,
} from './wire.ts';

/** Which of a part's members says what it is; `thought` marks a text or a call as reasoning. */
const partTypes = both(
  'text',
  'functionCall',
  'functionResponse',
  'inlineData',
  'fileData',
  'executableCode',
  'codeExecutionResult',
  'toolCall',
  'toolResponse',
);

const toOthers = fieldTable({
  kept: 'model contents systemInstruction generationConfig tools toolConfig',
  dropped: 'safetySettings labels serviceTier store',
  rules: { cachedContent: refused('content kept at another provider') },
});

/** Clients of other dialects. */
const ofAny = { kept: 'temperature top_p', dropped: 'service_tier metadata' };
const ofOpenAi = {
  dropped: 'user safety_identifier prompt_cache_key store parallel_tool_calls top_logprobs',
};
const ifThinking = droppedIf((context) => geminiThinking(context) === 'none');
const fieldsFrom = {
  messages: fieldTable(messagesFields, ofAny, { rules: { thinking: ifThinking } }),
  chat: fieldTable(chatFields, ofAny, ofOpenAi, {
    dropped: 'verbosity',
    rules: {
      web_search_options: refused('searches of the web are asked for in another way'),
      reasoning_effort: ifThinking,
    },
  }),
  responses: fieldTable(responsesFields, ofAny, ofOpenAi, { rules: { reasoning: ifThinking } }),
};

const turnRoles = new Map<string | undefined, Role>([
  ['user', 'user'],
  ['model', 'assistant'],
  ['function', 'tool_result'],
]);

/** What its requests for answers and for embeddings have in common. */
export const geminiFormat = {
  name: 'gemini',
  methods: atBothVersions(generate, streamGenerate, {
    path: pathOf('countTokens'),
    stream: false,
    countAnswer: (tokens) => ({ totalTokens: tokens }),
  }),
  modelList: geminiModels,
  operation: 'chat',
  recognizes: (body) => 'contents' in body,
  ownHeaders,
  heartbeat: blankLine,
  earlyHeartbeat: blankLine,
  limitHeaders: openAiLimitHeaders,
  minCap: 1,
  caps: pathsOf('generationConfig', 'maxOutputTokens'),
  answerCounts: pathsOf('generationConfig', 'candidateCount'),
  required: ['contents'],
  places: new Map([
    ...both('systemInstruction').map((name) => [name, 'system'] as const),
    ['contents', 'turns'],
    ['tools', 'tool_definition'],
    // Of countTokens.
    ...both('generateContentRequest').map((name) => [name, 'request'] as const),
  ]),

  turnRole: (document, turn) => turnRoles.get(document.memberText(turn, 'role')),
  blockList: 'parts',
  blockType(document, part) {
    if (document.memberText(part, 'type') !== undefined) return undefined;
    const type = partTypes.find((name) => document.member(part, name) !== undefined);
    return type !== undefined && isThought(document, part) ? 'thinking' : type;
  },
  blocks: blockTypes({
    outer: `thinking ${both('text', 'functionCall', 'inlineData', 'fileData', 'executableCode', 'toolCall').join(' ')}`,
    tool_result: both('functionResponse', 'codeExecutionResult', 'toolResponse').join(' '),
  }),
  members: {
    prose: ['parts'],
    label: [...both('mediaResolution'), 'model'],
    bytes: both('mimeType'),
    heading: both('displayName'),
    wrapper: both(
      'functionCall',
      'functionResponse',
      'inlineData',
      'executableCode',
      'codeExecutionResult',
      'toolCall',
      'toolResponse',
    ),
    input: ['args', 'response'],
  },
  toolMembers: {
    declarations: both('functionDeclarations', 'mcpServers'),
    choices: pathsOf('toolConfig', 'functionCallingConfig', 'allowedFunctionNames'),
    others: both('contents', 'systemInstruction', 'toolConfig', 'generationConfig', 'safetySettings'),
  },

  answerUsage: (answer) => parseGeminiAnswerUsage(toFields(answer)),
  eventUsage: (event, known) => parseGeminiAnswerUsage(toFields(event), known),
  writtenMembers: membersNamed('parts'),
  // There is none; and its SDKs may pass over an error that is followed by an orderly end.
  isLastEvent: () => false,
  finishes: (event) => geminiFinishes(toFields(event)),
  isErrorBody: isGeminiErrorBody,
  hasOwnErrors: true,
  errorBody: geminiErrorBody,
  errorEvent: geminiErrorEvent,
} satisfies Dialect;

/** Google's Gemini API, version v1beta: `generateContent`. Members may be written in camelCase or in snake_case. */
export const gemini: TextDialect = {
  ...geminiFormat,
  fieldsTo: { chat: toOthers, messages: toOthers, responses: toOthers },
  fieldsFrom,
  get codec() {
    return geminiCodec;
  },
};

/** A part that says that it is no thought is one like any other, which hosts don't leave out. */
function isThought(document: JsonDocument, part: number): boolean {
  const thought = document.member(part, 'thought');
  return (
    thought !== undefined && document.kind(thought) !== kinds.false && document.kind(thought) !== kinds.null
  );
}
