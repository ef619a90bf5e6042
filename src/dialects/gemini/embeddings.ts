import type { EmbeddingCodec, EmbeddingDialect } from '../dialect.ts';
import { fieldTable } from '../field-table.ts';
import {
  both,
  brokenAnswer,
  type Dropped,
  type Fields,
  noteDropped,
  parseEach,
  parseFields,
  parseOptionalCount,
  parseText,
  toFields,
  toList,
  unsupported,
  withoutAbsent,
} from '../fields.ts';
import { membersNamed } from '../usage.ts';
import { geminiFormat } from './gemini.ts';
import { parseGeminiUsage } from './usage.ts';
import { atBothVersions, pathOf, toCamelCase, withCamelCaseFields } from './wire.ts';

/** What no other dialect has. */
const others = ['taskType', 'title', 'embedContentConfig'];

/** Gemini's embeddings in the neutral form, and out of it. Requests are always built as a batch, also of one. */
const geminiEmbeddingsCodec: EmbeddingCodec = {
  normalize: withCamelCaseFields,
  parseRequest(asked, dropped) {
    const body = toCamelCase(asked);
    if (body.requests === undefined) {
      const { text, dimensions } = parseOne(body, '', dropped);
      return { texts: [text], dimensions };
    }
    const all = parseEach(body.requests, 'requests', (entry, path) => parseOne(entry, `${path}.`, dropped));
    const other = all.findIndex(({ dimensions }) => dimensions !== all[0]?.dimensions);
    if (other >= 0) {
      const message = 'all requests of a batch must ask for vectors of the same length';
      throw unsupported(`requests[${other}].outputDimensionality`, message);
    }
    return { texts: all.map(({ text }) => text), dimensions: all[0]?.dimensions };
  },
  buildRequest: ({ texts, dimensions }, { targetModel }) => ({
    requests: texts.map((text) =>
      withoutAbsent({
        model: `models/${targetModel}`,
        content: { parts: [{ text }] },
        outputDimensionality: dimensions,
      }),
    ),
  }),
  parseAnswer(body) {
    const embeddings = body.embeddings === undefined ? [body.embedding] : toList(body.embeddings);
    const vectors = embeddings.map((each) => toFields(each).values);
    if (!vectors.every(Array.isArray)) throw brokenAnswer('has no embeddings');
    return { vectors, usage: parseGeminiUsage(body.usageMetadata) };
  },
  echoOf: ({ requests }) => ({ isBatch: requests !== undefined }),
  buildAnswer({ vectors, usage }, _context, { isBatch }) {
    const embeddings = vectors.map((values) => ({ values }));
    const usageMetadata = usage && {
      promptTokenCount: usage.inputTokens,
      totalTokenCount: usage.inputTokens,
    };
    return withoutAbsent({
      ...(isBatch === true ? { embeddings } : { embedding: embeddings[0] }),
      usageMetadata,
    });
  },
};

function parseOne(
  fields: Fields,
  path: string,
  dropped: Dropped,
): { readonly text: string; readonly dimensions: number | undefined } {
  for (const name of others) if (fields[name] !== undefined) noteDropped(dropped, `${path}${name}`);
  const { parts } = parseFields(fields.content, `${path}content`);
  const texts = parseEach(parts, `${path}content.parts`, ({ text }, place) => {
    if (text === undefined) throw unsupported(place, 'only texts can be embedded by this provider');
    return parseText(text, `${place}.text`);
  });
  const dimensions = parseOptionalCount(fields.outputDimensionality, `${path}outputDimensionality`);
  return { text: texts.join('\n'), dimensions };
}

/** Embeddings of the Gemini API: of several contents in a batch, or of one. Older models report no usage. */
export const geminiEmbeddings: EmbeddingDialect = {
  ...geminiFormat,
  name: 'gemini_embeddings',
  methods: atBothVersions(
    { path: pathOf('batchEmbedContents'), stream: false },
    { path: pathOf('embedContent'), stream: false },
  ),
  operation: 'embeddings',
  recognizes: (body) => 'requests' in body || ('content' in body && !('contents' in body)),
  caps: [],
  answerCounts: [],
  required: [],
  places: new Map([
    ['title', 'title'],
    ...both('embedContentConfig').map((name) => [name, 'title'] as const),
    ['content', 'user'],
    ['requests', 'user'],
  ]),
  // A request of a batch, or a part.
  blockType: (document, block) =>
    document.member(block, 'content') === undefined ? geminiFormat.blockType?.(document, block) : 'embedding',
  blocks: new Map([...geminiFormat.blocks, ['embedding', 'outer']]),
  members: {
    ...geminiFormat.members,
    // In a request of a batch.
    heading: [...(geminiFormat.members?.heading ?? []), ...both('embedContentConfig')],
  },
  eventUsage: (_event, known) => known,
  writtenMembers: membersNamed(),
  fieldsTo: {
    embeddings: fieldTable({
      kept: 'model content requests outputDimensionality',
      dropped: others.join(' '),
    }),
  },
  embeddingCodec: geminiEmbeddingsCodec,
};
