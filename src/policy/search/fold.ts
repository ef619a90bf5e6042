import { lookAlikes } from './look-alikes.generated.ts';

/** A text in its folded view, with the way back. */
export interface FoldedText {
  readonly text: string;
  /** For each UTF-16 unit of the folded text: where the character it comes from starts in the original. */
  readonly starts: Int32Array;
  /** The same for where that character ends. */
  readonly ends: Int32Array;
}

/** The folded view: case, width, compatibility forms, marks, format characters, look-alikes, white space. */
export interface Fold {
  /** One code point's fold: a code point, 0 where it is dropped, or -1 - n for `sequences[n]`. */
  point(codePoint: number): number;
  readonly sequences: readonly (readonly number[])[];
  /** Folds a text; runs of white space become one space. */
  text(text: string): FoldedText;
  /** The folded text alone, without the way back. */
  plain(text: string): string;
  /** Whether the fold of a text differs from it in the case of letters at most; of ASCII texts only. */
  changesCaseOnly(text: string): boolean;
}

const space = 0x20;
const unknown = -0x7fffffff;
const dropped = /^[\p{M}\p{Cf}\p{Cc}\p{Cs}\p{Default_Ignorable_Code_Point}]$/u;
// The blank pattern of Braille looks like a space, but is none to Unicode.
const blank = /^[\p{White_Space}\u2800]$/u;
const dash = /^[\p{Pd}\u2212\u2043]$/u;
const digit = /^\p{Nd}$/u;

/**
 * Makes a fold with its memory. Characters are folded one by one and remembered, so that a text costs
 * linear time whatever it holds; String.prototype.normalize on whole texts is quadratic in their marks.
 */
export function createFold(): Fold {
  const alike = decodeLookAlikes();
  const sequences: (readonly number[])[] = [];
  const basic = new Int32Array(0x10000).fill(unknown);
  const astral = new Map<number, number>();

  const compute = (codePoint: number): number => {
    if (isIdeograph(codePoint)) return codePoint;
    const points = isSyllable(codePoint)
      ? lettersOf(codePoint)
      : foldCharacter(String.fromCodePoint(codePoint), alike);
    if (points.length === 0) return 0;
    if (points.length === 1) return points[0] as number;
    sequences.push(points);
    return -sequences.length;
  };
  const point = (codePoint: number): number => {
    const known = codePoint < 0x10000 ? basic[codePoint] : astral.get(codePoint);
    if (known !== undefined && known !== unknown) return known;
    const folded = compute(codePoint);
    if (codePoint < 0x10000) basic[codePoint] = folded;
    else astral.set(codePoint, folded);
    return folded;
  };
  const whole = (text: string) => foldText(text, point, sequences);
  return {
    point,
    sequences,
    text: whole,
    plain: (text) => {
      if (!odd.test(text)) return text.toLowerCase();
      return ascii.test(text) ? foldAscii(text) : whole(text).text;
    },
    changesCaseOnly: (text) => !odd.test(text),
  };
}

const ascii = /^[\0-\x7f]*$/;
/** What ASCII texts have where folding changes more than the case of their letters. */
const odd = /[^ -~]| {2}/;

/** The same for ASCII, by the engine's own means. */
function foldAscii(text: string): string {
  return text
    .replace(/[\0-\x08\x0e-\x1f\x7f]+/g, '')
    .replace(/\s+/g, ' ')
    .toLowerCase();
}

function foldText(
  text: string,
  point: (codePoint: number) => number,
  sequences: readonly (readonly number[])[],
): FoldedText {
  const builder = new FoldedTextBuilder(text.length);
  for (let at = 0; at < text.length; ) {
    const codePoint = text.codePointAt(at) as number;
    const end = at + (codePoint > 0xffff ? 2 : 1);
    const folded = point(codePoint);
    if (folded > 0) builder.add(folded, at, end);
    if (folded < 0)
      for (const each of sequences[-1 - folded] as readonly number[]) builder.add(each, at, end);
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

/** Tens of thousands of characters that fold to themselves; asking Unicode for each takes a while. */
function isIdeograph(codePoint: number): boolean {
  return (
    (codePoint >= 0x3400 && codePoint <= 0x4dbf) ||
    (codePoint >= 0x4e00 && codePoint <= 0x9fff) ||
    (codePoint >= 0x20000 && codePoint <= 0x2a6df)
  );
}

const firstSyllable = 0xac00;

/** Hangul syllables, which stand for two or three letters (Unicode, section 3.12). */
function isSyllable(codePoint: number): boolean {
  return codePoint >= firstSyllable && codePoint <= 0xd7a3;
}

function lettersOf(syllable: number): readonly number[] {
  const index = syllable - firstSyllable;
  const lead = 0x1100 + Math.floor(index / 588);
  const vowel = 0x1161 + Math.floor((index % 588) / 28);
  const tail = 0x11a7 + (index % 28);
  return tail === 0x11a7 ? [lead, vowel] : [lead, vowel, tail];
}

/** The fold of one character, by the rules of Unicode; several steps, so it is asked once per character. */
function foldCharacter(character: string, alike: ReadonlyMap<string, string>): readonly number[] {
  if (blank.test(character)) return [space];
  if (dropped.test(character)) return [];
  // A compatibility form may look like something else than it stands for (the lunate sigma: c).
  let folded = digit.test(character) ? '' : (alike.get(character) ?? '');
  if (folded === '') for (const part of character.normalize('NFKD')) folded += foldPart(part, alike);
  return Array.from(folded, (part) => part.codePointAt(0) as number);
}

function foldPart(part: string, alike: ReadonlyMap<string, string>): string {
  if (part <= '\x7f') return part.toLowerCase();
  if (blank.test(part)) return ' ';
  if (dropped.test(part)) return '';
  if (dash.test(part)) return '-';
  if (digit.test(part)) return String(digitValue(part.codePointAt(0) as number));
  const seen = alike.get(part);
  if (seen !== undefined) return seen;
  let lower = '';
  // Both ways, because some letters (ß, ς) only meet their twins in one of them.
  for (const each of part.toUpperCase().toLowerCase().normalize('NFKD')) {
    if (!dropped.test(each)) lower += alike.get(each) ?? each;
  }
  return lower;
}

/** Decimal digits stand in runs of ten from zero on, in every script. */
function digitValue(codePoint: number): number {
  let value = 0;
  while (value < 9 && digit.test(String.fromCodePoint(codePoint - value - 1))) value += 1;
  // Runs that touch (the mathematical digits) have compatibility forms and don't come here.
  return value;
}

function decodeLookAlikes(): ReadonlyMap<string, string> {
  const words = lookAlikes.join(' ').split(' ');
  const table = new Map<string, string>();
  let code = 0;
  for (let at = 0; at + 1 < words.length; at += 2) {
    code += Number.parseInt(words[at] as string, 36);
    table.set(String.fromCodePoint(code), words[at + 1] as string);
  }
  return table;
}
