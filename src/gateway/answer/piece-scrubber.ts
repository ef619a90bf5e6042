import { unescapeJson } from './json-escapes.ts';

/** Prefixes of secrets up to this many bytes may be sent: all keys of a kind have them in common. */
const freeLength = 3;
/** How many pieces of other, interleaved texts may come before a held prefix is sent after all. */
const patience = 16;
/** Most bytes of events that are held back. */
const heldLimit = 65_536;
/** Most prefixes that are tracked at the same time. */
const prefixLimit = 64;
/** Members that say what a piece is. They are in every event, and no client concatenates their values. */
const labels = new Set(['type', 'role']);
/** The length of each of them, with its opening quote. */
const labelLength = 5;
/** The numbers by which a dialect distinguishes the texts of one stream. */
const indexes = /index": ?(\d+)/g;
const channelReach = 100;
const nothing = Buffer.alloc(0);
const none: readonly Prefix[] = [];
const noRanges: readonly Range[] = [];
const quote = 0x22;
const backslash = 0x5c;
const star = 0x2a;
const space = 0x20;
const tab = 0x09;
const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const dataField = 'data:';
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;

/** A prefix of a secret, at the end of the pieces so far. */
interface Prefix {
  readonly secret: string;
  readonly length: number;
  /** Where its bytes are in the text, except for those already sent. */
  readonly ranges: readonly Range[];
  /** The text that the pieces belong to. */
  readonly channel: string;
  /** Pieces of other texts since the last one. */
  readonly age: number;
}

/** A member that carries pieces: its usual spelling, and a pattern for any other. */
interface Member {
  readonly plain: string;
  readonly escaped: RegExp;
}

interface Range {
  readonly start: number;
  readonly end: number;
}

/**
 * Masks secrets that are split over several events of a stream: in the pieces of a text that the client concatenates.
 * Events pass immediately unless a piece ends with a prefix of a secret; then they are held until the next pieces show
 * whether it is one.
 */
export class PieceScrubber {
  /** As Latin-1 strings, one character per byte, like the events here: cheaper than many searches in buffers. */
  readonly #secrets: readonly string[];
  /** 1 if a secret begins with the byte. */
  readonly #firstBytes = new Uint8Array(256);
  readonly #longest: number;
  readonly #members: readonly Member[];
  #held: Buffer = nothing;
  #prefixes: readonly Prefix[] = none;

  /** `members` are the names of an event's members that carry the next piece. */
  constructor(secrets: readonly string[], members: readonly string[]) {
    this.#secrets = secrets.map((secret) => Buffer.from(secret).toString('latin1'));
    for (const secret of this.#secrets) this.#firstBytes[secret.charCodeAt(0)] = 1;
    this.#longest = Math.max(0, ...this.#secrets.map((secret) => secret.length));
    this.#members = members.map((member) => ({ plain: `"${member}"`, escaped: escapedName(member) }));
  }

  /** Accepts whole events, and returns those that may be sent. */
  pass(events: Buffer): Buffer {
    if (this.#secrets.length === 0) return events;
    const from = this.#held.length;
    const bytes = from === 0 ? events : Buffer.concat([this.#held, events]);
    const text = bytes.toString('latin1');
    for (const range of this.#readPieces(text, from)) bytes.fill(star, range.start, range.end);
    if (this.#prefixes.length === 0) {
      this.#held = nothing;
      return bytes;
    }
    const heldFrom = this.#firstHeld(text) ?? bytes.length;
    if (bytes.length - heldFrom > heldLimit) {
      this.#held = nothing;
      this.#prefixes = this.#prefixes.map(released);
      return bytes;
    }
    this.#held = heldFrom === bytes.length ? nothing : Buffer.from(bytes.subarray(heldFrom));
    this.#prefixes = this.#prefixes.map((each) => ({ ...each, ranges: shift(each.ranges, heldFrom) }));
    return bytes.subarray(0, heldFrom);
  }

  /** What is still held: the stream is over, so a prefix of a secret is not a secret. */
  end(): Buffer {
    const rest = this.#held;
    this.#held = nothing;
    this.#prefixes = none;
    return rest;
  }

  /** The ranges to mask, each with as many bytes as it had, so that no other range moves. */
  #readPieces(text: string, from: number): readonly Range[] {
    let masked: readonly Range[] = noRanges;
    const mayBeEscaped = text.includes('\\u00');
    const next = (member: Member, at: number) =>
      mayBeEscaped ? nextMatch(text, member.escaped, at) : nextPlace(text, member.plain, at);
    const places = this.#members.map((member) => next(member, from));
    for (let at = first(places); at < text.length; at = first(places)) {
      at = nextPlace(text, ':', at) + 1;
      let depth = 0;
      let isLabel = false;
      for (; at < text.length; at += 1) {
        const code = text.charCodeAt(at);
        if (code === quote) {
          const end = endOfString(text, at + 1);
          if (isKey(text, end)) isLabel = end - at === labelLength && labels.has(text.slice(at + 1, end));
          else if (end > at + 1 && !isLabel) {
            const found = this.#readPiece(text, at + 1, end);
            if (found.length > 0) masked = [...masked, ...found];
          }
          at = end;
        } else if (code === openBrace || code === openBracket) depth += 1;
        else if (code === closeBrace || code === closeBracket) depth -= 1;
        // The lines of one event's data are one text.
        if (code === lineFeed && text.startsWith(dataField, at + 1)) at += dataField.length;
        else if (code === lineFeed || (depth <= 0 && !isBlank(code))) break;
      }
      this.#members.forEach((member, index) => {
        if ((places[index] as number) < at) places[index] = next(member, at);
      });
    }
    return masked;
  }

  /** Extends the prefixes that the piece continues, and notes those that it ends with. */
  #readPiece(text: string, start: number, end: number): readonly Range[] {
    const raw = text.slice(start, end);
    const escaped = raw.includes('\\') ? unescapeJson(Buffer.from(raw, 'latin1')) : undefined;
    const piece = escaped?.text.toString('latin1') ?? raw;
    const place = (index: number) => start + (escaped?.origins[index] ?? index);
    const known = this.#prefixes;
    if (known.length > 0) this.#prefixes = none;

    let channel: string | undefined;
    let masked: readonly Range[] = noRanges;
    for (const each of known) {
      const wanted = each.secret.slice(each.length, each.length + piece.length);
      channel ??= channelAt(text, start);
      // A piece of another text does not end the prefix, not even if it looks like its continuation.
      if (each.channel !== channel) this.#noteOlder(each);
      if (!piece.startsWith(wanted)) continue;
      const ranges = [...each.ranges, { start, end: place(wanted.length) }];
      const length = each.length + wanted.length;
      if (length === each.secret.length) masked = [...masked, ...ranges];
      else this.#note({ ...each, length, ranges, age: 0 });
    }
    for (let at = Math.max(0, piece.length - this.#longest + 1); at < piece.length; at += 1) {
      if (this.#firstBytes[piece.charCodeAt(at)] === 0) continue;
      const tail = piece.slice(at);
      for (const secret of this.#secrets) {
        if (tail.length >= secret.length || !secret.startsWith(tail)) continue;
        const ranges = [{ start: place(at), end }];
        channel ??= channelAt(text, start);
        this.#note({ secret, length: tail.length, ranges, channel, age: 0 });
      }
    }
    return masked;
  }

  #note(prefix: Prefix): void {
    this.#prefixes = [...this.#prefixes.slice(1 - prefixLimit), prefix];
  }

  /** Keeps a prefix after a piece of another text; one that all keys have in common only for a while. */
  #noteOlder(each: Prefix): void {
    if (each.age < patience) this.#note({ ...each, age: each.age + 1 });
    else if (each.length > freeLength) this.#note(released(each));
  }

  /** Where the first event begins that must be held. */
  #firstHeld(text: string): number | undefined {
    let first: number | undefined;
    for (const { length, ranges } of this.#prefixes) {
      const start = length > freeLength ? ranges[0]?.start : undefined;
      if (start !== undefined && (first === undefined || start < first)) first = start;
    }
    return first === undefined ? undefined : startOfEvent(text, first);
  }
}

