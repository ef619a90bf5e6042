import { shortEscapes } from '../json/short-escapes.ts';
import type { Range } from '../policy/detectors/detector.ts';

/** A text with its JSON escapes undone, and where each of its bytes came from. */
interface Unescaped {
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

/** Shorter ones would hide ordinary words in messages, and no real key is that short. */
const leastLength = 8;
const replacement = '[secret]';
const replacementBytes = Buffer.from(replacement);

/**
 * Searches bytes for several patterns at once (Wu and Manber, 1994): a table indexed by two bytes gives the distance to the
 * next place where any pattern can end, so most of the text is never read, and the number of patterns hardly matters.
 * Patterns have at least two bytes; the shortest one limits how far the search can skip.
 */
class PatternSearch {
  readonly #window: number;
  readonly #bits: number;
  readonly #leaps: Uint8Array;
  /** By the place in the tables of the last two bytes of a pattern's window; the longest first, so that no rest is left behind. */
  readonly #patterns = new Map<number, Buffer[]>();

  constructor(texts: readonly string[]) {
    const patterns = [...new Set(texts)].map((text) => Buffer.from(text));
    this.#window = Math.min(256, ...patterns.map((pattern) => pattern.length));
    // Large enough that most of it stays free; an exchange may have a scrubber of its own.
    this.#bits = Math.min(16, Math.max(10, 36 - Math.clz32(patterns.length)));
    this.#leaps = new Uint8Array(1 << this.#bits).fill(this.#window - 1);
    for (const pattern of patterns.sort((one, other) => other.length - one.length)) this.#add(pattern);
  }

  #add(pattern: Buffer): void {
    for (let at = 1; at < this.#window; at += 1) {
      const pair = this.#pairAt(pattern, at);
      this.#leaps[pair] = Math.min(this.#leaps[pair] as number, this.#window - 1 - at);
    }
    const last = this.#pairAt(pattern, this.#window - 1);
    const same = this.#patterns.get(last);
    if (same === undefined) this.#patterns.set(last, [pattern]);
    else same.push(pattern);
  }

  /** Where the text has patterns, the longest at each place. */
  places(text: Buffer): readonly Range[] {
    const places: Range[] = [];
    if (this.#patterns.size === 0) return places;
    const reach = this.#window - 1;
    for (let at = reach; at < text.length; ) {
      const pair = this.#pairAt(text, at);
      const leap = this.#leaps[pair] as number;
      const start = at - reach;
      const found =
        leap > 0 ? undefined : this.#patterns.get(pair)?.find((each) => standsAt(text, start, each));
      if (found === undefined) {
        at += Math.max(leap, 1);
      } else {
        const end = start + found.length;
        places.push({ start, end });
        at = end + reach;
      }
    }
    return places;
  }

  /** The place in the tables of the two bytes that end at `at`. */
  #pairAt(bytes: Buffer, at: number): number {
    const pair = ((bytes[at - 1] as number) << 8) | (bytes[at] as number);
    return Math.imul(pair, 0x9e3779b1) >>> (32 - this.#bits);
  }
}

function standsAt(text: Buffer, start: number, pattern: Buffer): boolean {
  const end = start + pattern.length;
  // A call of `compare` costs as much as dozens of these.
  if (text[start] !== pattern[0] || text[start + 1] !== pattern[1] || end > text.length) return false;
  return text.compare(pattern, 0, pattern.length, start, end) === 0;
}

/** Scrubs secrets from everything that leaves: none of them may be in an answer, a record or an error. */
export class Scrubber {
  /** The same for short strings: headers, and causes of failures. */
  readonly text: (text: string) => string;
  readonly #first: Scrubber | undefined;
  readonly #own: readonly string[];
  readonly #spellings: PatternSearch;
  readonly #plain: PatternSearch;
  /** Character codes that occur in the secrets: only escapes of these can hide one. */
  readonly #alphabet: ReadonlySet<number>;
  #inLowerCase: readonly (readonly [lower: string, secret: string])[] | undefined;

  /** `first` scrubs before this one. */
  constructor(secrets: readonly string[], first?: Scrubber) {
    const long = longEnough(secrets);
    const text = createTextScrubber(secrets);
    this.text = first === undefined ? text : (whole) => text(first.text(whole));
    this.#first = first;
    this.#own = secrets;
    this.#spellings = new PatternSearch(long.flatMap(spell));
    this.#plain = new PatternSearch(long);
    this.#alphabet = new Set(long.flatMap((secret) => [...Buffer.from(secret)]));
  }

  /** Whether a header's name, which is in lower case, has one. */
  isInName(name: string): boolean {
    return this.secrets.some((secret) => secret.length >= leastLength && name.includes(secret.toLowerCase()));
  }

  get secrets(): readonly string[] {
    return [...(this.#first?.secrets ?? []), ...this.#own];
  }

  /** One that also scrubs these; nothing is prepared again for those of this one. */
  with(secrets: readonly string[]): Scrubber {
    return new Scrubber(secrets, this);
  }

  /** A secret that a header's name has, which no reader tells from the same in other letters' case. */
  inName(name: string): string | undefined {
    const plain = name.toLowerCase();
    const found = this.#first?.inName(plain);
    if (found !== undefined) return found;
    this.#inLowerCase ??= longEnough(this.#own).map((secret) => [secret.toLowerCase(), secret]);
    return this.#inLowerCase.find(([lower]) => plain.includes(lower))?.[1];
  }

  /** The bytes without them; the same object if there are none. */
  bytes(text: Buffer): Buffer {
    const given = this.#first?.bytes(text) ?? text;
    const clean = replaced(given, this.#spellings.places(given));
    if (!this.#mayHideOne(clean)) return clean;
    const { text: plain, origins } = unescapeJson(clean);
    return replaced(
      clean,
      this.#plain
        .places(plain)
        .map(({ start, end }) => ({ start: origins[start] ?? 0, end: origins[end] ?? 0 })),
    );
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
}

function replaced(text: Buffer, places: readonly Range[]): Buffer {
  if (places.length === 0) return text;
  const kept: Buffer[] = [];
  let end = 0;
  for (const place of places) {
    kept.push(text.subarray(end, place.start), replacementBytes);
    end = place.end;
  }
  return Buffer.concat([...kept, text.subarray(end)]);
}

const slash = 0x2f;
const backslash = 0x5c;
const maxChecks = 20;

/** Scrubs secrets from short strings. */
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
