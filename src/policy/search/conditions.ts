import { isWord } from './alphabet.ts';
import { assertions } from './nfa.ts';

/** What stood before, as far as conditions on the next place ask for it. */
export const contexts = { begin: 0, newline: 1, word: 2, other: 3, space: 4 } as const;

/** The place after the last character. */
export const endPoint = -1;

/** The conditions that hold between what stood before and the next character (or the end). */
export function holding(context: number, next: number): number {
  let conditions = 0;
  if (context === contexts.begin) conditions |= assertions.beginText | assertions.beginLine;
  if (context === contexts.newline) conditions |= assertions.beginLine;
  if (next === endPoint) conditions |= assertions.endText | assertions.endLine;
  if (next === 10) conditions |= assertions.endLine;
  const isBoundary = (context === contexts.word) !== isWord(next);
  return conditions | (isBoundary ? assertions.wordBoundary : assertions.noWordBoundary);
}
