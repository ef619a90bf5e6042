import type { Automaton } from './automaton.ts';
import type { State } from './state.ts';

/** A cell that nobody has filled yet. */
export const unknownPair = -1;

const cellLimit = 1 << 21;
const firstPairs = 64;
const backslash = 0x5c;
const letterU = 0x75;
const space = 0x20;

/** A state of each automaton; or the same after a backslash, where texts have JSON escapes. */
export interface Pair {
  readonly exact: State;
  readonly folded: State;
  readonly offset: number;
  readonly hasNeedles: boolean;
  /** The pair before the backslash. */
  readonly escaped: Pair | undefined;
  /** Whether it is known that no needle ends where the text does. */
  isQuietAtEnd: boolean;
  /** The scan that has noted its needles last. */
  notedIn: number;
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
  /** The same for text with JSON escapes, where a backslash has a column of its own. */
  readonly escapedColumns: Uint8Array;
  readonly #escapes: ReadonlyMap<number, number>;
  readonly #escapeColumn: number;
  /** A byte of each column. */
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
  #spaced: Pair | undefined;

  constructor(exact: Automaton, folded: Automaton, escapes: ReadonlyMap<number, number>) {
    this.#exact = exact;
    this.#folded = folded;
    this.#escapes = escapes;
    const known = new Map<string, number>();
    for (let byte = 0; byte < 0x80; byte += 1) {
      // Letters that mean something after a backslash have columns of their own.
      const own = byte === letterU || (escapes.get(byte) ?? byte) !== byte ? byte : '';
      const key = `${exact.byteClasses[byte]},${folded.byteClasses[byte]},${own}`;
      let column = known.get(key);
      if (column === undefined) {
        column = this.#bytes.length;
        known.set(key, column);
        this.#bytes.push(byte);
      }
      this.columns[byte] = column;
    }
    this.escapedColumns = this.columns.slice();
    this.#escapeColumn = this.#bytes.length;
    this.#bytes.push(backslash);
    this.escapedColumns[backslash] = this.#escapeColumn;
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

  /** Offset of the pair after a space at the beginning; needles that end there don't count. */
  spaced(): number {
    if (this.#isStale()) this.#restart();
    this.#spaced ??= this.next(this.at(this.start()), this.columns[space] as number);
    return this.#spaced.offset;
  }

  at(offset: number): Pair {
    return this.#pairs[offset / this.#width] as Pair;
  }

  /** The pair after a column's byte, for a cell that is unknown; after a backslash, the byte must not be a "u". */
  next(from: Pair, column: number): Pair {
    const pair = this.#next(from, column);
    // Making room may have begun the table anew; then there is no row to note it in.
    if (this.#pairs[from.offset / this.#width] === from) {
      this.table[from.offset + column] = pair.hasNeedles ? -2 - pair.offset : pair.offset;
    }
    return pair;
  }

  #next(from: Pair, column: number): Pair {
    const byte = this.#bytes[column] as number;
    if (from.escaped !== undefined) {
      const meant = this.columns[this.#escapes.get(byte) ?? byte] as number;
      return this.#next(from.escaped, meant);
    }
    if (column === this.#escapeColumn) return this.#escape(from);
    const exact = this.#exact.nextByClass(from.exact, this.#exact.byteClasses[byte] as number);
    const folded = this.#folded.nextByClass(from.folded, this.#folded.byteClasses[byte] as number);
    return this.pair(exact, folded);
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
    this.#spaced = undefined;
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
    if (!this.#hasRoom()) {
      this.#restart();
      return this.#intern(exact, folded);
    }
    const pair = this.#add(exact, folded, undefined);
    this.#byOffsets.set(key, pair);
    return pair;
  }

  /** A pair after a backslash; only its own cell leads to it, so it is made once. */
  #escape(from: Pair): Pair {
    if (this.#hasRoom()) return this.#add(from.exact, from.folded, from);
    this.#restart();
    return this.#escape(this.pair(from.exact, from.folded));
  }

  #add(exact: State, folded: State, escaped: Pair | undefined): Pair {
    const isQuiet = escaped !== undefined || (exact.needles.length === 0 && folded.needles.length === 0);
    const offset = this.#pairs.length * this.#width;
    const pair: Pair = {
      exact,
      folded,
      offset,
      hasNeedles: !isQuiet,
      escaped,
      isQuietAtEnd: false,
      notedIn: 0,
    };
    this.#pairs.push(pair);
    return pair;
  }

  #hasRoom(): boolean {
    return (this.#pairs.length + 1) * this.#width <= this.table.length || this.#makeRoom();
  }

  #makeRoom(): boolean {
    if (this.table.length * 2 > cellLimit) return false;
    const larger = new Int32Array(this.table.length * 2).fill(unknownPair);
    larger.set(this.table);
    this.table = larger;
    return true;
  }
}
