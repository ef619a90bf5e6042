import type { EmbeddingDialect } from '../dialect.ts';
import { membersNamed } from '../text-tokens.ts';
import { geminiEmbeddingsCodec } from './embeddings-codec.ts';
import { gemini } from './gemini.ts';
import { atBothVersions, pathOf } from './wire.ts';

const { codec: _, ...shared } = gemini;

/** Embeddings of the Gemini API: of several contents in a batch, or of one. Older models report no usage. */
export const geminiEmbeddings: EmbeddingDialect = {
  ...shared,
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
    ['content', 'user'],
    ['requests', 'user'],
  ]),
  eventUsage: (_event, known) => known,
  writtenMembers: membersNamed(),
  embeddingCodec: geminiEmbeddingsCodec,
};
