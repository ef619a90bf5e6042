import { isAscii } from 'node:buffer';
import { shortEscapedText } from './short-escapes.ts';

/** What an entry of the document is; the low three bits of its first cell. */
export const kinds = { object: 1, array: 2, string: 3, number: 4, true: 5, false: 6, null: 7 } as const;

/** Flags of a string, in further bits of the same cell. */
export const stringFlags = { key: 8, escaped: 16, unicodeEscaped: 32 } as const;

const kindMask = 7;
const cells = 4;
const initialEntries = 64;
/** Up to this many digits, summing them is faster than having the engine parse the text. */
const plainDigits = 9;
/** Below this many bytes, creating the `DataView` takes longer than it saves. */
const minWords = 64;
/** Below this many bytes, asking the engine whether they are ASCII takes longer than looking at each. */
const minNative = 256;
/** Bytes above 0x7f are few as a rule, and near one another. */
const wideChunk = 1_024;
const noWords = new DataView(new ArrayBuffer(0));
/** From so many entries on it is remembered which members of the root were looked for. */
const manyEntries = 16_384;
/** Texts up to this length recur: keys, types, roles. */
const maxNameLength = 24;
/** Where a document has few entries, two for each. */
const nameSlots = 64;

/** A document's parts, to be sent to another thread; the memory of both can be transferred. */
export interface DocumentParts {
  readonly bytes: Uint8Array;
  readonly tape: Int32Array<ArrayBuffer>;
  readonly count: number;
  readonly isAscii: boolean;
  readonly members: Map<string, number> | undefined;
}

/**
 * A strictly parsed JSON object as a flat tape over its bytes: nothing is decoded before it is needed. An entry is a
 * number; entries are in document order, those of an object as key, value, key, value. The root is 0.
 *
 * Children of a container: `for (let at = container + 1; at < document.next(container); at = document.next(at))`;
 * in an object the key is `at` and its value `document.next(at)` (which is `at + 1`).
 */
export class JsonDocument {
  readonly bytes: Buffer;
  /** The same bytes, to be read four at a time; empty for a body too short to benefit. */
  readonly words: DataView;
  /** True if every byte is below 0x80: decoding is then a plain copy. */
  readonly isAscii: boolean;
  readonly root = 0;
  /** Number of entries. */
  count = 0;
  /** Four cells per entry: kind and flags, first byte, byte after the last, entry after its subtree. */
  #tape: Int32Array<ArrayBuffer>;
  /** Short texts of ASCII that were decoded last, by a hash of their bytes: to compare takes a tenth of decoding. */
  #names: (string | undefined)[] | undefined;
  /** Values of the root's members that were looked for, by name; 0 for those that it doesn't have. */
  #members: Map<string, number> | undefined;

  constructor(bytes: Buffer, isAscii: boolean, tape = makeTape(firstEntries(bytes))) {
    this.bytes = bytes;
    const isShort = bytes.length < minWords;
    this.words = isShort ? noWords : new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    this.isAscii = isAscii;
    this.#tape = tape;
  }

  /** A document that another thread parsed; it is not parsed again. */
  static fromParts({ bytes, tape, count, isAscii, members }: DocumentParts): JsonDocument {
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const document = new JsonDocument(buffer, isAscii, tape);
    document.count = count;
    document.#members = members;
    return document;
  }

