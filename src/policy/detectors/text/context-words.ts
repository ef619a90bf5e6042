import { isDigit, isLatinLetter } from './characters.ts';

const lookBack = 48;

/**
 * The lower-cased words shortly before a place, on its own line, for detectors whose shape alone can't tell.
 * A constant number of characters is looked at.
 */
export function wordsBefore(text: string, start: number): string {
  const context = text.slice(Math.max(0, start - lookBack), start);
  return context.slice(context.lastIndexOf('\n') + 1).toLowerCase();
}

/**
 * The nearest letter before a place, at most `gap` other characters away, with neither a digit nor a line end
 * between; -1 if there is none, and so no word that announces what stands there. That is cheaper to find
 * out than by patterns.
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

/** Whether that letter may end a word: of two letters at least, or after a slash ("p/n"). */
export function followsWord(text: string, start: number, gap: number): boolean {
  const last = letterBefore(text, start, gap);
  if (last === -1 || text.charCodeAt(last) > 0x7f) return last !== -1;
  const before = text.charCodeAt(last - 1);
  return isLatinLetter(before) || before === 47 || before > 0x7f;
}
