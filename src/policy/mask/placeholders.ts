import { hash } from 'node:crypto';
import type { NamedPattern } from '../automaton/patterns.ts';
import type { Detector, Range } from '../detectors/detector.ts';

/**
 * Letters only, and no more than 13 behind the underscore: what detectors look for begins with digits or a longer run, so
 * they pass over placeholders as fast as over words.
 */
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';
/** 47 bits of a keyed hash of the value: of 10,000 values in one request two are the same once in 2.8 million times. */
const valueLetters = 10;
/** 14 bits of a keyed hash of those, by which a placeholder of this installation is recognized without its value. */
const checkLetters = 3;
const tagLetters = valueLetters + checkLetters;
/**
 * More in one text are not looked at, and so not excepted from any rule: several times what rules may replace in one
 * text, and a tenth of a second.
 */
const mostChecked = 100_000;

/**
 * Makes placeholders such as `EMAIL_` and 13 letters: the same one for the same value under the same
 * secret. Who doesn't know the secret can neither make one nor find out its value.
 */
export class Placeholders {
  /** Of fixed length, so that no two pairs of a key and a text are the same text together. */
  readonly #key: string;
  readonly #pattern: RegExp;
  readonly kinds: readonly string[];

  /** `kinds` are all that may occur, each a word of `A-Z`, `0-9` and `_`. */
  constructor(secret: string, kinds: readonly string[]) {
    if (secret === '') throw new TypeError('placeholders need a secret');
    this.#key = hash('sha256', secret);
    this.kinds = [...new Set(kinds)];
    this.#pattern = placeholderPattern(this.kinds);
  }

  of(kind: string, value: string): string {
    const letters = toLetters(this.#hash(`value\n${kind}\n${value}`), valueLetters);
    return `${kind}_${letters}${this.#check(kind, letters)}`;
  }

  /** Where a text holds placeholders of this installation; adjacent ones are one range. */
  ranges(text: string): readonly Range[] {
    const ranges: Range[] = [];
    let checked = 0;
    for (const { 0: found, index: start } of text.matchAll(this.#pattern)) {
      checked += 1;
      if (checked > mostChecked) break;
      if (!this.#isOwn(found)) continue;
      const end = start + found.length;
      const last = ranges.at(-1);
      if (last?.end === start) ranges[ranges.length - 1] = { start: last.start, end };
      else ranges.push({ start, end });
    }
    return ranges;
  }

  #isOwn(placeholder: string): boolean {
    const kind = placeholder.slice(0, -tagLetters - 1);
    const letters = placeholder.slice(-tagLetters, -checkLetters);
    return placeholder.endsWith(this.#check(kind, letters));
  }

  #check(kind: string, letters: string): string {
    return toLetters(this.#hash(`check\n${kind}\n${letters}`), checkLetters);
  }

  /**
   * The key in front, and no HMAC, which takes four times as long: a hash of which so little is shown can't be continued
   * (chop-MD, Coron et al. 2005).
   */
  #hash(text: string): string {
    return hash('sha256', this.#key + text, 'binary');
  }
}

/** From the bytes of a digest, as a string of one character each, which is cheaper than a buffer. */
function toLetters(digest: string, count: number): string {
  let letters = '';
  for (let at = 0; at < count * 2; at += 2) {
    const word = (digest.charCodeAt(at) << 8) | digest.charCodeAt(at + 1);
    letters += alphabet[word % alphabet.length];
  }
  return letters;
}

/** The exception to every rule: a match within a placeholder of this installation is none. */
export function placeholderException(placeholders: Placeholders): NamedPattern {
  const detector: Detector = {
    prefilter: { kind: 'always' },
    reach: longestOf(placeholders.kinds),
    folded: false,
    find: (text) => placeholders.ranges(text),
  };
  return {
    key: 'placeholders',
    pattern: { kind: 'detector', name: 'placeholder', confidence: 'certain', detector },
  };
}

/** Matches every text that has the form of a placeholder of one of these kinds. */
export function placeholderPattern(kinds: readonly string[]): RegExp {
  return new RegExp(`(?:${alternatives(kinds)})_[A-Z]{${tagLetters}}`, 'g');
}

/** Matches the beginning of such a text, at the end of another. */
export function beginningPattern(kinds: readonly string[]): RegExp {
  const heads = kinds.map((kind) => {
    const letters = [...`${kind}_`];
    return letters.reduceRight((rest, letter) => `${letter}(?:${rest})?`, `[A-Z]{1,${tagLetters - 1}}`);
  });
  return new RegExp(`(?:${heads.join('|')})$`);
}

/** Characters of the longest placeholder of these kinds. */
export function longestOf(kinds: readonly string[]): number {
  return Math.max(0, ...kinds.map(({ length }) => length)) + 1 + tagLetters;
}

/** The kind of a placeholder. */
export function kindOf(placeholder: string): string {
  return placeholder.slice(0, -tagLetters - 1);
}

/** The longest first, since one may be the end or the beginning of another. */
function alternatives(kinds: readonly string[]): string {
  return [...kinds].sort((one, other) => other.length - one.length).join('|');
}
