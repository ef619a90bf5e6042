import type { Range } from '../detector.ts';
import type { NameKind } from './secret-names.ts';
import { isSecretValue } from './secret-value.ts';

/** Where a value begins, and the quotation mark that will end it. */
export interface Opening {
  readonly at: number;
  readonly quote: string | undefined;
  readonly isTag: boolean;
}

const longestValue = 512;
/** Most values with the same end that are evaluated: a hostile text may name a secret at every eighth character. */
const mostOfOneEnd = 8;

/** The values assigned to names, in order; no part is read again for each of them. */
export class NamedValues {
  readonly #text: string;
  /** The last part found to have no end, for values of one kind. */
  #endless: (Range & { readonly kind: string }) | undefined;
  #lastEnd = -1;
  #ofOneEnd = 0;

  constructor(text: string) {
    this.#text = text;
  }

  at(opening: Opening, kind: NameKind): Range | undefined {
    const { at, quote, isTag } = opening;
    const limit = Math.min(this.#text.length, at + longestValue);
    let end = this.#endOf(opening, limit);
    if (end - at === longestValue || this.#isOneTooMany(end)) return undefined;
    // A backslash before the quotation mark belongs to the mark, as in JSON within a string.
    while (quote !== undefined && end > at && this.#text.charCodeAt(end - 1) === 92) end -= 1;
    if (quote === undefined && !isTag) {
      if (this.#text.charCodeAt(end) === 40) return undefined;
      while (end > at && '.,:!?'.includes(this.#text.charAt(end - 1))) end -= 1;
    }
    const value = this.#text.slice(at, end);
    return isSecretValue(value, kind, quote !== undefined) ? { start: at, end } : undefined;
  }

  #endOf({ at, quote, isTag }: Opening, limit: number): number {
    const kind = isTag ? '<' : (quote ?? '');
    const known = this.#endless;
    const isKnown = known !== undefined && known.kind === kind && at >= known.start && at < known.end;
    let end = isKnown ? Math.min(known.end, limit) : at;
    while (end < limit && !isEnd(this.#text, end, quote, isTag)) end += 1;
    this.#endless = { start: isKnown ? known.start : at, end, kind };
    return end;
  }

  #isOneTooMany(end: number): boolean {
    this.#ofOneEnd = end === this.#lastEnd ? this.#ofOneEnd + 1 : 1;
    this.#lastEnd = end;
    return this.#ofOneEnd > mostOfOneEnd;
  }
}

function isEnd(text: string, at: number, quote: string | undefined, isTag: boolean): boolean {
  const character = text.charAt(at);
  if (character === '\n' || character === '\r') return true;
  if (isTag) return character === '<';
  if (quote !== undefined) return character === quote;
  if (character === '\\') return /[nrt"']/.test(text.charAt(at + 1));
  return /[\s"'`,;()<>&|{}[\]«»“”„‘’\u3000-\u303f\uff0c]/.test(character);
}
