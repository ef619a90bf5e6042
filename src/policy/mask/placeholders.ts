import { hash } from 'node:crypto';
import type { NamedPattern } from '../automaton/patterns.ts';
import type { Detector, Range } from '../detectors/detector.ts';
import { type Form, formOf, isWordForm, lengthOf } from './forms.ts';
import { findPlaceholders, wholePattern } from './placeholder-patterns.ts';

/** How many placeholders are kept, without their values, so that those of the turn before need no second hash. */
const maxKept = 16_384;

/**
 * Makes placeholders such as `EMAIL_` and 13 letters: the same one for the same value under the same
 * secret. Who doesn't know the secret can neither make one nor find out its value.
 */
export class Placeholders {
  /** Of fixed length, so that no two pairs of a key and a text are the same text together. */
  readonly #key: string;
  readonly #pattern: RegExp;
  /** By what is made of the value. */
  readonly #kept = new Map<string, string>();
  /** Characters of the longest. */
  readonly longest: number;

  /** `forms` are all that may occur. */
  constructor(secret: string, forms: readonly Form[]) {
    if (secret === '') throw new TypeError('placeholders need a secret');
    this.#key = hash('sha256', secret);
    this.#pattern = wholePattern(forms);
    this.longest = Math.max(...forms.map(lengthOf));
  }

  /** `attempt` counts from 0 for a value whose placeholders before are those of other values. */
  of(form: Form, value: string, attempt = 0): string {
    const again = attempt === 0 ? '' : `again ${attempt}\n`;
    const letters = this.#letters(`${again}value\n${idOf(form)}\n${value}`, form, form.valueLetters);
    return this.#whole(form, letters);
  }

  /** Where a text holds placeholders of this installation; adjacent ones are one range. */
  ranges(text: string): readonly Range[] {
    const ranges: Range[] = [];
    findPlaceholders({ whole: this.#pattern }, { text }, (found, start) => {
      if (!this.#isOwn(found)) return false;
      const end = start + found.length;
      const last = ranges.at(-1);
      if (last?.end === start) ranges[ranges.length - 1] = { start: last.start, end };
      else ranges.push({ start, end });
      return true;
    });
    return ranges;
  }

  #isOwn(placeholder: string): boolean {
    const form = formOf(placeholder);
    const { head, valueLetters } = form;
    return this.#whole(form, placeholder.slice(head.length, head.length + valueLetters)) === placeholder;
  }

  /** The placeholder with these letters of a value. */
  #whole(form: Form, letters: string): string {
    const written = form.head + letters;
    const known = this.#kept.get(written);
    if (known !== undefined) return known;
    const check = this.#letters(`check\n${idOf(form)}\n${letters}`, form, form.checkLetters);
    const whole = written + check + (form.end?.(written + check) ?? '');
    if (this.#kept.size >= maxKept) this.#kept.clear();
    this.#kept.set(written, whole);
    return whole;
  }

  /**
   * The key in front, and no HMAC, which takes four times as long: a hash that is shown only in part can't be continued
   * (chop-MD, Coron et al. 2005).
   */
  #letters(text: string, { alphabet }: Form, count: number): string {
    return toLetters(hash('sha256', this.#key + text, 'binary'), alphabet, count);
  }
}

/** What a hash depends on beside the value, so that a value's placeholders of different forms tell nothing together. */
function idOf(form: Form): string {
  return isWordForm(form) ? form.kind : form.head;
}

/** From the bytes of a digest, as a string of one character each, which is cheaper than a buffer. */
function toLetters(digest: string, alphabet: string, count: number): string {
  const codes: number[] = [];
  for (let at = 0; at < count * 2; at += 2) {
    const word = (digest.charCodeAt(at) << 8) | digest.charCodeAt(at + 1);
    codes.push(alphabet.charCodeAt(word % alphabet.length));
  }
  return String.fromCharCode(...codes);
}

/** The exception to every rule: a match within a placeholder of this installation is none. */
export function placeholderException(placeholders: Placeholders): NamedPattern {
  const detector: Detector = {
    prefilter: { kind: 'always' },
    reach: placeholders.longest,
    folded: false,
    find: (text) => placeholders.ranges(text),
  };
  return {
    key: 'placeholders',
    pattern: { kind: 'detector', name: 'placeholder', confidence: 'certain', detector },
  };
}
