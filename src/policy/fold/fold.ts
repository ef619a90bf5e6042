import { createCharacterFold, type Reading } from './fold-character.ts';
import { FoldedPlaces, FoldedUnits, type Output, type TextSpan } from './fold-output.ts';

/** A text in its folded view, where characters of several readings are read by one choice among them. */
export interface FoldedText {
  readonly text: string;
  readonly choice: number;
}

/** The folded view: case, width, compatibility forms, marks, invisible characters, look-alikes, white space. */
export interface Fold {
  /** One code point's fold: a code point, 0 where it is dropped, or -1 - n for `readings[n]`. */
  point(codePoint: number): number;
  /** What characters may be read as that stand for several code points, or look like several letters. */
  readonly readings: readonly (readonly Reading[])[];
  /** Folds a text, every character by its first reading; runs of white space become one space. */
  text(text: string): string;
  /**
   * The same by the first readings and, where some characters have several, by the second ones, the third ones and
   * those that are digits: what looks for whole values reads each of these. Mixtures are for automata.
   */
  texts(text: string): readonly FoldedText[];
  /** Where parts of a folded text stand in the text itself. */
  locate<T extends TextSpan>(text: string, choice: number, parts: readonly T[]): readonly T[];
  /** Whether the fold of a text differs from it in the case of letters at most; of ASCII texts only. */
  changesCaseOnly(text: string): boolean;
}

const unknown = -0x7fffffff;

/** For each way to choose among readings, the one that it takes. */
type Choices = readonly [Reading, Reading, Reading, Reading];
const choiceCount = 4;

/**
 * Creates a fold with its cache. Characters are folded one by one and memoized, so a text takes linear time whatever it
 * contains; String.prototype.normalize on whole texts is quadratic in the number of combining marks.
 */
export function createFold(): Fold {
  const foldCharacter = createCharacterFold();
  const readings: (readonly Reading[])[] = [];
  const choices: Choices[] = [];
  /** For each of those the choices that take another reading than the first, as bits. */
  const differing: number[] = [];
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
      const chosen: Choices = [first, found[1] ?? first, found[2] ?? first, found.find(isDigit) ?? first];
      choices.push(chosen);
      differing.push(
        chosen.reduce((bits, each, choice) => (each === first ? bits : bits | (1 << choice)), 0),
      );
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
  /** Folds a text into an output; returns the choices by which it would be another, as bits. */
  const foldInto = (output: Output, text: string, choice: number): number => {
    let others = 0;
    for (let at = 0; at < text.length; ) {
      let codePoint = text.charCodeAt(at);
      if (codePoint >= 0xd800 && codePoint < 0xdc00) codePoint = text.codePointAt(at) as number;
      const end = at + (codePoint > 0xffff ? 2 : 1);
      const folded = point(codePoint);
      if (folded > 0) output.add(folded, at, end);
      else if (folded < 0) {
        others |= differing[-1 - folded] as number;
        for (const each of (choices[-1 - folded] as Choices)[choice] as Reading) output.add(each, at, end);
      }
      at = end;
    }
    return others;
  };
  const texts = (text: string): readonly FoldedText[] => {
    if (!odd.test(text)) return [{ text: text.toLowerCase(), choice: 0 }];
    if (plainAscii.test(text)) return [{ text: text.replace(/\s+/g, ' ').toLowerCase(), choice: 0 }];
    const first = new FoldedUnits(text.length);
    const others = foldInto(first, text, 0);
    const found = [{ text: first.text(), choice: 0 }];
    for (let choice = 1; choice < choiceCount; choice += 1) {
      if ((others & (1 << choice)) === 0) continue;
      const units = new FoldedUnits(text.length);
      foldInto(units, text, choice);
      const other = units.text();
      if (found.every((each) => each.text !== other)) found.push({ text: other, choice });
    }
    return found;
  };
  return {
    point,
    readings,
    text: (text) => {
      const units = new FoldedUnits(text.length);
      foldInto(units, text, 0);
      return units.text();
    },
    texts,
    locate: (text, choice, parts) => {
      const places = new FoldedPlaces(parts);
      foldInto(places, text, choice);
      return parts.map((part) => ({ ...part, start: places.start(part.start), end: places.end(part.end) }));
    },
    changesCaseOnly: (text) => !odd.test(text),
  };
}

/** ASCII without control characters, except white space. */
const plainAscii = /^[\t-\r -~]*$/;
/** What ASCII texts have where folding changes more than the case of their letters. */
const odd = /[^ -~]| {2}/;

function isDigit(reading: Reading): boolean {
  const [only = 0] = reading;
  return reading.length === 1 && only >= 0x30 && only <= 0x39;
}
