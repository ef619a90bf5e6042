import type { JsonDocument } from '../../json/json-document.ts';
import { decodeShortEscape } from '../../json/short-escapes.ts';
import { parseStrictJson } from '../../json/strict-json.ts';

const backslash = 0x5c;
const letterU = 0x75;
const blankEscapes = Buffer.from('bfnrt');
const scheme = Buffer.from('data:');
/** Characters of `\u0041`. */
const escapeLength = 6;
/** What a data URL may begin with, half of a character included. */
const beginsUrl = /^[d\s\p{Cc}\p{Cf}\p{Cs}]/iu;

/** Whether a string may be a data URL; a quick no for nearly all. */
export function mayBeDataUrl({ bytes }: JsonDocument, start: number, end: number): boolean {
  const first = bytes[start] as number;
  // After white space and marks of other planes, or in escapes, a closer look is needed.
  if (first <= 0x20 || first === backslash || first >= 0xc2) return mayBeginBlank(bytes, start, end);
  return startsWithScheme(bytes, start, end);
}

/** White space and invisible characters begin with few different bytes; letters of most scripts with others. */
function mayBeginBlank(bytes: Buffer, start: number, end: number): boolean {
  let at = start;
  while (at < end) {
    if ((bytes[at] as number) <= 0x20) at += 1;
    else if (bytes[at] === backslash && blankEscapes.includes(bytes[at + 1] as number)) at += 2;
    else break;
  }
  if (at === end) return false;
  const first = bytes[at] as number;
  const second = bytes[at + 1] as number;
  if (first === backslash && second === letterU && end - at >= escapeLength) {
    const unit = Number.parseInt(bytes.toString('latin1', at + 2, at + escapeLength), 16);
    return beginsUrl.test(String.fromCharCode(unit));
  }
  const isBlank =
    (first === 0xc2 && second <= 0xad) ||
    (first === 0xe1 && second <= 0xa0) ||
    (first === 0xe2 && second <= 0x81) ||
    (first === 0xe3 && second === 0x80) ||
    (first === 0xef && second >= 0xbb) ||
    (first === 0xf3 && second === 0xa0);
  return isBlank || startsWithScheme(bytes, at, end);
}

function startsWithScheme(bytes: Buffer, start: number, end: number): boolean {
  if (end - start < scheme.length) return false;
  for (let at = 0; at < scheme.length; at += 1) {
    const byte = bytes[start + at] as number;
    // What URL parsers ignore can only occur there escaped.
    if (byte === backslash) return true;
    if ((byte | 0x20) !== ((scheme[at] as number) | 0x20)) return false;
  }
  return true;
}

/** Whether a text with this first byte may be JSON. */
export function mayBeJson(first: number): boolean {
  // The last two are the first bytes of a no-break space and a byte order mark, which readers skip.
  const isSpace = first === 0x20 || first === 0xc2 || first === 0xef;
  return first === 0x7b || first === 0x5b || first === backslash || isSpace;
}

/** Whether a text begins like JSON, and has escapes or ends like JSON as well. */
export function mayHideTexts(text: string): boolean {
  const first = text.charCodeAt(0);
  if (first !== 0x7b && first !== 0x5b && !/^\s*[[{"]/.test(text)) return false;
  return text.includes('\\') || /[\]}]\s*$/.test(text.slice(-64));
}

/** A text that is JSON, as the only member of a document; undefined if it is not JSON, or not strict. */
export function parseNested(text: string): JsonDocument | undefined {
  try {
    const document = parseStrictJson(Buffer.from(`{"":${text}}`));
    // A text such as `1,"b":2` would read as two members.
    return document.next(2) === document.count ? document : undefined;
  } catch {
    // Not JSON, or not strict: read as text by its escapes instead.
    return undefined;
  }
}

const jsonEscape = /\\(?:u([0-9a-fA-F]{4})|(["\\/bfnrt]))/g;

/** Replaces what looks like JSON escapes, for text that resembles JSON but isn't. */
export function unescapeJson(text: string): string {
  return text.replace(jsonEscape, (_whole, hex: string | undefined, letter: string | undefined) => {
    if (hex !== undefined) return String.fromCharCode(Number.parseInt(hex, 16));
    return decodeShortEscape(letter ?? '');
  });
}
