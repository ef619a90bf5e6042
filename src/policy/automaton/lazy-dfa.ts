import type { Fold } from '../fold/fold.ts';
import { type Alphabet, buildAlphabet, isWord } from './alphabet.ts';
import { contexts, distinct, endPoint, hashOf, holding, isSame, type State } from './dfa-state.ts';
import { assertions, isWithin, type Nfa, type NfaNode, nodeKinds } from './nfa.ts';

export interface LazyDfaOptions {
  readonly nfa: Nfa;
  /** If given, the automaton reads folded text: it skips dropped characters and reads a run of spaces as one. */
  readonly fold?: Fold;
  /** Most cells of the table; when they are used up, the table is discarded and started over. */
  readonly cellLimit?: number;
}

const defaultCellLimit = 1 << 21;
const maxOffset = 1 << 26;
/** Merged states that are cached. */
const mergedLimit = 1 << 14;
const space = 0x20;

interface Advance {
  readonly threads: readonly number[];
  readonly patterns: readonly number[];
}

/** With its threads sorted, each once. */
interface Beginning extends Omit<Advance, 'threads'> {
  readonly threads: Int32Array;
}

/** A cell that has not been computed yet. */
const unknownCell = -1;

/**
 * A deterministic automaton that is built lazily: a table row for each state that actually occurs. It reads each
 * character once, whatever the patterns, so its time is linear by construction.
 *
 * Cells: the next state's offset; `unknownCell`; or -2 - offset where patterns end (see State.patterns).
 */
export class LazyDfa {
  readonly alphabet: Alphabet;
  /** The class of each ASCII byte; 0 for other bytes. */
  readonly byteClasses = new Uint16Array(256);
  table: Int32Array;
  readonly #nodes: readonly NfaNode[];
  readonly #starts: readonly number[];
  readonly #fold: Fold | undefined;
  readonly #width: number;
  readonly #endClass: number;
  readonly #invisibleClass: number;
  readonly #cellLimit: number;
  readonly #asksForWords: boolean;
  readonly #marks: Int32Array;
  readonly #beginnings = new Map<number, Beginning>();
  readonly #merged = new Map<number, State>();
  #generation = 0;
  #states: State[] = [];
  #index = new Map<number, State[]>();
  #epoch = 0;
  #start: State;

