import { shortEscapes } from '../../json/short-escapes.ts';
import { isState, type LazyDfa, type State, type Threads } from './lazy-dfa.ts';

/** A cell that has not been computed yet. */
export const unknownCell = -1;

/** Most cells of a table; the limit of each automaton's own table too. */
const defaultCellLimit = 1 << 21;
const firstPairs = 64;
/** Pairs that may be added at once, and bytes that must be read for each further one. */
const roomLimit = 1 << 16;
const bytesPerPair = 128;
/** Cells of a row: one for each byte of ASCII, so that a byte is its own column. */
const rowBits = 7;
const rowCells = 1 << rowBits;
const backslash = 0x5c;
const letterU = 0x75;
const space = 0x20;

/** Where each automaton stands. */
export interface StatePair {
  readonly exact: Threads;
  readonly folded: Threads;
}

/** A state of each automaton; or the same after a backslash, which begins an escape in a JSON string. */
export interface ProductState {
  readonly exact: State;
  readonly folded: State;
  readonly offset: number;
  readonly hasPatterns: boolean;
  /** Whether a match may be in progress. */
  readonly isOpen: boolean;
  /** The pair before the backslash. */
  readonly escaped: ProductState | undefined;
  /** Whether it is known that no pattern ends where the text does. */
  isQuietAtEnd: boolean;
  /** The scan that has noted its patterns last. */
  notedIn: number;
}

interface ProductDfaOptions {
  /** When this many cells are used up, the table is discarded and started over. */
  readonly cellLimit?: number;
}

/**
 * The product of both automata, for ASCII: a row for each pair of states that occurs, so that the fast loop looks up one
 * cell per byte instead of two. Other characters go through the automata themselves.
 *
 * Cells: the next pair's offset; `unknownCell`; or -2 - offset where patterns end.
 */
export class ProductDfa {
  readonly #exact: LazyDfa;
  readonly #folded: LazyDfa;
  /** For each byte, all bytes of the same classes, so that their cells are filled together. */
  readonly #alike: readonly (readonly number[])[];
  table: Int32Array = new Int32Array(rowCells * firstPairs).fill(unknownCell);
  /** Changes whenever all offsets become invalid. */
  epoch = 0;
  #pairs: ProductState[] = [];
  #byOffsets = new Map<number, ProductState>();
  #exactEpoch: number;
  #foldedEpoch: number;
  #start: ProductState;
  #spaced: ProductState | undefined;
  readonly #cellLimit: number;
  #room = roomLimit;

  constructor(exact: LazyDfa, folded: LazyDfa, { cellLimit = defaultCellLimit }: ProductDfaOptions = {}) {
    this.#cellLimit = cellLimit;
    this.#exact = exact;
    this.#folded = folded;
    this.#alike = this.#groupBytes();
    this.#exactEpoch = exact.epoch;
    this.#foldedEpoch = folded.epoch;
    this.#start = this.#intern(exact.start, folded.start);
  }

  /** Whether there is no room for what is not in the tables yet. */
  get isFull(): boolean {
    return this.#room <= 0 || this.#exact.isFull || this.#folded.isFull;
  }

  /** Makes room for the `bytes` that have been read. */
  addRoom(bytes: number): void {
    this.#room = Math.min(roomLimit, this.#room + bytes / bytesPerPair);
    this.#exact.addRoom(bytes);
    this.#folded.addRoom(bytes);
  }

