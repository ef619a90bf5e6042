import type { Fold } from '../fold/fold.ts';
import type { Reading } from '../fold/fold-character.ts';
import { contexts, endsCell, type LazyDfa, type Threads, type ThreadTable } from './lazy-dfa.ts';

/** What begins while a simulation reads: all that may; or only what doesn't in the text by itself. */
type Begins = 'all' | 'added';

const space = 0x20;
const none = -1;
const skippedOrSpace: readonly Reading[] = [[], [space]];

/**
 * Simulates an NFA thread by thread: slower than a DFA, but at a cost that is bounded for every text. Prefilters are
 * not simulated: in random letters dozens of their threads are alive, so what they are of is taken to be there.
 */
export class Simulation {
  readonly #automaton: LazyDfa;
  readonly #table: ThreadTable;
  readonly #fold: Fold | undefined;
  /** The column of the space, if only the first of a run counts; none where all do. */
  readonly #space: number;
  #threads: number[] = [];
  #count = 0;
  #next: number[] = [];
  #context = 0;
  #begins: Begins = 'all';
  /** The context of the text by itself. */
  #alone = 0;
  #onPatterns: (patterns: readonly number[]) => void = () => {};

  constructor(automaton: LazyDfa, fold: Fold | undefined) {
    this.#automaton = automaton;
    this.#table = automaton.threadTable;
    this.#fold = fold;
    this.#space = fold === undefined ? none : automaton.alphabet.of(space);
  }

