import type { Finding } from './detector.ts';

/**
 * Finds every maximal run of at least `atLeast` characters that `belongs` accepts. It looks at one character
 * in `atLeast` where text is ordinary, so it costs a fraction of reading the whole, and never more than
 * two looks at each character.
 */
export function findLongRuns(
  text: string,
  atLeast: number,
  belongs: (code: number) => boolean,
): readonly Finding[] {
  const runs: Finding[] = [];
  let start = 0;
  while (start + atLeast <= text.length) {
    const stop = lastOutside(text, start, start + atLeast, belongs);
    if (stop >= 0) {
      start = stop + 1;
      continue;
    }
    let end = start + atLeast;
    while (end < text.length && belongs(text.charCodeAt(end))) end += 1;
    runs.push({ start, end });
    start = end + 1;
  }
  return runs;
}

function lastOutside(text: string, start: number, end: number, belongs: (code: number) => boolean): number {
  for (let index = end - 1; index >= start; index -= 1) {
    if (!belongs(text.charCodeAt(index))) return index;
  }
  return -1;
}
