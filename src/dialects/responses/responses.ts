import type { TextDialect } from '../dialect.ts';
import { droppedIf, fieldTable, isNotOpenAi } from '../field-table.ts';
import { toFields } from '../fields.ts';
import { membersNamed } from '../text-tokens.ts';
import { responsesFields } from '../translation/client-fields.ts';
import {
  isOpenAiReasoningModel,
  takesReasoningEffort,
  takesSampling,
  thinkingControl,
} from '../translation/model-quirks.ts';
import { isOpenAiErrorBody, openAiErrorBody, openAiLimitHeaders } from '../translation/openai.ts';
import { buildResponsesAnswer, parseResponsesAnswer } from './answer.ts';
import { blocks, itemRole } from './blocks.ts';
import { buildResponsesRequest, leastLimit as leastCap } from './build-request.ts';
import { buildEcho } from './echo.ts';
import { parseResponsesRequest } from './parse-request.ts';
import { createResponsesReader } from './read-stream.ts';
import { parseResponseUsage } from './usage.ts';
import { createResponsesWriter, responsesErrorEvent } from './write-stream.ts';

const fieldsTo = {
  chat: fieldTable(responsesFields, {
    kept: 'parallel_tool_calls user safety_identifier',
    rules: {
      temperature: droppedIf(isOpenAiReasoningModel),
      top_p: droppedIf(isOpenAiReasoningModel),
      reasoning: droppedIf((context) => !takesReasoningEffort(context)),
      service_tier: droppedIf(isNotOpenAi),
      prompt_cache_key: droppedIf(isNotOpenAi),
    },
  }),
  messages: fieldTable(responsesFields, {
    kept: 'parallel_tool_calls user safety_identifier',
    dropped: 'service_tier prompt_cache_key',
    rules: {
      temperature: droppedIf((context) => !takesSampling(context)),
      top_p: droppedIf((context) => !takesSampling(context)),
      reasoning: droppedIf((context) => thinkingControl(context) === 'none'),
    },
  }),
};

/** OpenAI's Responses API. */
export const responses: TextDialect = {
  name: 'responses',
  methods: [{ path: '/v1/responses', stream: 'asked' }],
  operation: 'chat',
  recognizes: (body) => 'input' in body,
  limitHeaders: openAiLimitHeaders,
  leastCap,
  caps: ['max_output_tokens'],
  required: [],
  places: new Map([
    ['instructions', 'system'],
    ['input', 'turns'],
    ['tools', 'tool_definition'],
  ]),

  turnRole: itemRole,
  blocks,

  answerUsage: (answer) => parseResponseUsage(toFields(answer)),
  eventUsage: (event, known) => parseResponseUsage(toFields(toFields(event).response)) ?? known,
  // A stream repeats each item once it is whole, so its texts count twice there.
  writtenMembers: membersNamed('output', 'item', 'delta'),
  isLastEvent: (head) =>
    /^(?:event: ?|data: ?\{"type": ?")(?:response\.(?:completed|incomplete|failed)|error)(?:"|$)/m.test(head),
  // For hosts that put the type after other fields and send no event line.
  mayEndAfter: (event) => /"type": ?"response\.(?:completed|incomplete|failed)"/.test(event),
  isErrorBody: isOpenAiErrorBody,
  errorBody: openAiErrorBody,
  errorEvent: responsesErrorEvent,

  codec: {
    parseRequest: parseResponsesRequest,
    buildRequest: buildResponsesRequest,
    stopSequences: () => [],
    parseAnswer: parseResponsesAnswer,
    echoOf: buildEcho,
    buildAnswer: buildResponsesAnswer,
    createReader: createResponsesReader,
    createWriter: createResponsesWriter,
    fieldsTo,
  },
};