  /** Continues from a state; `onPatterns` gets those that end on the way. */
  begin({ threads, context }: Threads, onPatterns: (patterns: readonly number[]) => void): void {
    this.#set(threads, context);
    this.#begins = 'all';
    this.#alone = 0;
    this.#onPatterns = onPatterns;
    if (this.#automaton.prefiltered.length > 0) onPatterns(this.#automaton.prefiltered);
  }

  /** From here on a text is read that is read by itself too, in a context: what begins in both is not followed here. */
  beginText(alone: number): void {
    this.#begins = 'added';
    this.#alone = alone;
  }

  /** Whether a match may be in progress. */
  get isOpen(): boolean {
    return this.#count > 0 || (this.#automaton.asksForWords && (this.#context & contexts.word) !== 0);
  }

  /** Whether there is nothing to be followed any more. */
  get isOver(): boolean {
    return this.#count === 0 && this.#context === this.#alone;
  }

  get context(): number {
    return this.#context;
  }

  get state(): Threads {
    this.#threads.length = this.#count;
    return { threads: Int32Array.from(this.#threads).sort(), context: this.#context };
  }

  /** Takes in the threads of another with the same context. */
  add(other: Simulation): void {
    this.#unite(other.#threads, other.#count);
  }

  /** Reads a character of a class of the automaton. */
  advance(column: number): void {
    if (column > this.#table.end) this.#advanceReadings(skippedOrSpace);
    else if (column === this.#space && (this.#context & contexts.space) !== 0) this.#advanceSpaceAgain();
    else this.#step(column);
  }

  #step(column: number): void {
    const table = this.#table;
    const context = this.#context;
    const pass = table.marks.nextPass();
    const { rows, width } = table;
    const marks = table.marks.last;
    const threads = this.#threads;
    const next = this.#next;
    const byContext = context * width + column;
    let count = 0;
    for (let at = 0; at < this.#count; at += 1) {
      const thread = threads[at] as number;
      const row = rows[thread];
      let cell = row === undefined ? none : (row[row.length === width ? column : byContext] as number);
      if (cell === none) cell = table.cell(thread, context, column);
      if (cell === endsCell) continue;
      if (cell >= 0) {
        if (marks[cell] === pass) continue;
        marks[cell] = pass;
        next[count] = cell;
        count += 1;
      } else {
        const step = table.step(cell);
        if (step.patterns.length > 0) this.#onPatterns(step.patterns);
        count = this.#note(step.threads, count, pass);
      }
    }
    if (this.#begins === 'added') {
      if (this.#alone !== context) {
        this.#noteEmpty(column);
        count = this.#note(table.added(context, this.#alone, column), count, pass);
      }
      this.#alone = table.contextAfter[column] as number;
    } else {
      this.#noteEmpty(column);
      count = this.#note(table.begun(context, column).threads, count, pass);
    }
    this.#next = threads;
    this.#threads = next;
    this.#count = count;
    this.#context = table.contextAfter[column] as number;
  }

  /** Reads a character that is not folded yet. */
  advancePoint(codePoint: number): void {
    const { alphabet } = this.#automaton;
    if (this.#fold === undefined) return this.advance(alphabet.of(codePoint));
    const point = this.#fold.point(codePoint);
    if (point > 0) this.advance(alphabet.of(point));
    else if (point < 0) this.#advanceReadings(this.#fold.readings[-1 - point] as readonly Reading[]);
  }

  /** The text ends; threads stay as they are. */
  end(): void {
    this.#noteEmpty(this.#table.end);
    for (let at = 0; at < this.#count; at += 1) {
      const cell = this.#table.cell(this.#threads[at] as number, this.#context, this.#table.end);
      if (cell !== endsCell) this.#onPatterns(this.#table.step(cell).patterns);
    }
  }

  #set(threads: ArrayLike<number>, context: number): void {
    const { prefiltersFrom } = this.#automaton;
    let count = 0;
    // In ascending order, so that those of prefilters are the last.
    while (count < threads.length && (threads[count] as number) < prefiltersFrom) {
      this.#threads[count] = threads[count] as number;
      count += 1;
    }
    this.#count = count;
    this.#context = context;
  }

  /** Patterns that match nothing at all before a character, such as `\B`. */
  #noteEmpty(column: number): void {
    const { patterns } = this.#table.begun(this.#context, column);
    if (patterns.length > 0) this.#onPatterns(patterns);
  }

  /** Adds threads to the next ones, each once. */
  #note(threads: ArrayLike<number>, from: number, pass: number): number {
    const marks = this.#table.marks.last;
    let count = from;
    for (let at = 0; at < threads.length; at += 1) {
      const thread = threads[at] as number;
      if (marks[thread] === pass) continue;
      marks[thread] = pass;
      this.#next[count] = thread;
      count += 1;
    }
    return count;
  }

  /** Adds threads to those that are alive, each once. */
  #unite(threads: ArrayLike<number>, length = threads.length): void {
    const pass = this.#table.marks.nextPass();
    const marks = this.#table.marks.last;
    for (let at = 0; at < this.#count; at += 1) marks[this.#threads[at] as number] = pass;
    for (let at = 0; at < length; at += 1) {
      const thread = threads[at] as number;
      if (marks[thread] === pass) continue;
      this.#threads[this.#count] = thread;
      this.#count += 1;
    }
  }

  /** A space where some readings have had the first of a run, and others may have not. */
  #advanceSpaceAgain(): void {
    if (this.#context === contexts.space) {
      this.#alone = contexts.space;
      return;
    }
    const { threads } = this.state;
    this.#step(this.#space);
    this.#unite(threads);
  }

  /** Reads a character that is read in several ways. */
  #advanceReadings(readings: readonly Reading[]): void {
    const before = this.state;
    const alone = this.#alone;
    let threads: Int32Array | undefined;
    let context = 0;
    let aloneAfter = 0;
    for (const reading of readings) {
      this.#set(before.threads, before.context);
      this.#alone = alone;
      for (const point of reading) this.advance(this.#automaton.alphabet.of(point));
      if (threads !== undefined) this.#unite(threads);
      threads = this.state.threads;
      context |= this.#context;
      aloneAfter |= this.#alone;
    }
    this.#context = context;
    this.#alone = aloneAfter;
  }
}
