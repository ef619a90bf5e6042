import { partitionPoint } from '../../lib/partition-point.ts';
import type { Fold } from '../fold/fold.ts';
import {
  assertions,
  type Closure,
  endPoint,
  isInsideWords,
  Marks,
  type Nfa,
  NfaSteps,
  nodeKinds,
  type SortedAdvance,
  several,
} from './nfa.ts';

/** The preceding context, as bits; for text with several readings, all contexts that are possible. */
export const contexts = { begin: 1, newline: 2, word: 4, other: 8, space: 16 } as const;

/** The nodes of an NFA that are alive, in order, and the preceding context. */
export interface Threads {
  readonly threads: Int32Array;
  readonly context: number;
}

/** The same as a state of an automaton, with the patterns that ended just before the last character. */
export interface State extends Threads {
  readonly patterns: readonly number[];
  readonly offset: number;
  readonly epoch: number;
}

interface LazyDfaOptions {
  readonly nfa: Nfa;
  /** If given, the automaton reads folded text: it skips dropped characters and reads a run of spaces as one. */
  readonly fold?: Fold;
  /** Most cells of the table; when they are used up, the table is discarded and started over. */
  readonly cellLimit?: number;
  /** What may be computed at once, in cells. */
  readonly roomLimit?: number;
}

const defaultCellLimit = 1 << 21;
const maxOffset = 1 << 26;
/** Merged states that are cached. */
const mergedLimit = 1 << 14;
const space = 0x20;
/** What may be computed at once, in cells, and bytes that must be read for each further one. */
const defaultRoomLimit = 1 << 16;
const bytesPerCell = 128;
/** A new state takes as long as so many cells that lead to known ones. */
const cellsPerState = 8;
/** Cells for which room is owed at most: some readers can't do without new states. */
const overdraft = 1 << 13;

/** A cell that has not been computed yet. */
const unknownCell = -1;

/**
 * A deterministic automaton that is built lazily: a table row for each state that actually occurs. It reads each
 * character once, whatever the patterns, so its time is linear by construction.
 *
 * Cells: the next state's offset; `unknownCell`; or -2 - offset where patterns end (see State.patterns).
 *
 * On texts such as random letters, several counted repetitions make a new state of nearly every byte, at a thousand times
 * the cost of a known one. So there is room only for as many cells as befits the bytes that were read; without it,
 * callers go on with a simulation.
 */
export class LazyDfa {
  readonly alphabet: Alphabet;
  /** The class of each ASCII byte; 0 for other bytes. */
  readonly byteClasses = new Uint16Array(256);
  table: Int32Array;
  readonly steps: NfaSteps;
  /** The nodes at which every search begins. */
  readonly starts: readonly number[];
  /** The same without prefilters, their first node, and the patterns that they are of. */
  readonly ownStarts: readonly number[];
  readonly prefiltersFrom: number;
  readonly prefiltered: readonly number[];
  readonly #fold: Fold | undefined;
  readonly #width: number;
  readonly #endClass: number;
  readonly #invisibleClass: number;
  readonly #cellLimit: number;
  /** Whether something may begin in the middle of a word only. */
  readonly asksForWords: boolean;
  /** Whether something may begin with a space after other characters. */
  readonly beginsWithSpace: boolean;
  /** Where each thread leads: states that have many of them in common share what was computed for each. */
  readonly threadTable: ThreadTable;
  readonly #gone: number[] = [];
  readonly #merged = new Map<number, State>();
  /** How many cells may be computed. */
  #room: number;
  readonly #roomLimit: number;
  #states: State[] = [];
  #index = new Map<number, State[]>();
  #epoch = 0;
  #start: State;

