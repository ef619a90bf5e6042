import { type EmbeddingCodec, type EmbeddingDialect, nothingFinished } from '../dialect.ts';
import { fieldTable } from '../field-table.ts';
import {
  brokenAnswer,
  type Fields,
  isFields,
  parseList,
  parseOptionalCount,
  parseOptionalText,
  toFields,
  toKnownCount,
  toList,
  unsupported,
  withoutAbsent,
} from '../fields.ts';
import { isOpenAiErrorBody, openAiErrorBody, openAiLimitHeaders } from '../translation/openai.ts';
import { membersNamed, noUsage, type Usage } from '../usage.ts';

/** OpenAI's embeddings in the neutral form, and out of it. */
const embeddingsCodec: EmbeddingCodec = {
  parseRequest: ({ input, dimensions, user }) => ({
    texts: (typeof input === 'string' ? [input] : parseList(input, 'input')).map(toInput),
    dimensions: parseOptionalCount(dimensions, 'dimensions'),
    user: parseOptionalText(user, 'user'),
  }),
  buildRequest: ({ texts, dimensions, user }, { targetModel }) =>
    withoutAbsent({ model: targetModel, input: texts, dimensions, user }),
  parseAnswer(body) {
    const entries = toList(decodeEmbeddings(body).data).map(toFields);
    // In the order of their numbers, if they have any: which text each is of is said by nothing else.
    const vectors: unknown[] = [];
    for (const [i, { index = i, embedding }] of entries.entries()) vectors[Number(index)] = embedding;
    if (Object.keys(vectors).length !== entries.length || vectors.length !== entries.length)
      throw brokenAnswer('has embeddings whose numbers are not those of the texts');
    if (!vectors.every(Array.isArray)) throw brokenAnswer('has an embedding that is no array of numbers');
    return { vectors, usage: parseEmbeddingsUsage(body.usage) };
  },
  // Prose averages about four characters per token; clients expect a count although Gemini's older models have none.
  echoOf: ({ encoding_format: form, input }) => ({
    form,
    inputTokens: Math.ceil([input].flat().join('').length / 4),
  }),
  buildAnswer({ vectors, usage }, { requestedModel }, { form, inputTokens: estimate }) {
    const inputTokens = usage?.inputTokens ?? estimate;
    const answer: Fields = {
      object: 'list',
      data: vectors.map((embedding, index) => ({ object: 'embedding', index, embedding })),
      model: requestedModel,
      usage: { prompt_tokens: inputTokens, total_tokens: inputTokens },
    };
    return form === 'base64' ? encodeEmbeddings(answer) : answer;
  },
};

function toInput(value: unknown, index: number): string {
  if (typeof value === 'string') return value;
  throw unsupported(`input[${index}]`, 'only texts can be embedded by this provider, not tokens');
}

function parseEmbeddingsUsage(usage: unknown): Usage | undefined {
  const { prompt_tokens: prompt, total_tokens: total } = toFields(usage);
  const inputTokens = toKnownCount(prompt) ?? toKnownCount(total);
  return inputTokens === undefined ? undefined : { ...noUsage, inputTokens };
}

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
  caps: [],
  required: ['input'],
  places: new Map([['input', 'user']]),

  turnRole: () => 'user',
  blocks: new Map(),

  answerUsage: (answer) => parseEmbeddingsUsage(toFields(answer).usage),
  eventUsage: (_event, known) => known,
  writtenMembers: membersNamed(),
  isLastEvent: () => false,
  finishes: () => nothingFinished,
  isErrorBody: isOpenAiErrorBody,
  errorBody: openAiErrorBody,
  errorEvent: () => ({ data: '' }),
  askedForm: (request) => request.memberText(request.root, 'encoding_format'),
  adaptAnswer: adaptEmbeddings,
  fieldsTo: {
    gemini_embeddings: fieldTable({ kept: 'model input dimensions encoding_format', dropped: 'user' }),
  },
  embeddingCodec: embeddingsCodec,
};

const floatBytes = 4;

/**
 * The answer in the requested encoding, if the host ignored the request for it; undefined if it did not. OpenAI's SDK asks
 * for base64 by default, and misreads an array of numbers.
 */
function adaptEmbeddings(answer: unknown, form: string | undefined): Fields | undefined {
  const data = toList(toFields(answer).data);
  const isText = typeof toFields(data[0]).embedding === 'string';
  const wantsText = form === 'base64';
  if (isText === wantsText || data.length === 0) return undefined;
  return wantsText ? encodeEmbeddings(answer) : decodeEmbeddings(answer);
}

/** An embeddings answer with every vector as base64: 32-bit floats, little-endian, packed. */
export function encodeEmbeddings(body: unknown): Fields {
  return mapEmbeddings(body, (embedding) => (typeof embedding === 'string' ? embedding : encode(embedding)));
}

/** An embeddings answer with every vector as an array of numbers. */
export function decodeEmbeddings(body: unknown): Fields {
  return mapEmbeddings(body, (embedding) => (typeof embedding === 'string' ? decode(embedding) : embedding));
}

function mapEmbeddings(body: unknown, convert: (embedding: unknown) => unknown): Fields {
  if (!isFields(body) || !Array.isArray(body.data)) throw brokenAnswer('has no embeddings');
  const data = body.data.map((entry: unknown) => {
    if (!isFields(entry)) throw brokenAnswer('has an embedding that is not an object');
    return { ...entry, embedding: convert(entry.embedding) };
  });
  return { ...body, data };
}

function encode(embedding: unknown): string {
  if (!Array.isArray(embedding)) throw brokenAnswer('has an embedding that is no array of numbers');
  const bytes = Buffer.alloc(embedding.length * floatBytes);
  embedding.forEach((number: unknown, index) => {
    if (typeof number !== 'number') throw brokenAnswer('has an embedding that is no array of numbers');
    bytes.writeFloatLE(number, index * floatBytes);
  });
  return bytes.toString('base64');
}

function decode(text: string): number[] {
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length === 0 || bytes.length % floatBytes !== 0)
    throw brokenAnswer('has an embedding of broken base64');
  return Array.from({ length: bytes.length / floatBytes }, (_each, index) =>
    bytes.readFloatLE(index * floatBytes),
  );
}
