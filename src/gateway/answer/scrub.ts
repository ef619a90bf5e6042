import { unescapeJson } from './json-escapes.ts';
import { PatternSearch } from './pattern-search.ts';

/** Shorter ones would mask ordinary words in messages, and no real key is that short. */
const leastLength = 8;
const mask = '[secret]';
const maskBytes = Buffer.from(mask);

/** Masks configured secrets in a provider's answer before it goes anywhere. */
export class Scrubber {
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

  /** The bytes with all of them masked; the same object if there are none. */
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
      kept.push(text.subarray(end, found.start), maskBytes);
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
      kept.push(json.subarray(end, origins[found.start]), maskBytes);
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
    for (const pattern of patterns) if (rest.includes(pattern)) rest = rest.replaceAll(pattern, mask);
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
