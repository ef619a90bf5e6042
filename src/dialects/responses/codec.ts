import type { Codec } from '../dialect.ts';
import { buildEcho, buildResponsesAnswer, parseResponsesAnswer } from './answer.ts';
import { responsesEvents, wholeResponse } from './answer-forms.ts';
import { buildResponsesRequest } from './build-request.ts';
import { parseResponsesRequest } from './parse-request.ts';
import { createResponsesReader } from './read-stream.ts';
import { createResponsesWriter } from './write-stream.ts';

export const responsesCodec: Codec = {
  parseRequest: parseResponsesRequest,
  buildRequest: buildResponsesRequest,
  cannotTake: () => undefined,
  stopSequences: () => [],
  parseAnswer: parseResponsesAnswer,
  echoOf: buildEcho,
  buildAnswer: buildResponsesAnswer,
  forms: { events: responsesEvents, whole: wholeResponse },
  createReader: createResponsesReader,
  createWriter: createResponsesWriter,
};
