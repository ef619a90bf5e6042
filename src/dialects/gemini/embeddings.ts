import type { Dialect } from '../dialect.ts';
import { membersNamed } from '../text-tokens.ts';
import { gemini } from './gemini.ts';
import { pathOf } from './wire.ts';

const { codec: _, ...shared } = gemini;

/** Embeddings of the Gemini API: of one content, or of several in a batch. Its answers report no usage. */
export const geminiEmbeddings: Dialect = {
  ...shared,
  name: 'gemini_embeddings',
  methods: [
    { path: pathOf('embedContent'), stream: false },
    { path: pathOf('batchEmbedContents'), stream: false },
  ],
  operation: 'embeddings',
  recognizes: (body) => 'requests' in body || ('content' in body && !('contents' in body)),
  caps: [],
  answerCounts: [],
  required: [],
  places: new Map([
    ['content', 'user'],
    ['requests', 'user'],
  ]),
  answerUsage: () => undefined,
  eventUsage: (_event, known) => known,
  writtenMembers: membersNamed(),
};
