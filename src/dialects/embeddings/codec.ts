import type { EmbeddingCodec } from '../embedding-codec.ts';
import { answered, dropped, fieldTable, renamed } from '../field-mapping.ts';
import {
  brokenAnswer,
  type Fields,
  parseList,
  parseOptionalCount,
  parseOptionalText,
  toFields,
  toList,
  unsupported,
  withoutAbsent,
} from '../fields.ts';
import { decodeEmbeddings, encodeEmbeddings } from './encodings.ts';
import { parseEmbeddingsUsage } from './usage.ts';

/** OpenAI's embeddings in the neutral form, and out of it. */
export const embeddingsCodec: EmbeddingCodec = {
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
  mappingsTo: {
    gemini_embeddings: fieldTable([
      answered('model', 'in the path, and in each request'),
      renamed('input', 'requests[].content.parts[].text', { note: 'texts; tokens are refused' }),
      renamed('dimensions', 'requests[].outputDimensionality'),
      answered('encoding_format', 'the gateway encodes the vectors'),
      dropped('user'),
    ]),
  },
};

function toInput(value: unknown, index: number): string {
  if (typeof value === 'string') return value;
  throw unsupported(`input[${index}]`, 'only texts can be embedded by this provider, not tokens');
}
