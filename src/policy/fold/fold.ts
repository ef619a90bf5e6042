import { createCharacterFold, type Reading } from './fold-character.ts';

/** A text in its folded view, with the way back. */
export interface FoldedText {
  readonly text: string;
  /** For each UTF-16 unit of the folded text: where the character it comes from starts in the original. */
  readonly starts: Int32Array;
  /** The same for where that character ends. */
  readonly ends: Int32Array;
}

/** The folded view: case, width, compatibility forms, marks, invisible characters, look-alikes, white space. */
export interface Fold {
  /** One code point's fold: a code point, 0 where it is dropped, or -1 - n for `readings[n]`. */
  point(codePoint: number): number;
  /** What characters may be read as that stand for several code points, or look like several letters. */
  readonly readings: readonly (readonly Reading[])[];
  /** Folds a text, every character by its first reading; runs of white space become one space. */
  text(text: string): FoldedText;
  /**
   * The same by the first readings and, where some characters have several, by the second ones, the third ones and
   * those that are digits: what looks for whole values reads each of these. Mixtures are for automata.
   */
  texts(text: string): readonly FoldedText[];
  /** The folded texts alone, without the way back. */
  plain(text: string): readonly string[];
  /** Whether the fold of a text differs from it in the case of letters at most; of ASCII texts only. */
  changesCaseOnly(text: string): boolean;
}

const space = 0x20;
const unknown = -0x7fffffff;

/** For each way to choose among readings, the one that it takes. */
type Choices = readonly [Reading, Reading, Reading, Reading];
const choiceCount = 4;

/**
 * Makes a fold with its memory. Characters are folded one by one and memoized, so that a text costs
 * linear time whatever it holds; String.prototype.normalize on whole texts is quadratic in their marks.
 */
export function createFold(): Fold {
  const foldCharacter = createCharacterFold();
  const readings: (readonly Reading[])[] = [];
  const choices: Choices[] = [];
  const numbers = new Map<string, number>();
  const basic = new Int32Array(0x10000).fill(unknown);
  const astral = new Map<number, number>();

  const compute = (codePoint: number): number => {
    const found = foldCharacter(codePoint);
    const [first = []] = found;
    if (found.length === 1 && first.length <= 1) return first[0] ?? 0;
    const key = found.join(';');
    let number = numbers.get(key);
    if (number === undefined) {
      number = readings.length;
      numbers.set(key, number);
      readings.push(found);
      choices.push([first, found[1] ?? first, found[2] ?? first, found.find(isDigit) ?? first]);
    }
    return -1 - number;
  };
  const point = (codePoint: number): number => {
    const known = codePoint < 0x10000 ? basic[codePoint] : astral.get(codePoint);
    if (known !== undefined && known !== unknown) return known;
    const folded = compute(codePoint);
    if (codePoint < 0x10000) basic[codePoint] = folded;
    else astral.set(codePoint, folded);
    return folded;
  };
  const texts = (text: string): readonly FoldedText[] => {
    const found = [foldText(text, point, choices, 0)];
    const differing = differingChoices(text, point, choices);
    for (let choice = 1; choice < choiceCount; choice += 1) {
      if ((differing & (1 << choice)) === 0) continue;
      const other = foldText(text, point, choices, choice);
      if (found.every((each) => each.text !== other.text)) found.push(other);
    }
    return found;
  };
  return {
    point,
    readings,
    text: (text) => foldText(text, point, choices, 0),
    texts,
    plain: (text) => {
      if (!odd.test(text)) return [text.toLowerCase()];
      if (plainAscii.test(text)) return [text.replace(/\s+/g, ' ').toLowerCase()];
      return texts(text).map((each) => each.text);
    },
    changesCaseOnly: (text) => !odd.test(text),
  };
}

/** ASCII without control characters, but for white space. */
const plainAscii = /^[\t-\r -~]*$/;
/** What ASCII texts have where folding changes more than the case of their letters. */
const odd = /[^ -~]| {2}/;

function isDigit(reading: Reading): boolean {
  const [only = 0] = reading;
  return reading.length === 1 && only >= 0x30 && only <= 0x39;
}

/** The choices that take something else than the first reading somewhere in a text, as bits. */
function differingChoices(
  text: string,
  point: (codePoint: number) => number,
  choices: readonly Choices[],
): number {
  let differing = 0;
  for (const character of text) {
    const folded = point(character.codePointAt(0) as number);
    if (folded >= 0) continue;
    const [first, ...others] = choices[-1 - folded] as Choices;
    others.forEach((other, at) => {
      if (other !== first) differing |= 2 << at;
    });
  }
  return differing;
}

function foldText(
  text: string,
  point: (codePoint: number) => number,
  choices: readonly Choices[],
  choice: number,
): FoldedText {
  const builder = new FoldedTextBuilder(text.length);
  for (let at = 0; at < text.length; ) {
    const codePoint = text.codePointAt(at) as number;
    const end = at + (codePoint > 0xffff ? 2 : 1);
    const folded = point(codePoint);
    if (folded > 0) builder.add(folded, at, end);
    else if (folded < 0) {
      const reading = (choices[-1 - folded] as Choices)[choice] as Reading;
      for (const each of reading) builder.add(each, at, end);
    }
    at = end;
  }
  return builder.finish();
}

/** Units with their places, in arrays that grow: one character may fold to eighteen. */
class FoldedTextBuilder {
  #units: Uint16Array;
  #starts: Int32Array;
  #ends: Int32Array;
  #length = 0;

  constructor(length: number) {
    const room = Math.max(16, length + 2);
    this.#units = new Uint16Array(room);
    this.#starts = new Int32Array(room);
    this.#ends = new Int32Array(room);
  }

  add(codePoint: number, start: number, end: number): void {
    if (codePoint > 0xffff) {
      const rest = codePoint - 0x10000;
      this.#unit(0xd800 + (rest >> 10), start, end);
      return this.#unit(0xdc00 + (rest & 0x3ff), start, end);
    }
    if (codePoint === space && this.#length > 0 && this.#units[this.#length - 1] === space) {
      this.#ends[this.#length - 1] = end;
      return;
    }
    this.#unit(codePoint, start, end);
  }

  finish(): FoldedText {
    const units = Buffer.from(this.#units.buffer, 0, this.#length * 2);
    return { text: units.toString('utf16le'), starts: this.#starts, ends: this.#ends };
  }

  #unit(unit: number, start: number, end: number): void {
    if (this.#length === this.#units.length) this.#grow();
    this.#units[this.#length] = unit;
    this.#starts[this.#length] = start;
    this.#ends[this.#length] = end;
    this.#length += 1;
  }

  #grow(): void {
    const room = this.#units.length * 2;
    const units = new Uint16Array(room);
    units.set(this.#units);
    this.#units = units;
    this.#starts = enlarge(this.#starts, room);
    this.#ends = enlarge(this.#ends, room);
  }
}

function enlarge(numbers: Int32Array, room: number): Int32Array {
  const larger = new Int32Array(room);
  larger.set(numbers);
  return larger;
}
