import { shortEscapes } from '../../json/short-escapes.ts';
import { longRunLength } from '../detectors/detector.ts';

/** A text as it stands in a JSON string: UTF-8, in which every backslash begins an escape. */
export interface TextBytes {
  readonly bytes: Uint8Array;
  /** The same bytes, to be read by the word. */
  readonly words: DataView;
  readonly start: number;
  readonly end: number;
}

/** Longest a character can be in the bytes of a JSON string: two escapes of six bytes. */
const maxCharacterBytes = 12;

const backslash = 0x5c;
const letterU = 0x75;

/** One character of a strictly read text: its code point and how many bytes it takes. */
export interface Character {
  codePoint: number;
  length: number;
}

/**
 * Reads the character at a place into `into`. The bytes must be valid UTF-8 with valid JSON escapes. A surrogate
 * escape without its partner stands for itself.
 */
export function readCharacter(bytes: Uint8Array, at: number, into: Character): void {
  const byte = bytes[at] as number;
  if (byte === backslash) return readEscape(bytes, at, into);
  if (byte < 0x80) return set(into, byte, 1);
  const second = (bytes[at + 1] as number) & 0x3f;
  if (byte < 0xe0) return set(into, ((byte & 0x1f) << 6) | second, 2);
  const third = (bytes[at + 2] as number) & 0x3f;
  if (byte < 0xf0) return set(into, ((byte & 0x0f) << 12) | (second << 6) | third, 3);
  const fourth = (bytes[at + 3] as number) & 0x3f;
  return set(into, ((byte & 0x07) << 18) | (second << 12) | (third << 6) | fourth, 4);
}

function readEscape(bytes: Uint8Array, at: number, into: Character): void {
  const letter = bytes[at + 1] as number;
  if (letter !== letterU) return set(into, shortEscapes[letter] as number, 2);
  const high = readHex(bytes, at + 2);
  if (high >= 0xd800 && high < 0xdc00 && bytes[at + 6] === backslash && bytes[at + 7] === letterU) {
    const low = readHex(bytes, at + 8);
    if (low >= 0xdc00 && low < 0xe000) {
      return set(into, 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00), maxCharacterBytes);
    }
  }
  return set(into, high, 6);
}

function readHex(bytes: Uint8Array, at: number): number {
  let value = 0;
  for (let i = 0; i < 4; i += 1) {
    const byte = bytes[at + i] as number;
    value = value * 16 + (byte <= 0x39 ? byte - 0x30 : (byte | 0x20) - 0x57);
  }
  return value;
}

function set(into: Character, codePoint: number, length: number): void {
  into.codePoint = codePoint;
  into.length = length;
}

// ---------------------------------------------------------------- runs of characters of keys

const separates = 2;
const slash = 0x2f;

/**
 * By byte of a JSON string in UTF-8: 1 if it counts as a character of a run, 0 if it only continues a character,
 * `separates` if it ends a run. Beyond ASCII everything counts that the folded view may read as a letter or a digit, or
 * not see at all: all but U+4000 to U+9FFF and U+B000 to U+DFFF, which are most of Chinese and Korean.
 */
const runKinds = Uint8Array.from({ length: 256 }, (_, byte) => {
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

/** Bytes of which one ends a run nearly everywhere in an ordinary text, most often a space. */
const probeBytes = 8;

/**
 * Looks at eight bytes in `length` where a text is ordinary, and at none more than three times: a run of that length holds all
 * eight of one such probe. Never misses a run, but takes an escape like `\u0041` for six characters.
 */
function findRun(text: TextBytes, length: number, needsNoDigit: boolean): boolean {
  const { bytes, words, end } = text;
  const hasWords = words.byteLength > 0;
  let from = text.start;
  let probe = from + length - probeBytes;
  while (probe + probeBytes <= end) {
    if ((hasWords && hasSpace(words, probe)) || endsRun(bytes, probe)) {
      probe += length - probeBytes + 1;
      continue;
    }
    let at = probe;
    while (at > from && kindAt(text, at - 1) !== separates) at -= 1;
    let count = 0;
    let hasDigit = needsNoDigit;
    for (; at < end; at += 1) {
      const kind = kindAt(text, at);
      if (kind === separates) break;
      count += kind;
      hasDigit ||= mayBeDigit(bytes[at] as number);
      if (hasDigit && count >= length) return true;
    }
    from = at + 1;
    probe = from + length - probeBytes;
  }
  return false;
}

/** Whether one of the eight bytes at a place is a space, by arithmetic on four bytes at once. */
function hasSpace(words: DataView, at: number): boolean {
  const one = words.getInt32(at, true) ^ 0x20202020;
  const other = words.getInt32(at + 4, true) ^ 0x20202020;
  return ((((one - 0x01010101) & ~one) | ((other - 0x01010101) & ~other)) & 0x80808080) !== 0;
}

/** Whether one of the eight bytes at a place ends a run, whatever stands around it. */
function endsRun(bytes: Uint8Array, from: number): boolean {
  for (let at = from; at < from + probeBytes; at += 1) {
    const byte = bytes[at] as number;
    if (runKinds[byte] === separates && byte !== backslash) return true;
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
  return codePoint >= 0x80 || runKinds[codePoint] === 1;
}

function mayBeDigit(byte: number): boolean {
  return (byte >= 0x30 && byte <= 0x39) || byte >= 0x80 || byte === backslash;
}

function kindAt({ bytes, end }: TextBytes, at: number): number {
  const byte = bytes[at] as number;
  if (byte === backslash && at + 1 < end && (bytes[at + 1] === letterU || bytes[at + 1] === slash)) return 1;
  return runKinds[byte] as number;
}
