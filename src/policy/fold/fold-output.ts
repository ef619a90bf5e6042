import { partitionPoint } from '../../lib/partition-point.ts';

const space = 0x20;

/** What a text is folded into: code points, each with the place of the character that it comes from. */
export interface Output {
  add(codePoint: number, start: number, end: number): void;
}

/** The folded text; spaces that follow each other are one. It grows: one character may fold to eighteen. */
export class FoldedUnits implements Output {
  #units: Uint16Array;
  #length = 0;

  constructor(length: number) {
    this.#units = new Uint16Array(Math.max(16, length + 2));
  }

  add(codePoint: number): void {
    const length = this.#length;
    if (codePoint === space && length > 0 && this.#units[length - 1] === space) return;
    // A code point may take two units.
    if (length + 2 > this.#units.length) this.#grow();
    if (codePoint <= 0xffff) {
      this.#units[length] = codePoint;
      this.#length = length + 1;
      return;
    }
    const rest = codePoint - 0x10000;
    this.#units[length] = 0xd800 + (rest >> 10);
    this.#units[length + 1] = 0xdc00 + (rest & 0x3ff);
    this.#length = length + 2;
  }

  text(): string {
    return Buffer.from(this.#units.buffer, 0, this.#length * 2).toString('utf16le');
  }

  #grow(): void {
    const larger = new Uint16Array(this.#units.length * 2);
    larger.set(this.#units);
    this.#units = larger;
  }
}

/** A part of a text, in UTF-16 units; not empty. */
export interface TextSpan {
  readonly start: number;
  readonly end: number;
}

/** Where some units of a folded text come from: those with which parts begin and end. */
export class FoldedPlaces implements Output {
  /** The units that are looked for, in order, and the places of their characters. */
  readonly #units: Int32Array;
  readonly #starts: Int32Array;
  readonly #ends: Int32Array;
  #found = 0;
  #length = 0;
  #isSpace = false;

  constructor(parts: readonly TextSpan[]) {
    this.#units = new Int32Array(parts.length * 2);
    parts.forEach(({ start, end }, at) => {
      this.#units[at * 2] = start;
      this.#units[at * 2 + 1] = end - 1;
    });
    this.#units.sort();
    this.#starts = new Int32Array(this.#units.length);
    this.#ends = new Int32Array(this.#units.length);
  }

  add(codePoint: number, start: number, end: number): void {
    const isSpace = codePoint === space;
    if (isSpace && this.#isSpace) {
      // The last space continues.
      for (let at = this.#found - 1; at >= 0 && this.#units[at] === this.#length - 1; at -= 1) {
        this.#ends[at] = end;
      }
      return;
    }
    this.#isSpace = isSpace;
    this.#length += codePoint > 0xffff ? 2 : 1;
    while ((this.#units[this.#found] as number) < this.#length) {
      this.#starts[this.#found] = start;
      this.#ends[this.#found] = end;
      this.#found += 1;
    }
  }

  start(unit: number): number {
    return this.#starts[this.#indexOf(unit)] as number;
  }

  /** The end of the character that ends before a unit. */
  end(unit: number): number {
    return this.#ends[this.#indexOf(unit - 1)] as number;
  }

  #indexOf(unit: number): number {
    return partitionPoint(this.#units.length, (at) => (this.#units[at] as number) < unit);
  }
}
