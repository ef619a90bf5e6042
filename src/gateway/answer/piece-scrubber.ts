import { unescapeJson } from './json-escapes.ts';

/** Beginnings of secrets up to this length may go out: they are what all keys of a kind have in common. */
const freeLength = 3;
/** How many texts may come between two of a secret: of other choices or calls that are streamed beside it. */
const patience = 16;
const nothing = Buffer.alloc(0);
const quote = 0x22;
const backslash = 0x5c;
const star = 0x2a;
const colon = 0x3a;
const space = 0x20;
const lineFeed = 0x0a;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;

/** The beginning of a secret, at the end of the pieces so far. */
interface Beginning {
  readonly secret: Buffer;
  readonly length: number;
  /** Where its bytes stand in the text, as far as they have not gone out. */
  readonly ranges: readonly Range[];
  /** Pieces since the last one that belonged to it. */
  readonly age: number;
}

interface Range {
  readonly start: number;
  readonly end: number;
}

/**
 * Takes out of an event stream the secrets that no event holds whole: spread over the pieces of a text, which
 * the client puts together again. Events pass at once unless a piece ends with the beginning of a secret;
 * then they wait until the next pieces have decided.
 */
export class PieceScrubber {
  readonly #secrets: readonly Buffer[];
  /** 1 where a secret begins with the byte. */
  readonly #firstBytes = new Uint8Array(256);
  readonly #longest: number;
  /** The member that brings a piece, with its quotes. */
  readonly #member: Buffer;
  #held: Buffer = nothing;
  #beginnings: readonly Beginning[] = [];

  /** `member` names the member of an event that brings the next piece. */
  constructor(secrets: readonly string[], member: string) {
    this.#secrets = secrets.map((secret) => Buffer.from(secret));
    for (const secret of this.#secrets) this.#firstBytes[secret[0] as number] = 1;
    this.#longest = Math.max(0, ...this.#secrets.map((secret) => secret.length));
    this.#member = Buffer.from(`"${member}"`);
  }

  /** Takes whole events, and returns those that may go out. */
  pass(events: Buffer): Buffer {
    const from = this.#held.length;
    const text = from === 0 ? events : Buffer.concat([this.#held, events]);
    this.#readPieces(text, from);
    if (this.#beginnings.length === 0) {
      this.#held = nothing;
      return text;
    }
    const heldFrom = this.#firstHeld(text) ?? text.length;
    this.#held = Buffer.from(text.subarray(heldFrom));
    this.#beginnings = this.#beginnings.map((each) => ({ ...each, ranges: shift(each.ranges, heldFrom) }));
    return text.subarray(0, heldFrom);
  }

  /** What still waits: the stream is over, and the beginning of a secret is none. */
  end(): Buffer {
    const rest = this.#held;
    this.#held = nothing;
    this.#beginnings = [];
    return rest;
  }

  #readPieces(text: Buffer, from: number): void {
    for (let at = text.indexOf(this.#member, from); at >= 0; at = text.indexOf(this.#member, at)) {
      at += this.#member.length;
      at = this.#readValue(text, at);
    }
  }

  /** Reads the strings of a value, which may be an object; returns where it ends. */
  #readValue(text: Buffer, from: number): number {
    let depth = 0;
    for (let at = text.indexOf(colon, from) + 1; at > 0 && at < text.length; at += 1) {
      const byte = text[at];
      if (byte === quote) {
        const end = endOfString(text, at + 1);
        if (!isKey(text, end)) this.#readPiece(text, at + 1, end);
        at = end;
      } else if (byte === openBrace || byte === openBracket) depth += 1;
      else if (byte === closeBrace || byte === closeBracket) depth -= 1;
      if (byte === lineFeed || (depth <= 0 && byte !== space)) return at;
    }
    return text.length;
  }

  #readPiece(text: Buffer, start: number, end: number): void {
    if (start === end) return;
    const raw = text.subarray(start, end);
    const escaped = raw.includes(backslash) ? unescapeJson(raw) : undefined;
    const piece = escaped?.text ?? raw;
    const place = (index: number) =>
      start + (escaped === undefined ? index : (escaped.origins[index] as number));

    const next: Beginning[] = [];
    for (const known of this.#beginnings) {
      const wanted = known.secret.subarray(known.length);
      const length = Math.min(wanted.length, piece.length);
      if (wanted.compare(piece, 0, length, 0, length) !== 0) {
        if (known.age < patience) next.push({ ...known, age: known.age + 1 });
        continue;
      }
      const ranges = [...known.ranges, { start, end: place(length) }];
      if (length === wanted.length) this.#mask(text, ranges);
      else next.push({ secret: known.secret, length: known.length + length, ranges, age: 0 });
    }
    for (let at = Math.max(0, piece.length - this.#longest + 1); at < piece.length; at += 1) {
      if (this.#firstBytes[piece[at] as number] === 0) continue;
      const length = piece.length - at;
      for (const secret of this.#secrets) {
        if (length >= secret.length || secret.compare(piece, at, piece.length, 0, length) !== 0) continue;
        next.push({ secret, length, ranges: [{ start: place(at), end }], age: 0 });
      }
    }
    this.#beginnings = next;
  }

  /** In place: as many bytes as before, so that no other range moves. */
  #mask(text: Buffer, ranges: readonly Range[]): void {
    for (const { start, end } of ranges) text.fill(star, start, end);
  }

  /** Where the first event begins that must wait. */
  #firstHeld(text: Buffer): number | undefined {
    let first: number | undefined;
    for (const { length, ranges } of this.#beginnings) {
      const start = length > freeLength ? ranges[0]?.start : undefined;
      if (start !== undefined && (first === undefined || start < first)) first = start;
    }
    return first === undefined ? undefined : startOfEvent(text, first);
  }
}

function shift(ranges: readonly Range[], by: number): Range[] {
  return ranges
    .filter(({ start }) => start >= by)
    .map(({ start, end }) => ({ start: start - by, end: end - by }));
}

function isKey(text: Buffer, endQuote: number): boolean {
  const next = text[endQuote + 1];
  return next === colon || (next === space && text[endQuote + 2] === colon);
}

function endOfString(text: Buffer, from: number): number {
  let at = from;
  while (at < text.length && text[at] !== quote) at += text[at] === backslash ? 2 : 1;
  return Math.min(at, text.length);
}

function startOfEvent(text: Buffer, at: number): number {
  const short = text.lastIndexOf('\n\n', at);
  const long = text.lastIndexOf('\n\r\n', at);
  return Math.max(short < 0 ? 0 : short + 2, long < 0 ? 0 : long + 3);
}
