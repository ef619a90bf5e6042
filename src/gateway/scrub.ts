import { shortEscapes } from '../json/short-escapes.ts';

/** A text with its JSON escapes undone, and where each of its bytes came from. */
export interface Unescaped {
  readonly text: Buffer;
  /** Where each byte's original spelling begins; one more entry holds the length of the original. */
  readonly origins: Uint32Array;
}

const letterU = 0x75;

/** Decodes the escapes of ASCII characters, in JSON however formatted; other escapes stay as they are. */
function unescapeJson(json: Buffer): Unescaped {
  const text = Buffer.allocUnsafe(json.length);
  const origins = new Uint32Array(json.length + 1);
  let length = 0;
  for (let at = 0; at < json.length; ) {
    const { code, size } =
      json[at] === backslash ? readEscape(json, at) : { code: json[at] as number, size: 1 };
    text[length] = code;
    origins[length] = at;
    length += 1;
    at += size;
  }
  origins[length] = json.length;
  return { text: text.subarray(0, length), origins };
}

function readEscape(json: Buffer, at: number): { code: number; size: number } {
  const letter = json[at + 1] ?? 0;
  const simple = shortEscapes[letter] ?? 0;
  if (simple !== 0) return { code: simple, size: 2 };
  const digits = json.toString('latin1', at + 2, at + 6);
  const code =
    letter === letterU && /^00[0-7][\da-f]$/i.test(digits) ? Number.parseInt(digits, 16) : undefined;
  return code === undefined ? { code: backslash, size: 1 } : { code, size: 6 };
}

/** A place in a text where one of the patterns occurs. */
interface Occurrence {
  readonly start: number;
  readonly length: number;
}

/**
 * Searches bytes for several patterns at once (Wu and Manber, 1994): a table indexed by two bytes gives the distance to
 * the next place where any pattern can end, so most of the text is never read. Patterns must have at least two
 * bytes; the shortest one limits how far the search can skip.
 */
export class PatternSearch {
  readonly #window: number;
  readonly #leaps: Uint8Array;
  /** Keyed by the last two bytes of a pattern's window; the longest first. */
  readonly #patterns = new Map<number, Buffer[]>();

  constructor(patterns: readonly Buffer[]) {
    this.#window = Math.min(256, ...patterns.map((pattern) => pattern.length));
    this.#leaps = new Uint8Array(65_536).fill(this.#window - 1);
    for (const pattern of [...patterns].sort((one, other) => other.length - one.length)) this.#add(pattern);
  }

  #add(pattern: Buffer): void {
    for (let at = 1; at < this.#window; at += 1) {
      const pair = pairAt(pattern, at);
      this.#leaps[pair] = Math.min(this.#leaps[pair] as number, this.#window - 1 - at);
    }
    const last = pairAt(pattern, this.#window - 1);
    const same = this.#patterns.get(last);
    if (same === undefined) this.#patterns.set(last, [pattern]);
    else same.push(pattern);
  }

  /** The first place at or after `from`, with the longest pattern there. */
  next(text: Buffer, from: number): Occurrence | undefined {
    if (this.#patterns.size === 0) return undefined;
    const leaps = this.#leaps;
    const reach = this.#window - 1;
    for (let at = from + reach; at < text.length; ) {
      const pair = ((text[at - 1] as number) << 8) | (text[at] as number);
      const leap = leaps[pair] as number;
      if (leap > 0) {
        at += leap;
        continue;
      }
      const start = at - reach;
      const pattern = this.#patterns.get(pair)?.find((each) => standsAt(text, start, each));
      if (pattern !== undefined) return { start, length: pattern.length };
      at += 1;
    }
    return undefined;
  }
}

function pairAt(bytes: Buffer, at: number): number {
  return ((bytes[at - 1] as number) << 8) | (bytes[at] as number);
}

function standsAt(text: Buffer, start: number, pattern: Buffer): boolean {
  const end = start + pattern.length;
  return end <= text.length && text.compare(pattern, 0, pattern.length, start, end) === 0;
}

/** Shorter ones would hide ordinary words in messages, and no real key is that short. */
const leastLength = 8;
const replacement = '[secret]';
const replacementBytes = Buffer.from(replacement);

/** Scrubs configured secrets from a provider's answer before it goes anywhere. */
export class ByteScrubber {
  readonly #spellings: PatternSearch;
  readonly #plain: PatternSearch;
  /** Character codes that occur in the secrets: only escapes of these can hide one. */
  readonly #alphabet: ReadonlySet<number>;

