import { isDigit, isLatinLetter } from './characters.ts';

const lookBack = 48;

/**
 * The lower-cased words shortly before an index, on the same line, for detectors whose format alone is not distinctive.
 * Reads a bounded number of characters.
 */
export function wordsBefore(text: string, start: number): string {
  const context = text.slice(Math.max(0, start - lookBack), start);
  return context.slice(context.lastIndexOf('\n') + 1).toLowerCase();
}

/**
 * Index of the nearest letter before an index, at most `gap` other characters away, without a digit or line break in
 * between; -1 if there is none, and so no word that announces a value. Cheaper than a regex.
 */
export function letterBefore(text: string, start: number, gap: number): number {
  const first = Math.max(0, start - gap - 1);
  for (let at = start - 1; at >= first; at -= 1) {
    const code = text.charCodeAt(at);
    if (isDigit(code) || code === 10) return -1;
    if (isLatinLetter(code) || code > 0x7f) return at;
  }
  return -1;
}

/** Whether that letter can end a word: of at least two letters, or after a slash ("p/n"). */
export function followsWord(text: string, start: number, gap: number): boolean {
  const last = letterBefore(text, start, gap);
  if (last === -1 || text.charCodeAt(last) > 0x7f) return last !== -1;
  const before = text.charCodeAt(last - 1);
  return isLatinLetter(before) || before === 47 || before > 0x7f;
}
