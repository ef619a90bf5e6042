import type { Dialect } from '../dialect.ts';
import { isFields, toCount, toFields } from '../fields.ts';
import { openAiErrorBody } from '../translation/openai-error.ts';
import { noUsage, type Usage } from '../usage.ts';
import { adaptEmbeddings } from './encodings.ts';

/** OpenAI's Embeddings API. */
export const embeddings: Dialect = {
  name: 'embeddings',
  path: '/v1/embeddings',
  canStream: false,
  caps: [],
  required: ['input'],
  places: new Map([['input', 'user']]),

  turnRole: () => 'user',
  blocks: new Map(),

  answerUsage: (answer) => toUsage(toFields(answer).usage),
  eventUsage: (_event, known) => known,
  pieceMembers: [],
  isLastEvent: () => false,
  mayEndAfter: () => false,
  errorBody: openAiErrorBody,
  errorEvent: () => '',
  adaptAnswer: adaptEmbeddings,
};

function toUsage(usage: unknown): Usage | undefined {
  return isFields(usage) ? { ...noUsage, inputTokens: toCount(usage.prompt_tokens) } : undefined;
}
