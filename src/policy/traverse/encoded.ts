import { isUtf8 } from 'node:buffer';
import { integerDigits, type JsonDocument, kinds } from '../../json/json-document.ts';
import { decodeShortEscape } from '../../json/short-escapes.ts';
import { parseStrictJson } from '../../json/strict-json.ts';

// What a text says in another notation: as a data URL or in base64, as JSON inside of it, or as a number with an exponent.

/** Magic bytes of formats whose text can't be read directly. */
const signatures = [
  '\x89PNG',
  '\xff\xd8\xff',
  'GIF8',
  '%PDF-',
  'PK\x03\x04',
  'RIFF',
  'OggS',
  'fLaC',
  'ID3',
  '\x1f\x8b\x08',
  'BZh',
  '\x28\xb5\x2f\xfd',
  '\xfd7zXZ\x00',
  '7z\xbc\xaf',
  'II*\x00',
  'MM\x00*',
  '\x1aE\xdf\xa3',
  '\xd0\xcf\x11\xe0',
  '\x7fELF',
].map((signature) => Buffer.from(signature, 'latin1'));

/** By their first byte: with most, no format begins. */
const beginnings = Array.from({ length: 256 }, (_, code) => signatures.filter(([first]) => first === code));

const pdf = Buffer.from('%PDF-');
/** PDF readers search for the header within this many bytes. */
const pdfReach = 1024;
const container = Buffer.from('ftyp');

/** Whether bytes begin like a format of pictures, sound, archives or documents. */
function isBinary(bytes: Buffer): boolean {
  const possible = beginnings[bytes[0] ?? 0] ?? [];
  if (possible.some((signature) => bytes.subarray(0, signature.length).equals(signature))) return true;
  if (bytes[4] === container[0] && bytes.subarray(4, 8).equals(container)) return true;
  return bytes.subarray(0, pdfReach).includes(pdf);
}

/** Whether bytes are text that can be read as it stands: UTF-8, Latin-1, or UTF-16 with its mark, without controls. */
export function isPlainText(bytes: Buffer): boolean {
  const mark = bytes.length > 1 ? bytes.readUInt16BE(0) : 0;
  if (mark === 0xfffe || mark === 0xfeff) return bytes.length % 2 === 0 && !hasWideControls(bytes, mark);
  for (let at = 0; at < bytes.length; at += 1) if (isControl(bytes[at] as number)) return false;
  return true;
}

function hasWideControls(bytes: Buffer, mark: number): boolean {
  for (let at = 2; at < bytes.length; at += 2) {
    if (isControl(mark === 0xfffe ? bytes.readUInt16LE(at) : bytes.readUInt16BE(at))) return true;
  }
  return false;
}

/** C0 controls that no text has: all but tab, line ends, form feed and escape. */
function isControl(code: number): boolean {
  return code < 0x20 && !(code >= 0x09 && code <= 0x0d) && code !== 0x1b;
}

/** What encoded bytes contain: texts, each a reading of the same bytes, and whether anything else may be hidden in them. */
export interface Decoded {
  readonly texts: readonly string[];
  readonly isOpaque: boolean;
}

const textTypes =
  /^(?:text\/|application\/(?:[\w.+-]*(?:json|xml|yaml|javascript|ecmascript|typescript|sql|toml|x-sh|x-httpd-php|csv|markdown|ndjson|jsonl)[\w.+-]*)(?:;|$)|image\/svg\+xml|message\/)/;
const base64Only = /^[A-Za-z0-9+/_\s-]*={0,2}\s*$/;
/** Characters that URL parsers skip at the beginning, and further invisible ones. */
const blanks = /^[\s\p{Cc}\p{Cf}]*/u;
const dataUrl = /^data:([^,;]*)((?:;[^,;]*)*),/i;
/** Well-formed data URLs; prose that begins with "data:" is not one. */
const strictDataUrl =
  /^data:((?:[a-z0-9.+-]+\/[a-z0-9.+-]+)?)((?:;[a-z0-9.+-]+(?:=[^;,\s]*)?)*),([a-z0-9+/_=%-]*)/i;
/** How many characters of base64 are enough to distinguish formats; whole groups of four. */
const headLength = 1368;

/**
 * Reads base64. The media type is only a claim: content labelled as text is always read, and content that is text is read
 * under any label. Readers differ in how they treat garbage in base64, so it makes the whole opaque.
 */
