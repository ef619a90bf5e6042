import { unescapeJson } from './json-escapes.ts';
import { PatternSearch } from './pattern-search.ts';

/** Shorter ones would take innocent words out of messages, and no real key is so short. */
const leastLength = 8;
const mask = '[secret]';
const maskBytes = Buffer.from(mask);

/** Takes configured secrets out of what a provider answers, before it goes anywhere. */
export class Scrubber {
  /** The secrets that are looked for; too short ones are not. */
  readonly secrets: readonly string[];
  readonly #spellings: PatternSearch;
  readonly #plain: PatternSearch;
  /** Characters of the secrets, by code: only escapes of these can hide one. */
  readonly #alphabet: ReadonlySet<number>;

  constructor(secrets: readonly string[]) {
    this.secrets = [...new Set(secrets.filter((secret) => secret.length >= leastLength))];
    const patterns = this.secrets.flatMap(spell).map((each) => Buffer.from(each));
    this.#spellings = new PatternSearch(patterns);
    this.#plain = new PatternSearch(this.secrets.map((each) => Buffer.from(each)));
    this.#alphabet = new Set(this.secrets.flatMap((secret) => [...Buffer.from(secret)]));
  }

  /** The text without any of them; the same object where there is none. */
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

  /** Whether the text escapes a character as JSON need not, which could be one of a secret. */
  #mayHideOne(text: Buffer): boolean {
    if (text.indexOf(backslash) < 0) return false;
    let checks = 0;
    for (let at = text.indexOf('\\u00'); at >= 0; at = text.indexOf('\\u00', at + 1)) {
      checks += 1;
      // Of many escapes it is cheaper to undo them all than to look at each.
      if (checks > mostChecks) return true;
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
const mostChecks = 20;

/** The same for short texts: headers, and causes of failures. */
export function createTextScrubber(secrets: readonly string[]): (text: string) => string {
  const spellings = new Scrubber(secrets).secrets.flatMap(spell);
  // The longest first: a secret that begins with another one must not leave its rest behind.
  const patterns = [...new Set(spellings)].sort((one, other) => other.length - one.length);
  return (text) => {
    let rest = text;
    for (const pattern of patterns) if (rest.includes(pattern)) rest = rest.replaceAll(pattern, mask);
    return rest;
  };
}

/** A secret as it is, and as JSON and URLs write it. */
function spell(secret: string): string[] {
  const url = encodeURIComponent(secret);
  const lower = url.replace(/%[\dA-F]{2}/g, (code) => code.toLowerCase());
  return [...new Set([secret, JSON.stringify(secret).slice(1, -1), url, lower])];
}
