import type { EmbeddingDialect } from '../dialect.ts';
import { toFields } from '../fields.ts';
import { membersNamed } from '../text-tokens.ts';
import { isOpenAiErrorBody, openAiErrorBody, openAiLimitHeaders } from '../translation/openai.ts';
import { embeddingsCodec } from './codec.ts';
import { adaptEmbeddings } from './encodings.ts';
import { parseEmbeddingsUsage } from './usage.ts';

/** OpenAI's Embeddings API. */
export const embeddings: EmbeddingDialect = {
  name: 'embeddings',
  methods: [{ path: '/v1/embeddings', stream: false }],
  operation: 'embeddings',
  recognizes: (body) =>
    'encoding_format' in body ||
    'dimensions' in body ||
    (Array.isArray(body.input) && typeof body.input[0] !== 'object'),
  limitHeaders: openAiLimitHeaders,
  needsCap: false,
  leastCap: 0,
  hasUsageOption: false,
  caps: [],
  required: ['input'],
  places: new Map([['input', 'user']]),

  turnRole: () => 'user',
  blocks: new Map(),

  answerUsage: (answer) => parseEmbeddingsUsage(toFields(answer).usage),
  eventUsage: (_event, known) => known,
  writtenMembers: membersNamed(),
  isLastEvent: () => false,
  mayEndAfter: () => false,
  isErrorBody: isOpenAiErrorBody,
  errorBody: openAiErrorBody,
  errorEvent: () => '',
  askedForm: (request) => request.memberText(request.root, 'encoding_format'),
  adaptAnswer: adaptEmbeddings,
  embeddingCodec: embeddingsCodec,
};
