import type { Codec } from '../dialect.ts';
import { isFields } from '../fields.ts';
import { buildGeminiAnswer, parseGeminiAnswer } from './answer.ts';
import { geminiEvents, wholeGemini } from './answer-forms.ts';
import { buildGeminiRequest, cannotTakeInGemini } from './build-request.ts';
import { parseGeminiRequest } from './parse-request.ts';
import { createGeminiReader, createGeminiWriter } from './stream.ts';
import { toCamelCase, withCamelCaseFields } from './wire.ts';

export const geminiCodec: Codec = {
  normalize(body) {
    const fields = withCamelCaseFields(body);
    const { contents, generateContentRequest: inner } = fields;
    return contents === undefined && isFields(inner) ? withCamelCaseFields(inner) : fields;
  },
  parseRequest: (body, dropped) => parseGeminiRequest(toCamelCase(body), dropped),
  buildRequest: buildGeminiRequest,
  cannotTake: cannotTakeInGemini,
  stopSequences: (asked) => asked.slice(0, 5),
  parseAnswer: parseGeminiAnswer,
  buildAnswer: buildGeminiAnswer,
  forms: { events: geminiEvents, whole: wholeGemini },
  createReader: createGeminiReader,
  createWriter: createGeminiWriter,
};