function readBase64(data: string, mediaType: string | undefined): Decoded {
  const plain = data.includes('%') ? percentDecode(data).toString('latin1') : data;
  const isAllBase64 = base64Only.test(plain);
  const isText = mediaType !== undefined && isTextType(mediaType);
  if (!isText && isAllBase64 && isBinary(Buffer.from(plain.slice(0, headLength), 'base64'))) return opaque;
  const whole = readBytes(Buffer.from(plain, 'base64'), isText);
  if (isAllBase64) return whole;
  // Some readers stop at padding in the middle, others skip it: it is read both ways.
  const sections = plain.split(/=+/).map((section) => Buffer.from(section, 'base64'));
  const joined = readBytes(Buffer.concat(sections), isText);
  return { texts: [...new Set([...whole.texts, ...joined.texts])], isOpaque: true };
}

function readBytes(bytes: Buffer, isText: boolean): Decoded {
  const isOpaque = isBinary(bytes) || !isPlainText(bytes) || (!isText && bytes.length === 0);
  return isOpaque && !isText ? opaque : { texts: readings(bytes), isOpaque };
}

const opaque: Decoded = { texts: [], isOpaque: true };

/** The bytes as text, in whichever encoding they can be; the likeliest first. */
function readings(bytes: Buffer): readonly string[] {
  if (isUtf8(bytes) && !bytes.includes(0)) return [bytes.toString('utf8')];
  const little = bytes.toString('utf16le');
  const big = Buffer.from(bytes.subarray(0, bytes.length & ~1))
    .swap16()
    .toString('utf16le');
  if (little.startsWith(mark)) return [little.slice(1), bytes.toString('latin1')];
  if (big.startsWith(mark)) return [big.slice(1), bytes.toString('latin1')];
  const single = bytes.toString(isUtf8(bytes) ? 'utf8' : 'latin1');
  return bytes.includes(0) ? [bytes[0] === 0 ? big : little, big, single] : [single, little, big];
}

const mark = '\ufeff';

/** Whether a text that may be base64 without saying so has nothing else in it. */
export function isBase64(data: string): boolean {
  return base64Only.test(data);
}

/** Shorter texts can't contain a picture. */
const minBinaryLength = 64;
/** So many characters of base64 in a row tell it from most texts before anything is decoded. */
const probeLength = 16;

/** Whether a string is base64 that begins like a known format of pictures, sound, archives or documents. */
export function holdsBinary(document: JsonDocument, entry: number): boolean {
  const { bytes } = document;
  const end = document.end(entry);
  let start = document.start(entry);
  while (bytes[start] === blank) start += 1;
  if (end - start < minBinaryLength) return false;
  for (let at = start; at < start + probeLength; at += 1) {
    if (!mayBeBase64[bytes[at] as number]) return false;
  }
  const head = document.isEscaped(entry)
    ? document.text(entry).trimStart().slice(0, minBinaryLength)
    : bytes.toString('latin1', start, start + minBinaryLength);
  return isBinary(Buffer.from(head, 'base64')) && base64Only.test(head);
}

const blank = 0x20;
// With the backslash of an escaped line end or slash.
const mayBeBase64 = Array.from({ length: 256 }, (_, code) => /[\w+/\\-]/.test(String.fromCharCode(code)));

/** Whether a data URL or base64 begins like a PDF; its head is enough. */
export function holdsPdf(head: string): boolean {
  const data = isDataUrl(head) ? head.slice(head.indexOf(',') + 1) : head;
  const plain = data.includes('%') ? percentDecode(data).toString('latin1') : data;
  const bytes = Buffer.from(plain.slice(0, headLength), 'base64');
  return bytes.subarray(0, pdfReach).includes(pdf) || plain.slice(0, pdfReach).includes('%PDF-');
}

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

/** Whether a text is a data URL where a URL or bytes belong. */
export function isDataUrl(text: string): boolean {
  const begin = blanks.exec(text)?.[0].length ?? 0;
  // URL parsers ignore tabs and line breaks anywhere.
  return /^d[\t\n\r]*a[\t\n\r]*t[\t\n\r]*a[\t\n\r]*:/i.test(text.slice(begin));
}

/** Reads the text of a member where a URL or bytes belong: a data URL, and what a file's data hold; undefined for others. */
export function readUrlOrBytes(name: string, text: string): Decoded | undefined {
  return name === 'file_data' && !isDataUrl(text) ? readBase64(text, undefined) : readDataUrl(text);
}

