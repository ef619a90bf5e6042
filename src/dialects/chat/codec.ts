import type { Codec } from '../dialect.ts';
import { buildChatAnswer, parseChatAnswer } from './answer.ts';
import { chatEvents, wholeChat } from './answer-forms.ts';
import { buildChatRequest, cannotTakeInChat } from './build-request.ts';
import { parseChatRequest } from './parse-request.ts';
import { createChatReader } from './read-stream.ts';
import { createChatWriter } from './write-stream.ts';

export const chatCodec: Codec = {
  parseRequest: parseChatRequest,
  buildRequest: buildChatRequest,
  cannotTake: cannotTakeInChat,
  stopSequences: (asked) => asked.slice(0, 4),
  parseAnswer: parseChatAnswer,
  echoOf: ({ stream_options }) => ({ stream_options }),
  buildAnswer: buildChatAnswer,
  forms: { events: chatEvents, whole: wholeChat },
  createReader: createChatReader,
  createWriter: createChatWriter,
};
