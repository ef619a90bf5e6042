import type { Range } from '../detector.ts';
import { isPublished } from '../shapes/bare-key.ts';
import { randomBody, uuid } from '../shapes/random-run.ts';
import { isKeyCharacter, toCharacterSet } from '../text/characters.ts';
import { findLongRuns } from '../text/long-runs.ts';
import { isMarkedExample, isPlaceholder, isRepetitive } from './placeholder.ts';

const reach = 56;
/** As long as a run that satisfies the prefilter by itself. */
const shortest = 31;
const longest = 160;
const leastBits = 110;
const characters = toCharacterSet(
  (code) => isKeyCharacter(code) || '+/='.includes(String.fromCharCode(code)),
);
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

  /** The key that a name announces; names are passed in order. */
  behind(nameEnd: number): Range | undefined {
    this.#runs ??= findLongRuns(this.#text, shortest, characters);
    while ((this.#runs[this.#next]?.start ?? Number.POSITIVE_INFINITY) < nameEnd) this.#next += 1;
    const run = this.#runs[this.#next];
    if (run === undefined || run.start - nameEnd > reach || run.end - run.start > longest) return undefined;
    const between = this.#text.slice(nameEnd, run.start).replace(/\([\w ,]{1,24}\)/, '');
    if (otherwise.test(between) || !isOneLine(between) || !this.#standsAlone(run)) return undefined;
    const value = this.#text.slice(run.start, run.end);
    if (pgpFingerprint.test(value) || isPublished(value)) return undefined;
    const isKey = uuid.test(value) ? !isRepetitive(value.toLowerCase(), 6) : isRandomValue(value);
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

function isRandomValue(value: string): boolean {
  return (
    !isPlaceholder(value) &&
    !isMarkedExample(value) &&
    (randomBody(value.replace(/=+$/, ''))?.bits ?? 0) >= leastBits
  );
}