  constructor(secrets: readonly string[]) {
    const long = longEnough(secrets);
    this.#spellings = new PatternSearch(long.flatMap(spell).map((each) => Buffer.from(each)));
    this.#plain = new PatternSearch(long.map((each) => Buffer.from(each)));
    this.#alphabet = new Set(long.flatMap((secret) => [...Buffer.from(secret)]));
  }

  /** The bytes without them; the same object if there are none. */
  scrub(text: Buffer): Buffer {
    const clean = this.#withoutSpellings(text);
    return this.#mayHideOne(clean) ? this.#withoutEscaped(clean) : clean;
  }

  #withoutSpellings(text: Buffer): Buffer {
    let found = this.#spellings.next(text, 0);
    if (found === undefined) return text;
    const kept: Buffer[] = [];
    let end = 0;
    for (; found !== undefined; found = this.#spellings.next(text, end)) {
      kept.push(text.subarray(end, found.start), replacementBytes);
      end = found.start + found.length;
    }
    return Buffer.concat([...kept, text.subarray(end)]);
  }

  /** Whether the text has an escape that JSON does not require, and that could be of a secret's character. */
  #mayHideOne(text: Buffer): boolean {
    if (text.indexOf(backslash) < 0) return false;
    let checks = 0;
    for (let at = text.indexOf('\\u00'); at >= 0; at = text.indexOf('\\u00', at + 1)) {
      checks += 1;
      // If there are many escapes, decoding them all is cheaper than looking at each.
      if (checks > maxChecks) return true;
      if (this.#alphabet.has(Number.parseInt(text.toString('latin1', at + 4, at + 6), 16))) return true;
    }
    return this.#alphabet.has(slash) && text.includes('\\/');
  }

  #withoutEscaped(json: Buffer): Buffer {
    const { text, origins } = unescapeJson(json);
    const kept: Buffer[] = [];
    let end = 0;
    for (let found = this.#plain.next(text, 0); found !== undefined; ) {
      const after = found.start + found.length;
      kept.push(json.subarray(end, origins[found.start]), replacementBytes);
      end = origins[after] as number;
      found = this.#plain.next(text, after);
    }
    return kept.length === 0 ? json : Buffer.concat([...kept, json.subarray(end)]);
  }
}

const slash = 0x2f;
const backslash = 0x5c;
const maxChecks = 20;

/** The same for short strings: headers, and causes of failures. */
export function createTextScrubber(secrets: readonly string[]): (text: string) => string {
  const spellings = longEnough(secrets).flatMap(spell);
  // The longest first: if one secret is a prefix of another, the rest of the longer one must not be left behind.
  const patterns = [...new Set(spellings)].sort((one, other) => other.length - one.length);
  return (text) => {
    let rest = text;
    for (const pattern of patterns) if (rest.includes(pattern)) rest = rest.replaceAll(pattern, replacement);
    return rest;
  };
}

function longEnough(secrets: readonly string[]): readonly string[] {
  return [...new Set(secrets.filter((secret) => secret.length >= leastLength))];
}

/** A secret as it is, and as JSON and URLs encode it. */
function spell(secret: string): string[] {
  const url = encodeURIComponent(secret);
  const lower = url.replace(/%[\dA-F]{2}/g, (code) => code.toLowerCase());
  return [...new Set([secret, JSON.stringify(secret).slice(1, -1), url, lower])];
}

/** Scrubs secrets from everything that leaves: none of them may be in an answer, a record or an error. */
export interface Scrubber {
  /** The same object if there are none. */
  bytes(body: Buffer): Buffer;
  text(text: string): string;
  readonly secrets: readonly string[];
}

export function createScrubber(secrets: readonly string[]): Scrubber {
  const scrubber = new ByteScrubber(secrets);
  return {
    bytes: (body) => scrubber.scrub(body),
    text: createTextScrubber(secrets),
    secrets,
  };
}

const known = new WeakMap<readonly string[], Scrubber>();

/** A scrubber for a list that many exchanges have in common, made once. */
export function scrubberOf(secrets: readonly string[]): Scrubber {
  const before = known.get(secrets);
  if (before !== undefined) return before;
  const scrubber = createScrubber(secrets);
  known.set(secrets, scrubber);
  return scrubber;
}

export function joinScrubbers(first: Scrubber, second: Scrubber): Scrubber {
  return {
    bytes: (body) => second.bytes(first.bytes(body)),
    text: (text) => second.text(first.text(text)),
    secrets: [...first.secrets, ...second.secrets],
  };
}
