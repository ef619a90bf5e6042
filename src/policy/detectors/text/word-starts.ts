/** A word in lower case, in which `#` is any digit. */
type Word = string;

/** Most groups of words: their numbers are bits of an integer that is never negative. */
const maxGroups = 31;

/**
 * Where some words may begin in texts of any case. Reads each character once, whatever the number of words: two tables
 * know the first three characters and the second to fourth, five bits of each. A regular expression with as many
 * alternatives takes ten times as long.
 */
export class WordStarts {
  /** Whether any word has these three characters first; small enough for the fastest cache of a processor. */
  readonly #any = new Uint8Array(1 << 15);
  /** The groups whose words have these three characters first. */
  readonly #first = new Int32Array(1 << 15);
  /** The groups whose words have these ones from the second on. */
  readonly #second = new Int32Array(1 << 15);
  /** The groups with words that have no fourth character. */
  #short = 0;

  constructor(groups: readonly (readonly Word[])[]) {
    if (groups.length > maxGroups) throw new RangeError(`more than ${maxGroups} groups of words`);
    for (const [number, words] of groups.entries()) for (const word of words) this.#add(word, 1 << number);
  }

  #add(word: Word, group: number): void {
    const [one, two, three, four] = [0, 1, 2, 3].map((at) => codesOf(word.charAt(at)));
    for (const key of keysOf(one, two, three)) {
      this.#any[key] = 1;
      this.#first[key] = (this.#first[key] as number) | group;
    }
    if (word.length < 4) this.#short |= group;
    else
      for (const key of keysOf(two, three, four)) this.#second[key] = (this.#second[key] as number) | group;
  }

  /** Calls with each place where words of some groups may begin, and with these groups as bits. */
  each(text: string, call: (at: number, groups: number) => void): void {
    const any = this.#any;
    const { length } = text;
    let four = (bitsAt(text, 0) << 10) | (bitsAt(text, 1) << 5) | bitsAt(text, 2);
    for (let at = 0; at < length; at += 1) {
      four = ((four << 5) | bitsAt(text, at + 3)) & 0xfffff;
      if (any[four >> 5] === 0) continue;
      const second = (this.#second[four & 0x7fff] as number) | this.#short;
      const groups = (this.#first[four >> 5] as number) & second;
      if (groups !== 0) call(at, groups);
    }
  }
}

function bitsAt(text: string, at: number): number {
  return at < text.length ? text.charCodeAt(at) & 31 : 0;
}

function keysOf(
  one: readonly number[] = [],
  two: readonly number[] = [],
  three: readonly number[] = [],
): number[] {
  return one.flatMap((a) => two.flatMap((b) => three.map((c) => (a << 10) | (b << 5) | c)));
}

const anyCode = Array.from({ length: 32 }, (_, code) => code);
const digits = Array.from({ length: 10 }, (_, digit) => (48 + digit) & 31);

/** What a character of a word has as its five bits; behind a short word anything. */
function codesOf(character: string): readonly number[] {
  if (character === '') return anyCode;
  if (character === '#') return digits;
  const [lower, upper] = [character.charCodeAt(0) & 31, character.toUpperCase().charCodeAt(0) & 31];
  return lower === upper ? [lower] : [lower, upper];
}
