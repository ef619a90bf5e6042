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

/** Scrubs secrets from everything that leaves: none of them may be in an answer, a record or an error. */
export class Scrubber {
  readonly secrets: readonly string[];
  /** The same for short strings: headers, and causes of failures. */
  readonly text: (text: string) => string;
  readonly #spellings: RegExp | undefined;
  readonly #plain: RegExp | undefined;
  /** Character codes that occur in the secrets: only escapes of these can hide one. */
  readonly #alphabet: ReadonlySet<number>;

  constructor(secrets: readonly string[]) {
    const long = longEnough(secrets);
    this.secrets = secrets;
    this.text = createTextScrubber(secrets);
    this.#spellings = anyOf(long.flatMap(spell));
    this.#plain = anyOf(long);
    this.#alphabet = new Set(long.flatMap((secret) => [...Buffer.from(secret)]));
  }

  /** One that also scrubs these. */
  with(secrets: readonly string[]): Scrubber {
    return new Scrubber([...this.secrets, ...secrets]);
  }

  /** The bytes without them; the same object if there are none. */
  bytes(text: Buffer): Buffer {
    const clean = replaced(text, placesOf(this.#spellings, text));
    if (!this.#mayHideOne(clean)) return clean;
    const { text: plain, origins } = unescapeJson(clean);
    const places = placesOf(this.#plain, plain);
    return replaced(
      clean,
      places.map(({ start, end }) => ({ start: origins[start] ?? 0, end: origins[end] ?? 0 })),
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

/** Finds any of the texts in Latin-1, in which a character is a byte; the longest first, so that no rest is left behind. */
function anyOf(texts: readonly string[]): RegExp | undefined {
  if (texts.length === 0) return undefined;
  const bytes = texts.map((text) => Buffer.from(text).toString('latin1'));
  const longest = [...new Set(bytes)].sort((one, other) => other.length - one.length);
  return new RegExp(longest.map((each) => each.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')).join('|'), 'g');
}

function placesOf(pattern: RegExp | undefined, text: Buffer): readonly Range[] {
  if (pattern === undefined) return [];
  const latin = text.toString('latin1');
  const places: Range[] = [];
  pattern.lastIndex = 0;
  for (let match = pattern.exec(latin); match !== null; match = pattern.exec(latin))
    places.push({ start: match.index, end: pattern.lastIndex });
  return places;
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
