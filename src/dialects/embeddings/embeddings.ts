import { chatUsage } from '../chat/chat.ts';
import { asRecord, type Dialect } from '../dialect.ts';

/** OpenAI's Embeddings API. */
export const embeddings: Dialect = {
  path: '/v1/embeddings',
  canStream: false,
  caps: [],
  required: ['input'],
  places: new Map([['input', 'user']]),

  turnRole: () => 'user',
  blockRole: () => undefined,

  answerUsage: (answer) => chatUsage(asRecord(answer).usage),
  eventUsage: (_event, known) => known,
  isLastEvent: () => false,
  mayEndAfter: () => false,
  errorEvent: () => '',
};