function readDataUrl(text: string): Decoded | undefined {
  if (!isDataUrl(text)) return undefined;
  const begin = blanks.exec(text)?.[0].length ?? 0;
  const comma = text.indexOf(',', begin);
  const head = text.slice(begin, comma < 0 ? undefined : comma + 1).replace(/[\t\n\r]/g, '');
  const [, mediaType = '', parameters = ''] = dataUrl.exec(head) ?? [];
  if (comma < 0) return opaque;
  const data = text.slice(comma + 1);
  // RFC 2397: without a media type it is plain text.
  const type = mediaType.trim() === '' ? 'text/plain' : mediaType;
  if (/;\s*base64\s*$/i.test(parameters.trimEnd())) return readBase64(data, type);
  return readBytes(percentDecode(data), isTextType(type));
}

/** Reads a data URL where prose belongs; undefined if it is prose. */
export function readProseUrl(text: string): Decoded | undefined {
  const begin = blanks.exec(text)?.[0].length ?? 0;
  const [whole, mediaType = '', parameters = '', data = ''] = strictDataUrl.exec(text.slice(begin)) ?? [];
  if (whole === undefined) return undefined;
  const isEntire = begin + whole.length === text.trimEnd().length && data !== '';
  const isBytes = isEntire && /;base64$/i.test(parameters);
  if (mediaType === '' || isTextType(mediaType)) {
    const { texts, isOpaque } = readDataUrl(text) ?? opaque;
    return { texts, isOpaque: isBytes && isOpaque };
  }
  return isBytes ? readBase64(data, mediaType) : undefined;
}

/** Shorter unlabelled base64 is taken for a word. */
const minBase64Length = 32;

/** The content of an object: texts, each a reading of the same bytes at `data`, or content that can't be read. */
interface EncodedSource {
  readonly data: number;
  readonly texts: readonly string[];
  readonly unseen?: 'opaque' | 'reference';
}

/** Whether what a block of this type has as its data was encrypted by the host that it came from. */
export function isEncryptedType(type: string | undefined): boolean {
  return type === 'redacted_thinking' || type === 'reasoning.encrypted';
}

/**
 * Reads an object that contains bytes: `{ media_type, data }`, audio as `{ format, data }`, or `{ url }`. In a
 * conversation type, media type and format may all be missing: bytes are bytes, which short ones are only inside a member
 * for them.
 */
export function readSource(
  document: JsonDocument,
  object: number,
  { isInConversation, isWrapped }: { readonly isInConversation: boolean; readonly isWrapped: boolean },
): EncodedSource | undefined {
  const type = document.memberText(object, 'type');
  const url = document.memberText(object, 'url');
  if (url !== undefined && !isDataUrl(url) && (type === 'url' || (type === undefined && isInConversation))) {
    return { data: object, texts: [], unseen: 'reference' };
  }
  const data = document.member(object, 'data');
  if (data === undefined || document.kind(data) === kinds.null) return undefined;
  if (type === 'text' || isEncryptedType(type)) return undefined;
  const [mediaType] = ['media_type', 'mime_type', 'mimeType'].flatMap(
    (name) => document.memberText(object, name) ?? [],
  );
  const isSound = document.memberText(object, 'format') !== undefined;
  const isClaimed = mediaType !== undefined || type === 'base64' || isSound;
  if (document.kind(data) !== kinds.string) {
    return isClaimed ? { data, texts: [], unseen: 'opaque' } : undefined;
  }
  const text = document.text(data);
  // A data URL has already been read in place.
  if (isDataUrl(text)) return undefined;
  const isLong = text.length >= (isWrapped ? 1 : minBase64Length);
  const isHidden = isInConversation ? isLong && isBase64(text) : holdsBinary(document, data);
  if (!isClaimed && !isHidden) return undefined;
  const { texts, isOpaque } = readBase64(text, mediaType);
  return isOpaque ? { data, texts, unseen: 'opaque' } : { data, texts };
}

function isTextType(mediaType: string): boolean {
  return textTypes.test(mediaType.trim().toLowerCase());
}

