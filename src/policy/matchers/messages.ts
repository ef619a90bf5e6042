import * as z from 'zod';
import { type Dialect, fieldOf } from '../../dialects/dialect.ts';
import { type JsonDocument, kinds } from '../../json/json-document.ts';
import { defineMatcher } from './matcher.ts';

/** The number of turns of the conversation. */
export const messages = defineMatcher({
  schema: z
    .strictObject({ over: z.int().nonnegative().describe('More turns than this.') })
    .describe('Length of the conversation.'),
  compile: ({ over }) => ({
    test({ subject: { document, dialect } }) {
      const turns = countTurns(document, dialect);
      return turns.count > over ? [{ at: turns.at, matcher: 'messages', count: turns.count }] : undefined;
    },
  }),
});

function countTurns(document: JsonDocument, dialect: Dialect): { count: number; at: string } {
  const entry = fieldOf(document, dialect, 'turns');
  if (entry === undefined) return { count: 0, at: '' };
  const at = document.pointer(entry);
  // A plain text instead of a list of turns is one turn.
  if (document.kind(entry) !== kinds.array) return { count: 1, at };
  let count = 0;
  for (let turn = entry + 1; turn < document.next(entry); turn = document.next(turn)) count += 1;
  return { count, at };
}
