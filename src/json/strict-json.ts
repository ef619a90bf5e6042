import { isAscii, isUtf8 } from 'node:buffer';
import { GatewayError } from '../errors.ts';
import { JsonDocument, kinds, stringFlags } from './json-document.ts';
import { isShortEscape } from './short-escapes.ts';

// What the bytes inside a JSON string mean: as tables, and as arithmetic on four bytes at once.

const highBits = 0x80808080 | 0;
/** Bytes that need no attention inside a string: no quote, backslash or control character (RFC 8259, section 7). */
const isPlain = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= 0x20 && byte !== 0x22 && byte !== 0x5c ? 1 : 0,
);

/**
 * Sets the high bit of each of four bytes that is a quote, a backslash or a control character. Only the lowest set bit
 * is reliable: a match's borrow may set the bit of the byte above it.
 */
function stopBits(word: number): number {
  // 0x22 ^ 0x02 is 0x20, so the quote lands just above the control characters, with no other byte between.
  const belowQuote = (word ^ 0x02020202) - 0x21212121;
  const isBackslash = (word ^ 0x5c5c5c5c) - 0x01010101;
  return (belowQuote | isBackslash) & ~word & highBits;
}

/** The index of the lowest of four bytes whose high bit is set; there must be one. */
function firstStop(stops: number): number {
  return (31 - Math.clz32(stops & -stops)) >> 3;
}

/** How deep containers may be nested. */
const depthLimit = 100;
/** Bytes between two checkpoints; the worst take 60 ns each. */
const checkpointBytes = 1_024;
const noCheckpoint = () => {};

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const letterU = 0x75;
const underscore = 0x5f;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;

/**
 * Accepts only bytes that every parser reads in the same way: UTF-8 without a byte order mark, one JSON object, no
 * duplicate keys (escapes decoded), no `__proto__` key, at most 100 levels, finite numbers. Such bytes can be forwarded
 * as they came.
 *
 * Throws request.encoding, request.invalid_json (with the byte's offset), request.duplicate_key,
 * request.too_deep and request.field (with the JSON pointer). `checkpoint` is called in between, and may throw to end it.
 */
export function parseStrictJson(bytes: Buffer, checkpoint = noCheckpoint): JsonDocument {
  const isAsciiOnly = isAscii(bytes);
  if (!isAsciiOnly) checkEncoding(bytes);
  return new Scanner(new JsonDocument(bytes, isAsciiOnly), checkpoint).scan();
}

function checkEncoding(bytes: Buffer): void {
  if (!isUtf8(bytes)) throw new GatewayError('request.encoding', 'the body is not valid UTF-8');
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) {
    throw new GatewayError('request.encoding', 'the body begins with a byte order mark; send plain UTF-8');
  }
}

/** Fills the document's tape in one pass. The stack is explicit, so that deep nesting can't overflow the engine's. */
class Scanner {
  readonly #bytes: Buffer;
  readonly #words: DataView;
  /** Where the last two words begin. */
  readonly #lastWords: number;
  readonly #document: JsonDocument;
  /** Entries of the open containers. */
  readonly #stack: number[] = [];
  #depth = 0;
  #at = 0;
  readonly #checkpoint: () => void;
  /** Where the checkpoint is called next. */
  #nextCheckpoint = checkpointBytes;

  constructor(document: JsonDocument, checkpoint: () => void) {
    this.#checkpoint = checkpoint;
    this.#bytes = document.bytes;
    this.#words = document.words;
    this.#lastWords = document.words.byteLength - 8;
    this.#document = document;
  }

