import { blockTypes, finishesOf, type Role, type TextDialect } from '../dialect.ts';
import {
  betweenOpenAi,
  chatFields,
  droppedIf,
  fieldTable,
  isNotOpenAi,
  refused,
  toMessages,
  toOpenAi,
} from '../field-table.ts';
import { isFields, toFields, toList, toText } from '../fields.ts';
import { isOpenAiErrorBody, openAiErrorBody, openAiLimitHeaders } from '../translation/openai.ts';
import { membersNamed } from '../usage.ts';
import { chatCodec } from './codec.ts';
import { chatErrorEvent } from './errors.ts';
import { parseChatUsage } from './usage.ts';

const searches = { web_search_options: refused('this provider cannot search the web') };

const fieldsTo = {
  messages: fieldTable(chatFields, toMessages('reasoning_effort'), {
    dropped: 'metadata verbosity',
    rules: searches,
  }),
  responses: fieldTable(chatFields, betweenOpenAi, toOpenAi('reasoning_effort'), {
    kept: 'metadata',
    rules: { ...searches, verbosity: droppedIf(isNotOpenAi) },
  }),
};

const turnRoles = new Map<string | undefined, Role>([
  ['system', 'system'],
  ['developer', 'system'],
  ['user', 'user'],
  ['assistant', 'assistant'],
  ['tool', 'tool_result'],
  ['function', 'tool_result'],
]);

/** OpenAI's Chat Completions API. */
export const chat: TextDialect = {
  name: 'chat',
  methods: [{ path: '/v1/chat/completions', stream: 'asked' }],
  operation: 'chat',
  recognizes: (body) => 'messages' in body,
  limitHeaders: openAiLimitHeaders,
  hasUsageOption: true,
  caps: ['max_tokens', 'max_completion_tokens'],
  required: ['messages'],
  places: new Map([
    ['messages', 'turns'],
    ['tools', 'tool_definition'],
    ['functions', 'tool_definition'],
    ['prediction', 'parts'],
  ]),

  turnRole: (document, turn) => turnRoles.get(document.memberText(turn, 'role')),
  // Parts, calls, parts that other hosts accept, and options of parts.
  blocks: blockTypes({
    outer: `text image_url input_audio file refusal function custom audio_url video_url url_citation ephemeral`,
  }),

  answerUsage: (answer) => parseChatUsage(toFields(answer)),
  eventUsage: (event, known) => parseChatUsage(toFields(event)) ?? known,
  isUsageEvent: (event) => isFields(event) && isFields(event.usage) && toList(event.choices).length === 0,
  writtenMembers: membersNamed('choices'),
  // Some hosts send `"error": null` and an empty finish reason in every chunk.
  isLastEvent: (head) => /^data: ?(?:\[DONE\]|\{"error"(?!: ?null))/m.test(head),
  // Ends streams whose host leaves `[DONE]` out.
  finishes: (event) =>
    finishesOf(toFields(event).choices, ({ finish_reason: reason }) => toText(reason) !== ''),
  isErrorBody: isOpenAiErrorBody,
  errorBody: openAiErrorBody,
  errorEvent: chatErrorEvent,

  fieldsTo,
  get codec() {
    return chatCodec;
  },
};
