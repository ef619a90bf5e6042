import type { DialectName } from '../../../src/dialects/registry.ts';
import { plainAnswers } from '../../dialects/translation/plain-answers.ts';

/** Whole answers of each dialect's hosts, as parsed JSON. */
export function answersOf(dialect: DialectName): readonly unknown[] {
  return dialect in plainAnswers
    ? Object.values(plainAnswers[dialect as keyof typeof plainAnswers])
    : embedded[dialect as keyof typeof embedded];
}

const embedded = {
  embeddings: [
    {
      object: 'list',
      data: [{ object: 'embedding', index: 0, embedding: [0.125, -0.25] }],
      usage: { prompt_tokens: 1, total_tokens: 1 },
    },
  ],
  gemini_embeddings: [
    { embedding: { values: [0.125, -0.25] } },
    { embeddings: [{ values: [0.125, -0.25] }] },
  ],
};