  scan(): JsonDocument {
    this.#skipSpace();
    if (this.#bytes[this.#at] !== openBrace) throw this.#invalid('expected a JSON object');
    this.#open(kinds.object);
    while (this.#depth > 0) {
      this.#step();
      if (this.#at >= this.#nextCheckpoint) this.#pause();
    }
    this.#skipSpace();
    if (this.#at < this.#bytes.length) throw this.#invalid('expected nothing after the object');
    return this.#document;
  }

  #pause(): void {
    this.#nextCheckpoint = this.#at + checkpointBytes;
    this.#checkpoint();
  }

  /** Reads one member or element of the innermost container, or its end. */
  #step(): void {
    const container = this.#stack[this.#depth - 1] as number;
    const isObject = this.#document.kind(container) === kinds.object;
    const isFirst = this.#document.count === container + 1;
    this.#skipSpace();
    if (this.#bytes[this.#at] === (isObject ? closeBrace : closeBracket)) return this.#close(isObject);
    if (!isFirst) {
      if (this.#bytes[this.#at] !== comma) {
        throw this.#invalid(isObject ? 'expected , or }' : 'expected , or ]');
      }
      this.#at += 1;
      this.#skipSpace();
    }
    if (isObject) this.#key();
    this.#value();
  }

  #key(): void {
    if (this.#bytes[this.#at] !== quote) throw this.#invalid('expected a key in double quotes');
    const entry = this.#string(stringFlags.key);
    const first = this.#bytes[this.#document.start(entry)];
    // A rare first byte: an underscore, or the backslash of its escape.
    if ((first === underscore || first === backslash) && this.#document.text(entry) === '__proto__') {
      throw new GatewayError('request.field', 'the key __proto__ is not allowed', {
        param: this.#document.pointer(entry),
      });
    }
    this.#skipSpace();
    if (this.#bytes[this.#at] !== 0x3a) throw this.#invalid('expected : after a key');
    this.#at += 1;
    this.#skipSpace();
  }

  #value(): void {
    switch (this.#bytes[this.#at]) {
      case quote:
        this.#string(0);
        return;
      case openBrace:
        return this.#open(kinds.object);
      case openBracket:
        return this.#open(kinds.array);
      case 0x74:
        return this.#word('true', kinds.true);
      case 0x66:
        return this.#word('false', kinds.false);
      case 0x6e:
        return this.#word('null', kinds.null);
      default:
        return this.#number();
    }
  }

  #open(kind: number): void {
    const entry = this.#document.add(kind, this.#at, 0);
    if (this.#depth === depthLimit) {
      throw new GatewayError('request.too_deep', `the body nests more than ${depthLimit} levels`);
    }
    this.#stack[this.#depth] = entry;
    this.#depth += 1;
    this.#at += 1;
  }

  #close(isObject: boolean): void {
    this.#at += 1;
    this.#depth -= 1;
    const container = this.#stack[this.#depth] as number;
    this.#document.close(container, this.#at);
    if (isObject) this.#checkDuplicates(container);
  }

  #checkDuplicates(object: number): void {
    const duplicate = duplicateKey(this.#document, object, this.#checkpoint);
    if (duplicate === undefined) return;
    throw new GatewayError('request.duplicate_key', 'a key is used twice in one object', {
      param: this.#document.pointer(duplicate),
    });
  }

  #string(flags: number): number {
    const bytes = this.#bytes;
    const words = this.#words;
    const lastWords = this.#lastWords;
    const start = this.#at + 1;
    let found = flags;
    let at = start;
    for (;;) {
      // Two words per iteration; two-byte escapes, which program text is full of, stay in the loop.
      while (at <= lastWords) {
        let stops = stopBits(words.getInt32(at, true));
        if (stops === 0) {
          at += 4;
          stops = stopBits(words.getInt32(at, true));
          if (stops === 0) {
            at += 4;
            continue;
          }
        }
        at += firstStop(stops);
        if (bytes[at] !== backslash || !isShortEscape(bytes[at + 1])) break;
        found |= stringFlags.escaped;
        at += 2;
      }
      if (at > lastWords) while (isPlain[bytes[at] as number] === 1) at += 1;
      const byte = bytes[at];
      if (byte === quote) break;
      this.#at = at;
      if (byte === undefined) throw this.#invalid('a string does not end');
      if (byte !== backslash) throw this.#invalid('a control character must be escaped');
      found |= stringFlags.escaped;
      if (isShortEscape(bytes[at + 1])) at += 2;
      else {
        at += this.#longEscape(at);
        found |= stringFlags.unicodeEscaped;
      }
    }
    this.#at = at + 1;
    return this.#document.add(kinds.string | found, start, at);
  }

  #longEscape(at: number): number {
    const bytes = this.#bytes;
    if (bytes[at + 1] !== letterU) throw this.#invalid('this escape does not exist in JSON');
    if (isHex(bytes[at + 2]) && isHex(bytes[at + 3]) && isHex(bytes[at + 4]) && isHex(bytes[at + 5]))
      return 6;
    throw this.#invalid('\\u needs four hexadecimal digits');
  }

  #word(word: string, kind: number): void {
    const start = this.#at;
    for (let i = 0; i < word.length; i += 1) {
      if (this.#bytes[start + i] !== word.charCodeAt(i)) throw this.#invalid('expected a value');
    }
    this.#at = start + word.length;
    this.#document.add(kind, start, this.#at);
  }

  /** The grammar of RFC 8259, section 6. Numbers that no double can hold are refused: parsers disagree about them. */
  #number(): void {
    const bytes = this.#bytes;
    const start = this.#at;
    let at = start;
    if (bytes[at] === 0x2d) at += 1;
    const whole = at;
    at = skipDigits(bytes, at);
    if (at === whole) throw this.#invalid(start === whole ? 'expected a value' : 'expected a digit after -');
    if (bytes[whole] === 0x30 && at > whole + 1) throw this.#invalid('a number may not begin with 0');
    if (bytes[at] === 0x2e) at = this.#digitsAfter(at);
    let mayOverflow = at - start > 300;
    if (bytes[at] === 0x65 || bytes[at] === 0x45) {
      const sign = bytes[at + 1];
      at = this.#digitsAfter(sign === 0x2b || sign === 0x2d ? at + 1 : at);
      mayOverflow = true;
    }
    this.#at = at;
    const entry = this.#document.add(kinds.number, start, at);
    if (mayOverflow && !Number.isFinite(Number(bytes.toString('latin1', start, at)))) {
      throw new GatewayError('request.field', 'the number is too large', {
        param: this.#document.pointer(entry),
      });
    }
  }

  #digitsAfter(at: number): number {
    const end = skipDigits(this.#bytes, at + 1);
    if (end > at + 1) return end;
    this.#at = end;
    throw this.#invalid('expected a digit');
  }

  #skipSpace(): void {
    const bytes = this.#bytes;
    let at = this.#at;
    for (;;) {
      const byte = bytes[at];
      if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) break;
      at += 1;
    }
    this.#at = at;
  }

  #invalid(what: string): GatewayError {
    const where = this.#at >= this.#bytes.length ? 'where the body ends' : `at byte ${this.#at}`;
    return new GatewayError('request.invalid_json', `the body is not valid JSON: ${what} ${where}`);
  }
}