  constructor({ nfa, fold, cellLimit = defaultCellLimit }: LazyDfaOptions) {
    this.#nodes = nfa.nodes;
    this.#starts = nfa.starts;
    this.#asksForWords = nfa.nodes.some(isInsideWords);
    this.#fold = fold;
    this.alphabet = buildAlphabet(nfa);
    this.#endClass = this.alphabet.size;
    this.#invisibleClass = this.alphabet.size + 1;
    this.#width = this.alphabet.size + 2;
    this.#cellLimit = Math.max(cellLimit, this.#width * 4);
    this.#marks = new Int32Array(nfa.nodes.length);
    this.table = new Int32Array(Math.min(this.#cellLimit, this.#width * 64)).fill(unknownCell);
    for (let byte = 0; byte < 0x80; byte += 1) this.byteClasses[byte] = this.#byteClass(byte);
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

  stateAt(offset: number): State {
    return this.#states[offset / this.#width] as State;
  }

  /** The same state in the current table. */
  live(state: State): State {
    if (state.epoch === this.#epoch) return state;
    return this.#intern(state.threads, state.context, state.patterns);
  }

  /** The state after a code point, which must be folded already where the automaton reads folded text. */
  next(state: State, codePoint: number): State {
    return this.#next(state, this.alphabet.of(codePoint));
  }

  /** The patterns that end at the end of the text. */
  end(state: State): readonly number[] {
    return this.#next(state, this.#endClass).patterns;
  }

  /** The state after a byte's class; for the fast loop, when it meets an unknown cell. */
  nextByClass(state: State, byteClass: number): State {
    return this.#next(state, byteClass);
  }

  /** Whether a text that continues from this state can contain patterns that it doesn't contain by itself. */
  isOpen(state: State): boolean {
    return state.threads.length > 0 || (this.#asksForWords && (state.context & contexts.word) !== 0);
  }

  /** The union of two states, without the patterns that have ended. */
  merge(one: State, other: State): State {
    if (one === other) return one;
    const second = this.live(other);
    // The second call may have started the table over; the first can't do so after it.
    const first = this.live(one);
    const key = first.offset * maxOffset + second.offset;
    const known = this.#merged.get(key);
    if (known !== undefined && second.epoch === this.#epoch) return known;
    const threads = distinct(first.threads, second.threads);
    const merged = this.#intern(threads, first.context | second.context, []);
    if (this.#merged.size >= mergedLimit) this.#merged.clear();
    if (second.epoch === this.#epoch) this.#merged.set(key, merged);
    return merged;
  }

  #byteClass(byte: number): number {
    if (this.#fold === undefined) return this.alphabet.of(byte);
    const folded = this.#fold.point(byte);
    // Of ASCII only control characters have two readings.
    return folded > 0 ? this.alphabet.of(folded) : this.#invisibleClass;
  }

  #next(from: State, column: number): State {
    const state = this.live(from);
    const known = this.table[state.offset + column] as number;
    if (known >= 0) return this.stateAt(known);
    if (known < unknownCell) return this.stateAt(-2 - known);
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
    const begun = this.#begin(conditions, column, codePoint);
    let { threads, patterns } = begun;
    if (state.threads.length > 0) {
      const gone = this.#advance(state.threads, conditions, codePoint);
      if (gone.threads.length > 0) threads = distinct(threads, gone.threads);
      if (gone.patterns.length > 0) patterns = [...new Set([...patterns, ...gone.patterns])];
    }
    // In some readings it is the first space of a run, in others it is not.
    if (isSpaceAgain) threads = distinct(threads, state.threads);
    return this.#intern(threads, this.#contextOf(codePoint), patterns);
  }

  /** The nodes that start at a position: searches start everywhere, so this is computed once per kind of context. */
  #begin(conditions: number, column: number, codePoint: number): Beginning {
    const key = conditions * this.#width + column;
    let begun = this.#beginnings.get(key);
    if (begun === undefined) {
      const { threads, patterns } = this.#advance(this.#starts, conditions, codePoint);
      begun = { threads: distinct(threads), patterns };
      this.#beginnings.set(key, begun);
    }
    return begun;
  }

  /** The nodes reached by a character, and the patterns that end before it. */
  #advance(nodes: ArrayLike<number>, conditions: number, codePoint: number): Advance {
    const { alive, patterns } = this.#closure(nodes, conditions);
    const threads: number[] = [];
    for (const each of alive) {
      const node = this.#nodes[each] as NfaNode;
      if (node.kind === nodeKinds.branch) {
        const child = codePoint === endPoint ? undefined : node.next.get(codePoint);
        if (child !== undefined) threads.push(child);
      } else if (isWithin(codePoint, node.ranges)) threads.push(node.out);
    }
    return { threads, patterns };
  }

  /** The state after what some readers skip and others read as a space. */
  #maybeSpace(state: State): State {
    const spaced = this.#next(state, this.alphabet.of(space));
    const threads = distinct(state.threads, spaced.threads);
    return this.#intern(threads, state.context | spaced.context, spaced.patterns);
  }

  /** The state without its patterns, which have been reported already. */
  #quiet(state: State): State {
    return state.patterns.length === 0 ? state : this.#intern(state.threads, state.context, []);
  }

  #contextOf(codePoint: number): number {
    if (codePoint === 10) return contexts.newline;
    if (isWord(codePoint)) return contexts.word;
    return this.#fold !== undefined && codePoint === space ? contexts.space : contexts.other;
  }

  /** The nodes reached without reading, given the conditions that hold here, and the patterns among them. */
  #closure(nodes: ArrayLike<number>, conditions: number): { alive: number[]; patterns: number[] } {
    this.#generation += 1;
    const marks = this.#marks;
    const stack = Array.from(nodes);
    const alive: number[] = [];
    const patterns: number[] = [];
    while (stack.length > 0) {
      const at = stack.pop() as number;
      if (marks[at] === this.#generation) continue;
      marks[at] = this.#generation;
      const node = this.#nodes[at] as NfaNode;
      switch (node.kind) {
        case nodeKinds.split:
          stack.push(node.out);
          if (node.other !== node.out) stack.push(node.other);
          break;
        case nodeKinds.assertion:
          if ((node.other & ~conditions) === 0) stack.push(node.out);
          break;
        case nodeKinds.match:
          patterns.push(node.other);
          break;
        case nodeKinds.branch:
          alive.push(at);
          for (let end = -1; node.next.has(end); end -= 1) stack.push(node.next.get(end) as number);
          break;
        default:
          alive.push(at);
      }
    }
    return { alive, patterns };
  }

  #intern(threads: Int32Array, context: number, patterns: readonly number[]): State {
    const hash = hashOf(threads, context, patterns);
    const same = this.#index.get(hash)?.find((state) => isSame(state, threads, context, patterns));
    if (same !== undefined) return same;
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

/** Whether a node can start a match only in the middle of a word. */
function isInsideWords(node: NfaNode): boolean {
  return node.kind === nodeKinds.assertion && (node.other & assertions.noWordBoundary) !== 0;
}