  constructor({ nfa, fold, cellLimit = defaultCellLimit, roomLimit = defaultRoomLimit }: LazyDfaOptions) {
    this.#roomLimit = roomLimit;
    this.#room = roomLimit;
    this.steps = new NfaSteps(nfa.nodes);
    this.starts = nfa.starts;
    this.ownStarts = nfa.ownStarts;
    this.prefiltersFrom = nfa.prefiltersFrom;
    this.prefiltered = [...nfa.prefiltered];
    this.asksForWords = nfa.nodes.some(isInsideWords);
    const anyContext = holding(contexts.word | contexts.other, space);
    this.beginsWithSpace = this.steps.advance(nfa.starts, anyContext, space).threads.length > 0;
    this.#fold = fold;
    this.alphabet = buildAlphabet(nfa);
    this.#endClass = this.alphabet.size;
    this.#invisibleClass = this.alphabet.size + 1;
    this.#width = this.alphabet.size + 2;
    this.#cellLimit = Math.max(cellLimit, this.#width * 8);
    this.table = new Int32Array(Math.min(this.#cellLimit, this.#width * 16)).fill(unknownCell);
    for (let byte = 0; byte < 0x80; byte += 1) this.byteClasses[byte] = this.#byteClass(byte);
    this.threadTable = new ThreadTable(this);
    this.#start = this.#intern(new Int32Array(0), contexts.begin, []);
  }

  /** The state before the first character. */
  get start(): State {
    return this.#start;
  }

  /** Changes whenever all offsets become invalid. */
  get epoch(): number {
    return this.#epoch;
  }

  /** Whether there is no room for further cells. */
  get isFull(): boolean {
    return this.#room <= 0;
  }

  /** Makes room for the `bytes` that have been read. */
  addRoom(bytes: number): void {
    this.#room = Math.min(this.#roomLimit, this.#room + bytes / bytesPerCell);
  }

  stateAt(offset: number): State {
    return this.#states[offset / this.#width] as State;
  }

  /** The state of a simulation. */
  state({ threads, context }: Threads): State {
    return this.#intern(threads, context, []);
  }

  /** The same state in the current table. */
  live(state: State): State {
    if (state.epoch === this.#epoch) return state;
    return this.#intern(state.threads, state.context, state.patterns);
  }

  /** The state after a code point, which must be folded already where the automaton reads folded text. */
  next(state: State, codePoint: number): State {
    return this.nextByClass(state, this.alphabet.of(codePoint));
  }

  /** The patterns that end at the end of the text. */
  end(state: State): readonly number[] {
    return this.nextByClass(state, this.#endClass).patterns;
  }

  /** Whether a text that continues from this state can contain patterns that it doesn't contain by itself. */
  isOpen({ threads, context }: Threads): boolean {
    return threads.length > 0 || (this.asksForWords && (context & contexts.word) !== 0);
  }

  /** The union of two states, without the patterns that have ended. */
  merge(one: State, other: State): State {
    if (one === other) return one;
    const second = this.live(other);
    // The second call may have started the table over; the first can't do so after it.
    const first = this.live(one);
    const isKnown = second.epoch === this.#epoch;
    const key = first.offset * maxOffset + second.offset;
    const known = isKnown ? this.#merged.get(key) : undefined;
    if (known !== undefined) return known;
    const threads = distinct(first.threads, second.threads);
    const merged = this.#intern(threads, first.context | second.context, []);
    if (this.#merged.size >= mergedLimit) this.#merged.clear();
    const isKept = isKnown && second.epoch === this.#epoch;
    if (isKept) this.#merged.set(key, merged);
    return merged;
  }

  #byteClass(byte: number): number {
    if (this.#fold === undefined) return this.alphabet.of(byte);
    const folded = this.#fold.point(byte);
    // Of ASCII only control characters have two readings.
    return folded > 0 ? this.alphabet.of(folded) : this.#invisibleClass;
  }

  /** The state after a class of characters. */
  nextByClass(from: State, column: number): State {
    const state = this.live(from);
    const known = this.table[state.offset + column] as number;
    if (known >= 0) return this.stateAt(known);
    if (known < unknownCell) return this.stateAt(-2 - known);
    this.#room -= 1;
    const next = this.#step(state, column);
    // The step may have started the table over; then there is no row to store it in.
    if (state.epoch === this.#epoch) {
      this.table[state.offset + column] = next.patterns.length === 0 ? next.offset : -2 - next.offset;
    }
    return next;
  }

  #step(state: State, column: number): State {
    if (column === this.#invisibleClass) return this.#maybeSpace(state);
    const codePoint = column === this.#endClass ? endPoint : (this.alphabet.samples[column] as number);
    // Of a run of spaces only the first counts.
    const isSpaceAgain = codePoint === space && (state.context & contexts.space) !== 0;
    if (isSpaceAgain && state.context === contexts.space) return this.#quiet(state);
    const conditions = holding(state.context, codePoint);
    const begun = this.threadTable.begunWhere(conditions, column);
    let { threads, patterns } = begun;
    if (state.threads.length > 0) {
      const ended = this.threadTable.advance(state, column, this.#gone);
      if (this.#gone.length > 0) threads = distinct(threads, this.#gone);
      if (ended.length > 0) patterns = [...new Set([...patterns, ...ended])];
    }
    // In some readings it is the first space of a run, in others it is not.
    if (isSpaceAgain) threads = distinct(threads, state.threads);
    return this.#intern(threads, this.contextOf(codePoint), patterns);
  }

  /** The state after what some readers skip and others read as a space. */
  #maybeSpace(state: State): State {
    const spaced = this.nextByClass(state, this.alphabet.of(space));
    const threads = distinct(state.threads, spaced.threads);
    return this.#intern(threads, state.context | spaced.context, spaced.patterns);
  }

  /** The state without its patterns, which have been reported already. */
  #quiet(state: State): State {
    return state.patterns.length === 0 ? state : this.#intern(state.threads, state.context, []);
  }

  /** The context after a code point. */
  contextOf(codePoint: number): number {
    if (codePoint === 10) return contexts.newline;
    if (isWordCodePoint(codePoint)) return contexts.word;
    return this.#fold !== undefined && codePoint === space ? contexts.space : contexts.other;
  }

  #intern(threads: Int32Array, context: number, patterns: readonly number[]): State {
    const hash = hashOf(threads, context, patterns);
    const same = this.#index.get(hash)?.find((state) => isSameState(state, threads, context, patterns));
    if (same !== undefined) return same;
    this.#room = Math.max(-overdraft, this.#room - cellsPerState);
    if ((this.#states.length + 1) * this.#width > this.table.length) this.#makeRoom();
    const offset = this.#states.length * this.#width;
    const state: State = { threads, context, patterns, offset, epoch: this.#epoch };
    this.#states.push(state);
    const others = this.#index.get(hash);
    if (others === undefined) this.#index.set(hash, [state]);
    else others.push(state);
    return state;
  }

  #makeRoom(): void {
    if (this.table.length * 2 <= this.#cellLimit) {
      const larger = new Int32Array(this.table.length * 2).fill(unknownCell);
      larger.set(this.table);
      this.table = larger;
      return;
    }
    this.table.fill(unknownCell);
    this.#states = [];
    this.#index = new Map();
    this.#merged.clear();
    this.#epoch += 1;
    this.#start = this.#intern(new Int32Array(0), contexts.begin, []);
  }
}

/** What is read of an automaton. */
interface Automaton {
  readonly alphabet: Alphabet;
  readonly steps: NfaSteps;
  readonly starts: readonly number[];
  /** The same without prefilters. */
  readonly ownStarts: readonly number[];
  contextOf(codePoint: number): number;
}

/** Cells of a row of threads: a thread that becomes one other; `unknownCell`; that ends; below, the number of a step. */
export const endsCell = -2;
const noStepCell = -3;
const noStep: SortedAdvance = { threads: new Int32Array(0), patterns: [] };
/** More contexts than there are, combinations included. */
const contextCount = contexts.space * 2;

/**
 * Where each node of an automaton's NFA leads with a character of each class. Filled where it is asked for, so it is at
 * most as large as the NFA, whatever the texts.
 */
export class ThreadTable {
  /** The column of the end of a text. */
  readonly end: number;
  /** The context after a character of each class. */
  readonly contextAfter: Uint8Array;
  readonly width: number;
  /** For each node, by class; or by context and class, if what stood before matters. */
  readonly rows: (Int32Array | undefined)[] = [];
  readonly marks: Marks;
  readonly #automaton: Automaton;
  readonly #steps: SortedAdvance[] = [noStep];
  readonly #begun: (SortedAdvance | undefined)[] = [];
  readonly #begunWhere = new Map<number, SortedAdvance>();
  /** The nodes at which searches begin that read a character, by the conditions. */
  readonly #openings = new Map<number, Closure>();
  readonly #added = new Map<number, Int32Array>();

  constructor(automaton: Automaton) {
    const { samples, size } = automaton.alphabet;
    this.#automaton = automaton;
    this.end = size;
    this.width = size + 1;
    this.contextAfter = Uint8Array.from(samples, (sample) => automaton.contextOf(sample));
    this.marks = new Marks(automaton.steps.nodeCount);
  }

  /** The threads and the patterns that a cell stands for. */
  step(cell: number): SortedAdvance {
    return this.#steps[noStepCell - cell] as SortedAdvance;
  }

  /** What begins with a character: searches start everywhere. */
  begun(context: number, column: number): SortedAdvance {
    const key = context * this.width + column;
    let begun = this.#begun[key];
    if (begun === undefined) {
      begun = this.#advance(this.#automaton.ownStarts, context, column);
      this.#begun[key] = begun;
    }
    return begun;
  }

  /** What begins with a character after one context, but doesn't after another, such as with `\B`. */
  added(context: number, alone: number, column: number): Int32Array {
    const key = (context * contextCount + alone) * this.width + column;
    let added = this.#added.get(key);
    if (added === undefined) {
      const own = this.begun(alone, column).threads;
      added = this.begun(context, column).threads.filter((thread) => !own.includes(thread));
      this.#added.set(key, added);
    }
    return added;
  }

  /** What begins with a character where some conditions hold, prefilters included; computed once for each kind of place. */
  begunWhere(conditions: number, column: number): SortedAdvance {
    const key = conditions * this.width + column;
    let begun = this.#begunWhere.get(key);
    if (begun === undefined) {
      const { steps, starts } = this.#automaton;
      const opening = this.#openings.get(conditions) ?? steps.closure(starts, conditions);
      this.#openings.set(conditions, opening);
      const { threads, patterns } = steps.move(opening, this.#codePoint(column));
      begun = { threads: distinct(threads), patterns };
      this.#begunWhere.set(key, begun);
    }
    return begun;
  }

  /** Moves the threads of a state to a list, each once; returns the patterns that end before the character. */
  advance({ threads, context }: Threads, column: number, into: number[]): readonly number[] {
    const pass = this.marks.nextPass();
    const marks = this.marks.last;
    const ended: number[] = [];
    const add = (thread: number) => {
      if (marks[thread] === pass) return;
      marks[thread] = pass;
      into.push(thread);
    };
    into.length = 0;
    for (let at = 0; at < threads.length; at += 1) {
      const cell = this.cell(threads[at] as number, context, column);
      if (cell >= 0) add(cell);
      else if (cell !== endsCell) {
        const step = this.step(cell);
        for (const pattern of step.patterns) ended.push(pattern);
        step.threads.forEach(add);
      }
    }
    return ended;
  }

  /** The cell of a node that may not be in its row yet. */
  cell(node: number, context: number, column: number): number {
    let row = this.rows[node];
    if (row === undefined) {
      const isAsking = this.#automaton.steps.asksForContext(node);
      row = new Int32Array(this.width * (isAsking ? contextCount : 1)).fill(unknownCell);
      this.rows[node] = row;
    }
    const at = row.length > this.width ? context * this.width + column : column;
    if (row[at] === unknownCell) row[at] = this.#findCell(node, context, column);
    return row[at] as number;
  }

  #findCell(node: number, context: number, column: number): number {
    const direct = this.#automaton.steps.only(node, this.#codePoint(column));
    if (direct !== several) return direct ?? endsCell;
    const step = this.#advance([node], context, column);
    const [only = endsCell, other] = step.threads;
    return step.patterns.length === 0 && other === undefined ? only : this.#keep(step);
  }

  #codePoint(column: number): number {
    return column === this.end ? endPoint : (this.#automaton.alphabet.samples[column] as number);
  }

  #advance(nodes: ArrayLike<number>, context: number, column: number): SortedAdvance {
    const codePoint = this.#codePoint(column);
    const { threads, patterns } = this.#automaton.steps.advance(
      nodes,
      holding(context, codePoint),
      codePoint,
    );
    return { threads: distinct(threads), patterns };
  }

  #keep(step: SortedAdvance): number {
    if (step.threads.length === 0 && step.patterns.length === 0) return noStepCell;
    return noStepCell - (this.#steps.push(step) - 1);
  }
}

// ---------------------------------------------------------------- states

/** Whether it is a state, or what a simulation has led to. */
export function isState(threads: Threads): threads is State {
  return 'offset' in threads;
}

/** The empty-width conditions that hold between the preceding context and the next character (or the end). */
export function holding(context: number, next: number): number {
  let conditions = 0;
  if ((context & contexts.begin) !== 0) conditions |= assertions.beginText | assertions.beginLine;
  if ((context & contexts.newline) !== 0) conditions |= assertions.beginLine;
  if (next === endPoint) conditions |= assertions.endText | assertions.endLine;
  if (next === 10) conditions |= assertions.endLine;
  const isWordNext = isWordCodePoint(next);
  if ((context & contexts.word) !== 0) {
    conditions |= isWordNext ? assertions.noWordBoundary : assertions.wordBoundary;
  }
  if ((context & ~contexts.word) !== 0) {
    conditions |= isWordNext ? assertions.wordBoundary : assertions.noWordBoundary;
  }
  return conditions;
}

/** All threads of some lists, sorted, each once. */
function distinct(...lists: readonly ArrayLike<number>[]): Int32Array {
  let length = 0;
  for (const list of lists) length += list.length;
  const threads = new Int32Array(length);
  let at = 0;
  for (const list of lists) {
    threads.set(list, at);
    at += list.length;
  }
  threads.sort();
  let kept = 0;
  for (let from = 0; from < length; from += 1) {
    if (from > 0 && threads[from] === threads[from - 1]) continue;
    threads[kept] = threads[from] as number;
    kept += 1;
  }
  return kept === length ? threads : threads.slice(0, kept);
}

function hashOf(threads: Int32Array, context: number, patterns: readonly number[]): number {
  let hash = context + 1;
  for (const thread of threads) hash = (Math.imul(hash, 0x01000193) ^ thread) | 0;
  for (const pattern of patterns) hash = (Math.imul(hash, 0x01000193) ^ ~pattern) | 0;
  return hash;
}

function isSameState(
  state: State,
  threads: Int32Array,
  context: number,
  patterns: readonly number[],
): boolean {
  return (
    state.context === context &&
    state.threads.length === threads.length &&
    state.patterns.length === patterns.length &&
    isEqual(state.threads, threads) &&
    isEqual(state.patterns, patterns)
  );
}

function isEqual(one: ArrayLike<number>, other: ArrayLike<number>): boolean {
  for (let at = 0; at < one.length; at += 1) if (one[at] !== other[at]) return false;
  return true;
}

// ---------------------------------------------------------------- classes of characters

/**
 * Groups code points into equivalence classes, so that an automaton has a column per class instead of one for each of a
 * million characters.
 */
interface Alphabet {
  /** Number of classes. Class 0 contains no character: it stops the fast loop over bytes. */
  readonly size: number;
  of(codePoint: number): number;
  /** A representative code point of each class. */
  readonly samples: readonly number[];
}

const lastPoint = 0x10ffff;

function buildAlphabet(nfa: Nfa): Alphabet {
  const bounds = findBounds(nfa);
  const classes = classify(bounds, nfa);
  const samples: number[] = [-1];
  classes.forEach((each, interval) => {
    samples[each] ??= bounds[interval] as number;
  });
  const memory = new Uint16Array(0x10000);
  const of = (codePoint: number): number => {
    if (codePoint > 0xffff) return classes[intervalOf(bounds, codePoint)] as number;
    const known = memory[codePoint] as number;
    if (known !== 0) return known;
    const found = classes[intervalOf(bounds, codePoint)] as number;
    memory[codePoint] = found;
    return found;
  };
  return { size: samples.length, of, samples };
}

/** First code points of the intervals within which nothing changes. */
function findBounds(nfa: Nfa): Int32Array {
  const bounds = new Set<number>([0, 10, 11, 32, 33]);
  // Word characters, as \b defines them in RE2 and here.
  for (const [first, last] of wordRanges) bounds.add(first).add(last + 1);
  for (const node of nfa.nodes) {
    for (let at = 0; at < node.ranges.length; at += 2) {
      bounds.add(node.ranges[at] as number).add((node.ranges[at + 1] as number) + 1);
    }
    for (const letter of node.next.keys()) if (letter >= 0) bounds.add(letter).add(letter + 1);
  }
  bounds.delete(lastPoint + 1);
  return Int32Array.from(bounds).sort();
}

/** A class per interval; two intervals share one where the same ranges hold them. */
function classify(bounds: Int32Array, nfa: Nfa): Uint16Array {
  const signatures: string[] = new Array(bounds.length).fill('');
  const mark = (first: number, last: number, sign: string) => {
    for (let at = intervalOf(bounds, first); at < bounds.length && (bounds[at] as number) <= last; at += 1) {
      signatures[at] += sign;
    }
  };
  let count = 0;
  const sign = () => `${(count++).toString(36)},`;
  // Line breaks and spaces are classes of their own: the rules for lines and runs of space ask for them.
  mark(10, 10, sign());
  mark(32, 32, sign());
  const word = sign();
  for (const [first, last] of wordRanges) mark(first, last, word);
  const seen = new Set<string>();
  const once = (key: string, ranges: readonly number[]) => {
    if (seen.has(key)) return;
    seen.add(key);
    const own = sign();
    for (let at = 0; at < ranges.length; at += 2) mark(ranges[at] as number, ranges[at + 1] as number, own);
  };
  for (const node of nfa.nodes) {
    if (node.kind === nodeKinds.ranges) once(node.ranges.join(), node.ranges);
    for (const letter of node.next.keys()) if (letter >= 0) once(`${letter},${letter}`, [letter, letter]);
  }
  const classes = new Map<string, number>();
  return Uint16Array.from(signatures, (signature) => {
    const known = classes.get(signature) ?? classes.size + 1;
    classes.set(signature, known);
    return known;
  });
}

const wordRanges = [
  [0x30, 0x39],
  [0x41, 0x5a],
  [0x5f, 0x5f],
  [0x61, 0x7a],
] as const;

export function isWordCodePoint(codePoint: number): boolean {
  return wordRanges.some(([first, last]) => codePoint >= first && codePoint <= last);
}

function intervalOf(bounds: Int32Array, codePoint: number): number {
  return partitionPoint(bounds.length, (at) => (bounds[at] as number) <= codePoint) - 1;
}