/** The member's name and the indexes right before it, which identify the text that the piece belongs to. */
function channelAt(text: string, start: number): string {
  const before = text.slice(Math.max(0, start - channelReach), start);
  const name = before.slice(before.lastIndexOf('"', before.length - 4));
  return [name, ...Array.from(before.matchAll(indexes), ([, index]) => index)].join();
}

/** The same prefix after its bytes were sent: a continuation is masked all the same. */
function released(prefix: Prefix): Prefix {
  return prefix.ranges.length === 0 ? prefix : { ...prefix, ranges: noRanges };
}

/** The name of a member in its quotes, with any of its characters written as an escape. */
function escapedName(name: string): RegExp {
  const characters = Array.from(name, (character) => {
    const code = character.charCodeAt(0).toString(16).padStart(4, '0');
    return `(?:${character}|\\\\u${code})`;
  });
  return new RegExp(`"${characters.join('')}"`, 'gi');
}

function nextMatch(text: string, pattern: RegExp, from: number): number {
  pattern.lastIndex = from;
  return pattern.exec(text)?.index ?? text.length;
}

function shift(ranges: readonly Range[], by: number): Range[] {
  return ranges
    .filter(({ start }) => start >= by)
    .map(({ start, end }) => ({ start: start - by, end: end - by }));
}

/** The next occurrence of `part`; the text's length if there is none. */
function nextPlace(text: string, part: string, from: number): number {
  const at = text.indexOf(part, from);
  return at < 0 ? text.length : at;
}

function first(places: readonly number[]): number {
  return Math.min(Number.MAX_SAFE_INTEGER, ...places);
}

function isBlank(code: number): boolean {
  return code === space || code === tab || code === carriageReturn;
}

function isKey(text: string, endQuote: number): boolean {
  let at = endQuote + 1;
  while (isBlank(text.charCodeAt(at))) at += 1;
  return text[at] === ':';
}

function endOfString(text: string, from: number): number {
  let at = from;
  while (at < text.length && text.charCodeAt(at) !== quote) at += text.charCodeAt(at) === backslash ? 2 : 1;
  return Math.min(at, text.length);
}

function startOfEvent(text: string, at: number): number {
  const short = text.lastIndexOf('\n\n', at);
  const long = text.lastIndexOf('\n\r\n', at);
  return Math.max(short < 0 ? 0 : short + 2, long < 0 ? 0 : long + 3);
}
