import type { Range } from '../detector.ts';
import { isPublished } from '../shapes/bare-key.ts';
import { randomBody, uuid } from '../shapes/random-run.ts';
import { isKeyCharacter, toCharacterSet } from '../text/characters.ts';
import { findLongRuns } from '../text/long-runs.ts';
import { isMarkedExample, isPlaceholder, isRepetitive } from './placeholder.ts';
import type { NameKind } from './secret-names.ts';
import { isSecretValue } from './secret-value.ts';

/** Where a value begins, and the quotation mark that will end it. */
export interface Opening {
  readonly at: number;
  readonly quote: string | undefined;
  readonly isTag: boolean;
}

const maxValueLength = 512;
/** Most values with the same end that are evaluated: a hostile text may name a secret at every eighth character. */
const maxOfOneEnd = 8;

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
    const limit = Math.min(this.#text.length, at + maxValueLength);
    let end = this.#endOf(opening, limit);
    if (end - at === maxValueLength || this.#isOneTooMany(end)) return undefined;
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
    return this.#ofOneEnd > maxOfOneEnd;
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

const announcedReach = 56;
/** As long as a run that satisfies the prefilter by itself. */
const minKeyLength = 31;
const maxKeyLength = 160;
const minBits = 110;
const characters = toCharacterSet(isKeyCharacter, '+/=');
const pgpFingerprint = /^[0-9A-F]{40}$/;
/** Words that mean that the value is something else, or is not given here. */
const otherwise =
  /hash|digest|checksum|commit|sha\d*|md5|fingerprint|thumbprint|public|address|\bids?\b|uuid|url|path|file|image|[=({;,]|=>|-----|import|require|https?:|#$/i;

/**
 * Random runs a few words after a name, on the same line or alone on the next: "the token you asked for: …". Prose has
 * too many ways to phrase it, so only the words in between are checked.
 */
export class AnnouncedKeys {
  readonly #text: string;
  #runs: readonly Range[] | undefined;
  #next = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** Whether a run is near enough behind a name; names are passed in order. */
  isNear(nameEnd: number): boolean {
    return this.#runBehind(nameEnd) !== undefined;
  }

  #runBehind(nameEnd: number): Range | undefined {
    this.#runs ??= findLongRuns(this.#text, minKeyLength, characters);
    while ((this.#runs[this.#next]?.start ?? Number.POSITIVE_INFINITY) < nameEnd) this.#next += 1;
    const run = this.#runs[this.#next];
    return run !== undefined && run.start - nameEnd <= announcedReach ? run : undefined;
  }

  /** The key that a name announces; names are passed in order. */
  behind(nameEnd: number): Range | undefined {
    const run = this.#runBehind(nameEnd);
    if (run === undefined || run.end - run.start > maxKeyLength) return undefined;
    const between = this.#text.slice(nameEnd, run.start).replace(/\([\w ,]{1,24}\)/, '');
    if (otherwise.test(between) || !isOneLine(between) || !this.#standsAlone(run)) return undefined;
    const value = this.#text.slice(run.start, run.end);
    if (pgpFingerprint.test(value) || isPublished(value)) return undefined;
    const isKey = uuid.test(value) ? !isRepetitive(value.toLowerCase(), 6) : isAnnouncedKey(value);
    return isKey ? run : undefined;
  }

  #standsAlone({ start, end }: Range): boolean {
    return (
      !/[.:]/.test(this.#text.charAt(start - 1)) && !/^(?:\.\w|:\/\/|\()/.test(this.#text.slice(end, end + 3))
    );
  }
}

/** The rest of a line, or a heading followed by nothing but the value. */
function isOneLine(between: string): boolean {
  return !between.includes('\n') || /^[\s:*_`>-]{1,16}$/.test(between);
}

function isAnnouncedKey(value: string): boolean {
  return (
    !isPlaceholder(value) &&
    !isMarkedExample(value) &&
    (randomBody(value.replace(/=+$/, ''))?.bits ?? 0) >= minBits
  );
}