/** The percent-decoded bytes of a text; a percent sign that encodes nothing stays. */
export function percentDecode(text: string): Buffer {
  const bytes = Buffer.from(text);
  let length = bytes.indexOf(percentSign);
  if (length < 0) return bytes;
  for (let at = length; at < bytes.length; length += 1) {
    const decoded = bytes[at] === percentSign ? byteAt(bytes, at + 1) : -1;
    bytes[length] = decoded < 0 ? (bytes[at] as number) : decoded;
    at += decoded < 0 ? 1 : 3;
  }
  return bytes.subarray(0, length);
}

/** The byte that two hex digits stand for; -1 where there are none. */
function byteAt(bytes: Buffer, at: number): number {
  const high = hexDigit(bytes[at]);
  const low = hexDigit(bytes[at + 1]);
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

function hexDigit(code = 0): number {
  if (code >= 48 && code <= 57) return code - 48;
  const lower = code | 0x20;
  return lower >= 97 && lower <= 102 ? lower - 87 : -1;
}

const percentSign = 0x25;

// ---------------------------------------------------------------- JSON in a text

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

// ---------------------------------------------------------------- numbers

const point = 0x2e;
const letterE = 0x65;
const zero = 0x30;
const nine = 0x39;

/** Shorter numbers can't contain anything that a detector searches for. */
const minNumber = 1e6;
/** Digits before the point of a number that may be rounded to that. */
const minDigits = 6;
/** No detector looks for more digits. */
const maxDigits = 31;

/**
 * The digits hidden by another notation: 4.111111111111111e15 is a card number too. A model reads the decimal as
 * written, a program the nearest double, so if they differ there are two readings.
 */
export function readDigits(document: JsonDocument, entry: number): readonly string[] {
  if (!mayHideDigits(document, entry)) return [];
  const raw = document.raw(entry);
  const value = Math.abs(Number(raw));
  if (value < minNumber || value >= 10 ** maxDigits) return [];
  const exact = integerDigits(raw, maxDigits);
  const rounded = Number.isInteger(value) ? String(BigInt(value)) : undefined;
  return [...new Set([exact, rounded])].filter((digits) => digits !== undefined);
}

/** Whether a number has an exponent, or a decimal point after at least as many digits as matter; few have. */
function mayHideDigits(document: JsonDocument, entry: number): boolean {
  const { bytes } = document;
  const start = document.start(entry);
  const end = document.end(entry);
  let isLong = false;
  for (let at = start; at < end; at += 1) {
    const byte = bytes[at] as number;
    if (byte === point) isLong = at - start >= minDigits;
    if ((byte | 0x20) === letterE) return true;
  }
  return isLong;
}

/** Bytes of numbers, `true`, `false` and `null`, of lists of them, and of escaped blanks. */
const stringless = tableOf('0123456789+-.eE,[] truefalsn\\');
const firstOfNumbers = tableOf('-0123456789[ \\');

function tableOf(characters: string): Uint8Array {
  const table = new Uint8Array(256);
  for (const character of characters) table[character.charCodeAt(0)] = 1;
  return table;
}

/**
 * Whether a string may be a JSON number with an exponent, or a list that contains one; prose is ruled out by its first
 * letters. Without an exponent nothing is hidden: the digits are in the string.
 */
export function mayBeNumbers({ bytes }: JsonDocument, start: number, end: number): boolean {
  if (firstOfNumbers[bytes[start] as number] === 0) return false;
  let hasDigits = false;
  let hasExponent = false;
  for (let at = start; at < end; at += 1) {
    const byte = bytes[at] as number;
    if (stringless[byte] === 0) return false;
    if (byte <= nine && byte >= zero) hasDigits = true;
    else if (hasDigits && (byte | 0x20) === letterE) hasExponent = true;
  }
  return hasExponent;
}

// Begins only outside of a number, so that a long run of digits is read once.
const exponential = /(?<![\d.])\d+(?:\.\d+)?[eE][+-]?\d+/g;

/** A text with its exponents expanded to digits, for JSON that strict parsing refuses. */
export function spellNumbers(text: string): string {
  return text.replace(exponential, (number) => integerDigits(number, maxDigits) ?? number);
}

/** Numbers where text belongs: the value itself, or the part of a list that is or contains one, at any depth. */
export function findNumber(document: JsonDocument, entry: number): number | undefined {
  const kind = document.kind(entry);
  if (kind === kinds.number) return entry;
  if (kind !== kinds.array) return undefined;
  for (let at = entry + 1; at < document.next(entry); at = document.next(at)) {
    if (findNumber(document, at) !== undefined) return at;
  }
  return undefined;
}
