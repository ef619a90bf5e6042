import type { Automaton, State } from './automaton.ts';

/** A cell that nobody has filled yet. */
export const unknownPair = -1;

const cellLimit = 1 << 21;
const firstPairs = 64;

/** A state of each automaton. */
export interface Pair {
  readonly exact: State;
  readonly folded: State;
  readonly offset: number;
  readonly hasNeedles: boolean;
  /** Whether it is known that no needle ends where the text does. */
  isQuietAtEnd: boolean;
}

/**
 * Both automata as one, for ASCII: a row for each pair of states that occurs, so that the quick run looks up
 * one cell for each byte instead of two. Anything else goes through the automata themselves.
 *
 * Cells: the next pair's offset; `unknownPair`; or -2 - offset where needles end.
 */
export class PairTable {
  readonly #exact: Automaton;
  readonly #folded: Automaton;
  /** Column of each ASCII byte; 0, which is never filled, for all others. */
  readonly columns = new Uint8Array(256);
  /** The same for text with JSON escapes, where a backslash stops. */
  readonly escapedColumns: Uint8Array;
  /** Column of what a byte after a backslash stands for; 0 for \\u. */
  readonly escapeColumns = new Uint8Array(256);
  readonly #bytes: number[] = [0];
  readonly #width: number;
  table: Int32Array;
  /** Grows whenever all offsets become invalid. */
  age = 0;
  #pairs: Pair[] = [];
  #byOffsets = new Map<number, Pair>();
  #exactEpoch: number;
  #foldedEpoch: number;
  #start: Pair;

  constructor(exact: Automaton, folded: Automaton, escapes: ReadonlyMap<number, number>) {
    this.#exact = exact;
    this.#folded = folded;
    const known = new Map<string, number>();
    for (let byte = 0; byte < 0x80; byte += 1) {
      const key = `${exact.byteClasses[byte]},${folded.byteClasses[byte]}`;
      let column = known.get(key);
      if (column === undefined) {
        column = this.#bytes.length;
        known.set(key, column);
        this.#bytes.push(byte);
      }
      this.columns[byte] = column;
    }
    this.escapedColumns = this.columns.slice();
    this.escapedColumns[0x5c] = 0;
    for (const [letter, codePoint] of escapes) this.escapeColumns[letter] = this.columns[codePoint] as number;
    this.#width = this.#bytes.length;
    this.table = new Int32Array(this.#width * firstPairs).fill(unknownPair);
    this.#exactEpoch = exact.epoch;
    this.#foldedEpoch = folded.epoch;
    this.#start = this.#intern(exact.start, folded.start);
  }

  /** Offset of the pair before the first character. */
  start(): number {
    if (this.#isStale()) this.#restart();
    return this.#start.offset;
  }

  at(offset: number): Pair {
    return this.#pairs[offset / this.#width] as Pair;
  }

  /** The pair after a column's byte, for a cell that is unknown. */
  next(from: Pair, column: number): Pair {
    const byte = this.#bytes[column] as number;
    const exact = this.#exact.nextByClass(from.exact, this.#exact.byteClasses[byte] as number);
    const folded = this.#folded.nextByClass(from.folded, this.#folded.byteClasses[byte] as number);
    const pair = this.pair(exact, folded);
    // Making room may have begun the table anew; then there is no row to note it in.
    if (this.#pairs[from.offset / this.#width] === from) {
      this.table[from.offset + column] = pair.hasNeedles ? -2 - pair.offset : pair.offset;
    }
    return pair;
  }

  /** The pair of two states. */
  pair(exact: State, folded: State): Pair {
    if (this.#isStale()) this.#restart();
    return this.#intern(this.#exact.live(exact), this.#folded.live(folded));
  }

  #isStale(): boolean {
    return this.#exactEpoch !== this.#exact.epoch || this.#foldedEpoch !== this.#folded.epoch;
  }

  #restart(): void {
    this.age += 1;
    this.table.fill(unknownPair);
    this.#pairs = [];
    this.#byOffsets = new Map();
    this.#exactEpoch = this.#exact.epoch;
    this.#foldedEpoch = this.#folded.epoch;
    this.#start = this.#intern(this.#exact.start, this.#folded.start);
  }

  #intern(exact: State, folded: State): Pair {
    // Offsets are below 2^21, so that two fit into one exact number.
    const key = exact.offset * (cellLimit * 2) + folded.offset;
    const known = this.#byOffsets.get(key);
    if (known !== undefined) return known;
    if ((this.#pairs.length + 1) * this.#width > this.table.length && !this.#makeRoom()) {
      this.#restart();
      return this.#intern(exact, folded);
    }
    const hasNeedles = exact.needles.length > 0 || folded.needles.length > 0;
    const offset = this.#pairs.length * this.#width;
    const pair: Pair = { exact, folded, offset, hasNeedles, isQuietAtEnd: false };
    this.#pairs.push(pair);
    this.#byOffsets.set(key, pair);
    return pair;
  }

  #makeRoom(): boolean {
    if (this.table.length * 2 > cellLimit) return false;
    const larger = new Int32Array(this.table.length * 2).fill(unknownPair);
    larger.set(this.table);
    this.table = larger;
    return true;
  }
}
