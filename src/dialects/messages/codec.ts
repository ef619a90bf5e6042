import type { Codec } from '../dialect.ts';
import { buildMessagesAnswer, parseMessagesAnswer } from './answer.ts';
import { messagesEvents, wholeMessage } from './answer-forms.ts';
import { buildMessagesRequest } from './build-request.ts';
import { cannotTakeInMessages } from './build-turns.ts';
import { parseMessagesRequest } from './parse-request.ts';
import { createMessagesReader } from './read-stream.ts';
import { createMessagesWriter } from './write-stream.ts';

export const messagesCodec: Codec = {
  parseRequest: parseMessagesRequest,
  buildRequest: buildMessagesRequest,
  cannotTake: cannotTakeInMessages,
  // Blank ones are a 400 there.
  stopSequences: (asked) => asked.filter((stop) => stop.trim() !== ''),
  parseAnswer: parseMessagesAnswer,
  buildAnswer: buildMessagesAnswer,
  forms: { events: messagesEvents, whole: wholeMessage },
  createReader: createMessagesReader,
  createWriter: createMessagesWriter,
};
