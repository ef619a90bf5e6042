import { isUtf8 } from 'node:buffer';
import type { JsonDocument } from '../../json/json-document.ts';

const point = 0x2e;
const letterE = 0x65;

/** Smaller numbers hide nothing that anybody looks for. */
const leastNumber = 1e6;
/** Digits before the point of a number that may be rounded to that. */
const leastDigits = 6;

/** What a text that stands for something else holds. */
export type Encoded =
  | { readonly kind: 'texts'; readonly texts: readonly string[] }
  | { readonly kind: 'opaque' };

const textTypes =
  /^(?:text\/|application\/(?:[\w.+-]*(?:json|xml|yaml|javascript|ecmascript|typescript|sql|toml|x-sh|x-httpd-php|csv|markdown|ndjson|jsonl)[\w.+-]*)$|image\/svg\+xml|message\/)/;
const dataUrl = /^\s*data:([^,;]*)((?:;[^,;]*)*),/i;

/** Whether a media type is one of text, so that its bytes can be read. */
export function isTextType(mediaType: string): boolean {
  return textTypes.test(mediaType.trim().toLowerCase());
}

/** Reads a data URL; undefined where the text is none. */
export function readDataUrl(text: string): Encoded | undefined {
  const head = dataUrl.exec(text);
  if (head === null) return undefined;
  const [whole, mediaType = '', parameters = ''] = head;
  // RFC 2397: without a media type it is plain text.
  if (mediaType.trim() !== '' && !isTextType(mediaType)) return { kind: 'opaque' };
  const data = text.slice(whole.length);
  if (/;\s*base64\s*$/i.test(parameters)) return readBase64(data);
  return { kind: 'texts', texts: [percentDecode(data)] };
}

/** Reads base64 as text, in whichever encoding its bytes can be. */
export function readBase64(data: string): Encoded {
  // Some writers percent-encode the padding; Buffer reads base64url and skips white space by itself.
  const bytes = Buffer.from(data.includes('%') ? percentDecode(data) : data, 'base64');
  if (isUtf8(bytes)) return { kind: 'texts', texts: [bytes.toString('utf8')] };
  const swapped = Buffer.from(bytes.subarray(0, bytes.length & ~1)).swap16();
  return {
    kind: 'texts',
    texts: [bytes.toString('latin1'), bytes.toString('utf16le'), swapped.toString('utf16le')],
  };
}

/** Reads a text that may be base64 without saying so; undefined where it is not. */
export function readBareBase64(data: string): Encoded | undefined {
  if (/^\s*data:/i.test(data) || !/^[A-Za-z0-9+/_=\s-]+$/.test(data)) return undefined;
  const bytes = Buffer.from(data, 'base64');
  if (bytes.length === 0) return undefined;
  return isUtf8(bytes) && !bytes.includes(0)
    ? { kind: 'texts', texts: [bytes.toString('utf8')] }
    : { kind: 'opaque' };
}

/** The digits of a number that hides them: 4.111111111111111e15 is a card number too. */
export function readDigits(document: JsonDocument, entry: number): string | undefined {
  if (!mayHideDigits(document, entry)) return undefined;
  const value = Number(document.raw(entry));
  if (!Number.isInteger(value) || Math.abs(value) < leastNumber || Math.abs(value) > 1e30) return undefined;
  return String(BigInt(value));
}

/** Whether a number is written with an exponent, or with a point behind as many digits as are worth it; most are not. */
function mayHideDigits(document: JsonDocument, entry: number): boolean {
  const { bytes } = document;
  const start = document.start(entry);
  const end = document.end(entry);
  let isLong = false;
  for (let at = start; at < end; at += 1) {
    const byte = bytes[at] as number;
    if (byte === point) isLong = at - start >= leastDigits;
    if ((byte | 0x20) === letterE) return true;
  }
  return isLong;
}

function percentDecode(text: string): string {
  const bytes = text.replace(/(?:%[0-9a-f]{2})+/gi, (codes) =>
    Buffer.from(codes.replaceAll('%', ''), 'hex').toString('utf8'),
  );
  return bytes;
}

const jsonEscape = /\\(?:u([0-9a-fA-F]{4})|(["\\/bfnrt]))/g;
const letters: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

/** Replaces what looks like JSON escapes, for text that resembles JSON but is none. */
export function unescapeJson(text: string): string {
  return text.replace(jsonEscape, (_whole, hex: string | undefined, letter: string | undefined) => {
    if (hex !== undefined) return String.fromCharCode(Number.parseInt(hex, 16));
    return letters[letter ?? ''] ?? letter ?? '';
  });
}