function isHex(byte: number | undefined): boolean {
  if (byte === undefined) return false;
  const letter = byte | 0x20;
  return (byte >= 0x30 && byte <= 0x39) || (letter >= 0x61 && letter <= 0x66);
}

function skipDigits(bytes: Buffer, from: number): number {
  let at = from;
  while ((bytes[at] as number) >= 0x30 && (bytes[at] as number) <= 0x39) at += 1;
  return at;
}

// Up to this many keys, comparing all pairs is faster than a table.
const pairwiseKeys = 8;
/** Average number of probes per key at which the table is abandoned. */
const looksPerKey = 4;

/** The second of two equal keys of a closed object; undefined if all keys differ. */
function duplicateKey(document: JsonDocument, object: number, checkpoint: () => void): number | undefined {
  const end = document.next(object);
  let keys = 0;
  let isEscaped = false;
  for (let key = object + 1; key < end; key = document.next(key + 1)) {
    keys += 1;
    isEscaped ||= document.isEscaped(key);
  }
  if (isEscaped) return duplicateInSet(document, object, checkpoint);
  return keys > pairwiseKeys
    ? duplicateInTable(document, object, { keys, checkpoint })
    : duplicateInPairs(document, object);
}

/** Compares decoded keys, since escapes can write the same key in different ways. */
function duplicateInSet(document: JsonDocument, object: number, checkpoint: () => void): number | undefined {
  const seen = new Set<string>();
  for (let key = object + 1; key < document.next(object); key = document.next(key + 1)) {
    const text = document.isEscaped(key) ? wellFormed(document.text(key)) : document.text(key);
    if (seen.has(text)) return key;
    checkpoint();
    seen.add(text);
  }
  return undefined;
}

/** Compares raw bytes without decoding. Keys crafted to collide fall back to a set, which has no such weakness. */
function duplicateInTable(
  document: JsonDocument,
  object: number,
  { keys, checkpoint }: { readonly keys: number; readonly checkpoint: () => void },
): number | undefined {
  const lastSlot = (1 << (33 - Math.clz32(keys))) - 1;
  const table = new Int32Array(lastSlot + 1);
  let looksLeft = keys * looksPerKey;
  const end = document.next(object);
  for (let key = object + 1; key < end; key = document.next(key + 1)) {
    let slot = hashOf(document, key) & lastSlot;
    for (let other = table[slot] as number; other !== 0; other = table[slot] as number) {
      if (isSameBytes(document, key, other)) return key;
      looksLeft -= 1;
      if (looksLeft === 0) return duplicateInSet(document, object, checkpoint);
      slot = (slot + 1) & lastSlot;
    }
    table[slot] = key;
    checkpoint();
  }
  return undefined;
}

function hashOf(document: JsonDocument, key: number): number {
  const { bytes } = document;
  const end = document.end(key);
  let hash = 0;
  for (let at = document.start(key); at < end; at += 1) {
    hash = Math.imul(hash ^ (bytes[at] as number), 0x01000193);
  }
  return hash ^ (hash >>> 15);
}

function duplicateInPairs(document: JsonDocument, object: number): number | undefined {
  for (let key = object + 1; key < document.next(object); key = document.next(key + 1)) {
    for (let other = object + 1; other < key; other = document.next(other + 1)) {
      if (isSameBytes(document, key, other)) return key;
    }
  }
  return undefined;
}

function isSameBytes(document: JsonDocument, one: number, other: number): boolean {
  const { bytes } = document;
  const start = document.start(one);
  const length = document.end(one) - start;
  const otherStart = document.start(other);
  if (length !== document.end(other) - otherStart) return false;
  for (let i = 0; i < length; i += 1) {
    if (bytes[start + i] !== bytes[otherStart + i]) return false;
  }
  return true;
}

/** As parsers read it whose strings can't contain lone surrogates: with U+FFFD in their place. */
function wellFormed(text: string): string {
  return surrogate.test(text) ? Buffer.from(text).toString() : text;
}

const surrogate = /[\ud800-\udfff]/;
