import { longRunLength } from '../detectors/detector.ts';
import type { TextBytes } from './code-points.ts';

const separates = 2;
const backslash = 0x5c;
const letterU = 0x75;
const slash = 0x2f;

/**
 * By byte of a JSON string in UTF-8: 1 if it counts as a character of a run, 0 if it only continues a character,
 * `separates` if it ends a run. Beyond ASCII everything counts that the folded view may read as a letter or a digit, or
 * not see at all: all but U+4000 to U+9FFF and U+B000 to U+DFFF, which are most of Chinese and Korean.
 */
const kinds = Uint8Array.from({ length: 256 }, (_, byte) => {
  if (byte < 0x80) return /[a-z0-9_.~$+/=-]/i.test(String.fromCharCode(byte)) ? 1 : separates;
  if (byte < 0xc0) return 0;
  return byte >= 0xe4 && byte <= 0xed && byte !== 0xea ? separates : 1;
});

/** Whether there may be a run as long as keys, with a digit, which paths mostly lack. What is not ASCII counts as one. */
export function hasKeyRun(text: TextBytes): boolean {
  return findRun(text, longRunLength, false);
}

/** Whether so many characters of keys may stand in a row, digits or not. */
export function hasRun(text: TextBytes, length: number): boolean {
  return findRun(text, length, true);
}

/**
 * Looks at one byte in `length` where a text is ordinary, and at none more than twice. Never misses a run, but takes an
 * escape like `\u0041` for six characters.
 */
function findRun(text: TextBytes, length: number, needsNoDigit: boolean): boolean {
  const { start, end } = text;
  let from = start;
  while (from + length <= end) {
    let at = from + length - 1;
    while (at >= from && kindAt(text, at) !== separates) at -= 1;
    if (at >= from) {
      from = at + 1;
      continue;
    }
    let count = 0;
    let hasDigit = needsNoDigit;
    for (at = from; at < end; at += 1) {
      const kind = kindAt(text, at);
      if (kind === separates) break;
      count += kind;
      hasDigit ||= mayBeDigit(text.bytes[at] as number);
      if (hasDigit && count >= length) return true;
    }
    from = at + 1;
  }
  return false;
}

/** The run at the beginning of a text, up to the length that matters, and whether it is the whole text. */
export function runAtStart(text: TextBytes): { readonly length: number; readonly fillsText: boolean } {
  let length = 0;
  for (let at = text.start; at < text.end; at += 1) {
    const kind = kindAt(text, at);
    if (kind === separates || length >= longRunLength) return { length, fillsText: false };
    length += kind;
  }
  return { length, fillsText: true };
}

/** The length of the run at the end of a text, up to the length that matters. */
export function runAtEnd(text: TextBytes): number {
  let length = 0;
  for (let at = text.end - 1; at >= text.start && length < longRunLength; at -= 1) {
    const kind = kindAt(text, at);
    if (kind === separates) break;
    length += kind;
  }
  return length;
}

/** Whether a character of a text that is no JSON belongs to a run. */
export function isInRun(codePoint: number): boolean {
  return codePoint >= 0x80 || kinds[codePoint] === 1;
}

function mayBeDigit(byte: number): boolean {
  return (byte >= 0x30 && byte <= 0x39) || byte >= 0x80 || byte === backslash;
}

function kindAt({ bytes, end }: TextBytes, at: number): number {
  const byte = bytes[at] as number;
  if (byte === backslash && at + 1 < end && (bytes[at + 1] === letterU || bytes[at + 1] === slash)) return 1;
  return kinds[byte] as number;
}