  /** What is transferred is gone here. */
  toParts(): DocumentParts {
    const whole = this.#tape;
    // A small tape is in Node's pool, which can't be transferred.
    const tape = whole.byteLength === whole.buffer.byteLength ? whole : whole.slice(0, this.count * cells);
    return { bytes: this.bytes, tape, count: this.count, isAscii: this.isAscii, members: this.#members };
  }

  kind(entry: number): number {
    return (this.#tape[entry * cells] as number) & kindMask;
  }

  isKey(entry: number): boolean {
    return ((this.#tape[entry * cells] as number) & stringFlags.key) !== 0;
  }

  /** Whether the string's bytes contain JSON escapes, so that they differ from its text. */
  isEscaped(entry: number): boolean {
    return ((this.#tape[entry * cells] as number) & stringFlags.escaped) !== 0;
  }

  /** Whether there is an escape such as \u4e00 in the string. */
  isUnicodeEscaped(entry: number): boolean {
    return ((this.#tape[entry * cells] as number) & stringFlags.unicodeEscaped) !== 0;
  }

  /** Whether any of the string's bytes is above 0x7f. Escapes may stand for such characters too. */
  isWide(entry: number): boolean {
    if (this.isAscii) return false;
    const start = this.start(entry);
    const end = this.end(entry);
    if (end - start >= minNative) return !isAscii(this.bytes.subarray(start, end));
    for (let at = start; at < end; at += 1) if ((this.bytes[at] as number) > 0x7f) return true;
    return false;
  }

  /** How many of the string's bytes are above 0x7f. */
  wideBytes(entry: number): number {
    if (this.isAscii) return 0;
    const end = this.end(entry);
    let wide = 0;
    for (let from = this.start(entry); from < end; from += wideChunk) {
      const to = Math.min(end, from + wideChunk);
      if (to - from >= minNative && isAscii(this.bytes.subarray(from, to))) continue;
      for (let at = from; at < to; at += 1) if ((this.bytes[at] as number) > 0x7f) wide += 1;
    }
    return wide;
  }

  /** First byte of the value; of a string, the one after its quote. */
  start(entry: number): number {
    return this.#tape[entry * cells + 1] as number;
  }

  /** Byte after the value; of a string, its closing quote. */
  end(entry: number): number {
    return this.#tape[entry * cells + 2] as number;
  }

  /** The entry after this one and its descendants: the next sibling, or the first entry after the parent. */
  next(entry: number): number {
    return this.#tape[entry * cells + 3] as number;
  }

  /** The first key from an entry on; `count` if there is none. */
  nextKey(entry: number): number {
    return this.#nextWith(entry, stringFlags.key, stringFlags.key);
  }

  /** The first entry of a kind from another on; `count` if there is none. */
  nextOfKind(entry: number, kind: number): number {
    return this.#nextWith(entry, kindMask, kind);
  }

  text(entry: number): string {
    const start = this.start(entry);
    const end = this.end(entry);
    if (!this.isEscaped(entry)) return end - start > maxNameLength ? this.raw(entry) : this.#name(entry);
    return shortEscapedText(this.bytes, start, end) ?? (JSON.parse(`"${this.raw(entry)}"`) as string);
  }

  /** The text between a value's first and last byte, escapes undecoded. */
  raw(entry: number): string {
    return this.bytes.toString(this.isAscii ? 'latin1' : 'utf8', this.start(entry), this.end(entry));
  }

  /** The value of a number. */
  number(entry: number): number {
    const end = this.end(entry);
    let at = this.start(entry);
    if (end - at > plainDigits) return Number(this.raw(entry));
    let value = 0;
    for (; at < end; at += 1) {
      const digit = (this.bytes[at] as number) - 0x30;
      if (digit < 0 || digit > 9) return Number(this.raw(entry));
      value = value * 10 + digit;
    }
    return value;
  }

  /** The value as `JSON.parse` returns it; only for small parts of a body. */
  value(entry: number): unknown {
    return this.kind(entry) === kinds.string ? this.text(entry) : JSON.parse(this.raw(entry));
  }

  /** The value of an object's member, or undefined if there is none or this is not an object. */
  member(object: number, name: string): number | undefined {
    if (object !== this.root || this.count < manyEntries) return this.#findMember(object, name);
    this.#members ??= new Map();
    const known = this.#members.get(name) ?? this.#findMember(object, name) ?? 0;
    this.#members.set(name, known);
    return known === 0 ? undefined : known;
  }

  #findMember(object: number, name: string): number | undefined {
    if (this.kind(object) !== kinds.object) return undefined;
    for (let key = object + 1; key < this.next(object); key = this.next(key + 1)) {
      if (this.#isText(key, name)) return key + 1;
    }
    return undefined;
  }

  /** Whether an entry is a string with this text, which must be ASCII. */
  isText(entry: number, text: string): boolean {
    return this.kind(entry) === kinds.string && this.#isText(entry, text);
  }

  /** A member's text if it is a string. */
  memberText(object: number, name: string): string | undefined {
    const value = this.member(object, name);
    return value !== undefined && this.kind(value) === kinds.string ? this.text(value) : undefined;
  }

  /** The elements of an array; empty for other kinds. */
  *elements(list: number): Generator<number> {
    if (this.kind(list) !== kinds.array) return;
    for (let at = list + 1; at < this.next(list); at = this.next(at)) yield at;
  }

  /** The JSON pointer (RFC 6901) of an entry; of a key, the pointer of its value. The root's is "". */
  pointer(entry: number): string {
    let pointer = '';
    let at: number = this.root;
    while (at !== entry && at !== entry + 1) {
      const container = at;
      if (this.kind(container) === kinds.object) {
        at = container + 1;
        while (this.#isOpenOrBefore(at + 1, entry)) at = this.next(at + 1);
        pointer += `/${this.text(at).replaceAll('~', '~0').replaceAll('/', '~1')}`;
        if (at === entry) return pointer;
        at += 1;
      } else {
        let index = 0;
        at = container + 1;
        while (this.#isOpenOrBefore(at, entry)) {
          at = this.next(at);
          index += 1;
        }
        pointer += `/${index}`;
        if (at === entry) return pointer;
      }
    }
    return pointer;
  }

  /** Appends an entry. Only for the scanner. */
  add(kindAndFlags: number, start: number, end: number): number {
    const entry = this.count;
    const cell = entry * cells;
    if (cell === this.#tape.length) this.#grow(start);
    this.#tape[cell] = kindAndFlags;
    this.#tape[cell + 1] = start;
    this.#tape[cell + 2] = end;
    this.#tape[cell + 3] = entry + 1;
    this.count = entry + 1;
    return entry;
  }

  /** Sets the end of a container. Only for the scanner. */
  close(container: number, end: number): void {
    this.#tape[container * cells + 2] = end;
    this.#tape[container * cells + 3] = this.count;
  }

  #nextWith(entry: number, bits: number, wanted: number): number {
    const tape = this.#tape;
    const end = this.count * cells;
    let cell = entry * cells;
    while (cell < end && ((tape[cell] as number) & bits) !== wanted) cell += cells;
    return cell / cells;
  }

  #name(entry: number): string {
    const start = this.start(entry);
    const length = this.end(entry) - start;
    if (length === 0) return '';
    this.#names ??= new Array(Math.min(nameSlots, this.count * 2));
    const first = this.bytes[start] as number;
    const last = this.bytes[start + length - 1] as number;
    const slot = (first * 7 + last * 3 + length) % this.#names.length;
    const known = this.#names[slot];
    if (known !== undefined && this.#isText(entry, known)) return known;
    const text = this.raw(entry);
    // What is not ASCII has fewer units than bytes.
    if (text.length === length) this.#names[slot] = text;
    return text;
  }

  /** Whether a string's text is this one, which must be ASCII. */
  #isText(entry: number, name: string): boolean {
    if (this.isEscaped(entry)) return this.text(entry) === name;
    const start = this.start(entry);
    if (this.end(entry) - start !== name.length) return false;
    for (let i = 0; i < name.length; i += 1) {
      if (this.bytes[start + i] !== name.charCodeAt(i)) return false;
    }
    return true;
  }

  /** Whether `at` is closed and ends before `entry`; containers that are still open contain all that follows. */
  #isOpenOrBefore(at: number, entry: number): boolean {
    const isOpen = this.kind(at) <= kinds.array && this.end(at) === 0;
    return !isOpen && at < this.count && this.next(at) <= entry;
  }

  /** Grows the tape to the size that the whole body would need at the density of entries so far. */
  #grow(at: number): void {
    const foreseen = (this.bytes.length / Math.max(at, 1)) * 1.1;
    const factor = Math.min(Math.max(foreseen, 1.5), 8);
    const larger = makeTape(Math.ceil(this.count * factor));
    larger.set(this.#tape);
    this.#tape = larger;
  }
}

/** The initial capacity; for a small body, the most entries that it can have. */
function firstEntries(bytes: Buffer): number {
  return Math.min(initialEntries, (bytes.length >> 1) + 2);
}

/**
 * A tape with `entries` slots. A small one is in Node's pool: allocating memory for each document takes longer than
 * filling it and makes more work for the garbage collector. It is not zeroed; every cell is overwritten.
 */
function makeTape(entries: number): Int32Array<ArrayBuffer> {
  const bytes = entries * cells * Int32Array.BYTES_PER_ELEMENT;
  if (bytes > Buffer.poolSize / 2) return new Int32Array(entries * cells);
  const memory = Buffer.allocUnsafe(bytes);
  return new Int32Array(memory.buffer, memory.byteOffset, entries * cells);
}

// The form of nearly all integers.
const plainInteger = /^[1-9]\d{0,14}$/;
const jsonNumber = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/**
 * The decimal digits of the integer that a JSON number stands for in any notation (`1000`, `1000.0`, `1e3`), without
 * its sign; undefined if it is not an integer, or has more digits than the limit. Unlike `Number`, it rounds nothing.
 */
export function integerDigits(text: string, limit: number): string | undefined {
  const match = jsonNumber.exec(text);
  if (match === null) return undefined;
  const [, , whole = '', fraction = '', power = '0'] = match;
  const digits = whole + fraction;
  let start = 0;
  while (digits[start] === '0') start += 1;
  let end = digits.length;
  while (end > start && digits[end - 1] === '0') end -= 1;
  if (start === end) return '0';
  const zeros = Number(power) - fraction.length + (digits.length - end);
  if (zeros < 0 || end - start + zeros > limit) return undefined;
  return digits.slice(start, end) + '0'.repeat(zeros);
}

/**
 * The safe integer that a JSON number stands for; undefined if it is not an integer, or one that no double can hold
 * exactly: 0.99999999999999999999 is not 1.
 */
export function exactInteger(text: string): number | undefined {
  if (plainInteger.test(text)) return Number(text);
  const digits = integerDigits(text, 16);
  if (digits === undefined) return undefined;
  const value = Number(digits);
  if (!Number.isSafeInteger(value)) return undefined;
  return text.startsWith('-') && value !== 0 ? -value : value;
}
