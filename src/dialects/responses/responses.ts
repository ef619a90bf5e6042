import type { TextDialect } from '../dialect.ts';
import { toFields } from '../fields.ts';
import { membersNamed } from '../text-tokens.ts';
import { isOpenAiErrorBody, openAiErrorBody, openAiLimitHeaders } from '../translation/openai.ts';
import { blocks, itemRole } from './blocks.ts';
import { buildResponsesAnswer } from './build-answer.ts';
import { buildResponsesRequest, leastLimit as leastCap } from './build-request.ts';
import { buildEcho } from './echo.ts';
import { responsesMappings } from './field-mappings.ts';
import { parseResponsesAnswer } from './parse-answer.ts';
import { parseResponsesRequest } from './parse-request.ts';
import { createResponsesReader } from './read-stream.ts';
import { parseResponseUsage } from './usage.ts';
import { createResponsesWriter, responsesErrorEvent } from './write-stream.ts';

/** OpenAI's Responses API. */
export const responses: TextDialect = {
  name: 'responses',
  methods: [{ path: '/v1/responses', stream: 'asked' }],
  operation: 'chat',
  recognizes: (body) => 'input' in body,
  limitHeaders: openAiLimitHeaders,
  needsCap: false,
  leastCap,
  hasUsageOption: false,
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
    mappingsTo: responsesMappings,
  },
};
