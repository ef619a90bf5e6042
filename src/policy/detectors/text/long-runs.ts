import type { Finding } from '../detector.ts';
import { type CharacterSet, isIn, isKeyCharacter, toCharacterSet } from './characters.ts';

/**
 * Finds every maximal run of at least `atLeast` characters of a set. In ordinary text it reads one character in
 * `atLeast`, and never any character more than twice.
 */
export function findLongRuns(text: string, atLeast: number, set: CharacterSet): readonly Finding[] {
  const runs: Finding[] = [];
  let start = 0;
  while (start + atLeast <= text.length) {
    const stop = lastOutside(text, start, start + atLeast, set);
    if (stop >= 0) {
      start = stop + 1;
      continue;
    }
    let end = start + atLeast;
    while (end < text.length && isIn(set, text.charCodeAt(end))) end += 1;
    runs.push({ start, end });
    start = end + 1;
  }
  return runs;
}

function lastOutside(text: string, start: number, end: number, set: CharacterSet): number {
  for (let index = end - 1; index >= start; index -= 1) {
    if (!isIn(set, text.charCodeAt(index))) return index;
  }
  return -1;
}

const keyCharacters = toCharacterSet(isKeyCharacter);

/** Runs of letters, digits, underscores and hyphens that are long enough to be (part of) a key. */
export function findKeyLikeRuns(text: string, atLeast: number): readonly Finding[] {
  return findLongRuns(text, atLeast, keyCharacters);
}