  /** Offset of the pair before the first character. */
  start(): number {
    if (this.#isStale()) this.#restart();
    return this.#start.offset;
  }

  /** Offset of the pair after a space at the beginning; patterns that end there don't count. */
  spaced(): number {
    if (this.#isStale()) this.#restart();
    this.#spaced ??= this.next(this.at(this.start()), space);
    return this.#spaced.offset;
  }

  at(offset: number): ProductState {
    return this.#pairs[offset >> rowBits] as ProductState;
  }

  /** The pair after a byte of ASCII, for a cell that is unknown; after a backslash, the byte must not be a "u". */
  next(from: ProductState, byte: number): ProductState {
    const isEscape = byte === backslash && from.escaped === undefined;
    const pair = isEscape ? this.#escape(from) : this.#next(from, byte);
    // Making room may have started the table over; then there is no row to store it in.
    if (this.#pairs[from.offset >> rowBits] === from) {
      const cell = pair.hasPatterns ? -2 - pair.offset : pair.offset;
      for (const each of this.#alike[byte] as readonly number[]) this.table[from.offset + each] = cell;
    }
    return pair;
  }

  #next(from: ProductState, byte: number): ProductState {
    if (from.escaped !== undefined) return this.#next(from.escaped, unescaped(byte));
    const exact = this.#exact.nextByClass(from.exact, this.#exact.byteClasses[byte] as number);
    const folded = this.#folded.nextByClass(from.folded, this.#folded.byteClasses[byte] as number);
    return this.pair(exact, folded);
  }

  /** The same pair in the current table. */
  live(pair: ProductState): ProductState {
    if (this.#pairs[pair.offset >> rowBits] === pair) return pair;
    const before = this.pair(pair.exact, pair.folded);
    return pair.escaped === undefined ? before : this.next(before, backslash);
  }

  /** The pair of two states, or of what simulations have led to. */
  from(pair: StatePair): ProductState {
    if ('offset' in pair) return this.live(pair as ProductState);
    const { exact, folded } = pair;
    return this.pair(
      isState(exact) ? exact : this.#exact.state(exact),
      isState(folded) ? folded : this.#folded.state(folded),
    );
  }

  /** The pair of two states. */
  pair(exact: State, folded: State): ProductState {
    const first = this.#exact.live(exact);
    const second = this.#folded.live(folded);
    // Only now: making a state live may have started its automaton's table over.
    if (this.#isStale()) this.#restart();
    return this.#intern(first, second);
  }

  #groupBytes(): readonly (readonly number[])[] {
    const groups = new Map<string, number[]>();
    return Array.from({ length: rowCells }, (_, byte) => {
      // What means something else after a backslash, or is one, is alike to nothing.
      const isSpecial = byte === backslash || byte === letterU || unescaped(byte) !== byte;
      const own = isSpecial ? byte : '';
      const key = `${this.#exact.byteClasses[byte]},${this.#folded.byteClasses[byte]},${own}`;
      const group = groups.get(key) ?? [];
      groups.set(key, group);
      group.push(byte);
      return group;
    });
  }

  #isStale(): boolean {
    return this.#exactEpoch !== this.#exact.epoch || this.#foldedEpoch !== this.#folded.epoch;
  }

  #restart(): void {
    this.epoch += 1;
    this.#spaced = undefined;
    this.table.fill(unknownCell);
    this.#pairs = [];
    this.#byOffsets = new Map();
    this.#exactEpoch = this.#exact.epoch;
    this.#foldedEpoch = this.#folded.epoch;
    this.#start = this.#intern(this.#exact.start, this.#folded.start);
  }

  #intern(exact: State, folded: State): ProductState {
    // Offsets are below 2^21, so that two fit into one exact number.
    const key = exact.offset * (defaultCellLimit * 2) + folded.offset;
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
  #escape(from: ProductState): ProductState {
    if (this.#hasRoom()) return this.#add(from.exact, from.folded, from);
    this.#restart();
    return this.#escape(this.pair(from.exact, from.folded));
  }

  #add(exact: State, folded: State, escaped: ProductState | undefined): ProductState {
    this.#room -= 1;
    const isQuiet = escaped !== undefined || (exact.patterns.length === 0 && folded.patterns.length === 0);
    const offset = this.#pairs.length << rowBits;
    const pair: ProductState = {
      exact,
      folded,
      offset,
      hasPatterns: !isQuiet,
      isOpen: this.#exact.isOpen(exact) || this.#folded.isOpen(folded),
      escaped,
      isQuietAtEnd: false,
      notedIn: 0,
    };
    this.#pairs.push(pair);
    return pair;
  }

  #hasRoom(): boolean {
    return (this.#pairs.length + 1) << rowBits <= this.table.length || this.#makeRoom();
  }

  #makeRoom(): boolean {
    if (this.table.length * 2 > this.#cellLimit) return false;
    const larger = new Int32Array(this.table.length * 2).fill(unknownCell);
    larger.set(this.table);
    this.table = larger;
    return true;
  }
}

/** What a byte stands for after a backslash; itself if JSON has no such escape, which only a guess can lead to. */
function unescaped(byte: number): number {
  return shortEscapes[byte] || byte;
}

/** Number of cached steps; a power of two. */
const room = 4096;

/** A step on the way of which patterns ended, so that they must be noted whenever it is taken. */
export interface StepWithPatterns {
  readonly epoch: number;
  readonly to: number;
  readonly exact: readonly number[];
  readonly folded: readonly number[];
}

const maxCodePoint = 0x110000;

/** What characters above ASCII led to a while ago, by the pair before them and the epoch of its table. */
export class WideTransitions {
  readonly #from = new Int32Array(room).fill(-1);
  readonly #point = new Int32Array(room);
  readonly #to = new Int32Array(room);
  readonly #epoch = new Int32Array(room);
  readonly #withPatterns = new Map<number, StepWithPatterns>();

  /** Offset of the pair that a character led to; -1 if it is not cached. */
  recall(offset: number, codePoint: number, epoch: number): number {
    const slot = slotOf(offset, codePoint);
    const isKnown = this.#from[slot] === offset && this.#point[slot] === codePoint;
    return isKnown && this.#epoch[slot] === epoch ? (this.#to[slot] as number) : -1;
  }

  /** Offsets and epoch must be of one table. */
  note(offset: number, codePoint: number, { epoch, to }: Pick<StepWithPatterns, 'epoch' | 'to'>): void {
    const slot = slotOf(offset, codePoint);
    this.#from[slot] = offset;
    this.#point[slot] = codePoint;
    this.#epoch[slot] = epoch;
    this.#to[slot] = to;
  }

  /** The same for a step on which patterns ended. */
  recallPatterns(offset: number, codePoint: number, epoch: number): StepWithPatterns | undefined {
    const known = this.#withPatterns.get(offset * maxCodePoint + codePoint);
    return known?.epoch === epoch ? known : undefined;
  }

  notePatterns(offset: number, codePoint: number, step: StepWithPatterns): void {
    if (this.#withPatterns.size >= room) this.#withPatterns.clear();
    this.#withPatterns.set(offset * maxCodePoint + codePoint, step);
  }
}

function slotOf(offset: number, point: number): number {
  return (Math.imul(offset, 31) + point + (point >> 16)) & (room - 1);
}
