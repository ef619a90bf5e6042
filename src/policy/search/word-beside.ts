import { roleBits, type Segment } from '../traverse/place.ts';

// Texts are read as if they were one, so that no value is hidden by cutting it in two. But a value that one text shows
// whole often has an ordinary word beside it in the next: "… API_KEY=q8Zr2LxV7nT4wKc9YbHd1mPs", "Available agents …".
// Such a word is no part of it. Anything else is, since a piece of a value is rarely a word.

/** Characters of the longest word. */
const wordLimit = 64;

/** An expression that is compiled for its first text: the classes of letters of all four would be a fiftieth of a start. */
class LazyRegExp {
  readonly #source: string;
  #regex: RegExp | undefined;

  constructor(source: string) {
    this.#source = source;
  }

  get regex(): RegExp {
    this.#regex ??= new RegExp(this.#source, 'u');
    return this.#regex;
  }
}

const wordPart = String.raw`(?:\p{Lu}?[\p{Ll}\p{Lo}]+|\p{Lu}+)`;
const word = `${wordPart}(?:[-'’._/]${wordPart})*`;
const onlyWord = new LazyRegExp(`^${word}$`);
const firstWord = new LazyRegExp(String.raw`^${word}(?![\p{L}\p{N}_+/=$~-])`);
const lastWord = new LazyRegExp(String.raw`(?<![\p{L}\p{N}_+/=$~.-])${wordPart}(?:['’]${wordPart})*$`);
const proseAfter = new LazyRegExp(String.raw`^${word}[,.;:!?]? \p{L}`);

/** Whether readers have markup between two texts: turns, roles, and the results of tools. */
export function areMarked(one: Segment, other: Segment): boolean {
  if (one.unit.turn !== other.unit.turn || one.roles !== other.roles) return true;
  return one.roles === roleBits.tool_result && one.unit.block !== other.unit.block;
}

export function isWord(text: string): boolean {
  return text.length <= wordLimit && onlyWord.regex.test(text);
}

/**
 * Whether the first characters of a text are of a word. Where no markup is before it, prose must follow: a word that is
 * all of a block may be the end of a value.
 */
export function startsWithWord(text: string, length: number, isMarked: boolean): boolean {
  const start = text.slice(0, wordLimit);
  return length <= matchedLength(firstWord, start) && (isMarked || proseAfter.regex.test(start));
}

/** Whether the last characters of a text are of a word, where markup is behind it: values often begin with a word. */
export function endsWithWord(text: string, length: number, isMarked: boolean): boolean {
  return isMarked && length <= matchedLength(lastWord, text.slice(-wordLimit));
}

function matchedLength({ regex }: LazyRegExp, text: string): number {
  return regex.exec(text)?.[0].length ?? 0;
}
