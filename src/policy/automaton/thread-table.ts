import type { Alphabet } from './alphabet.ts';
import { contexts, distinct, endPoint, holding, type Threads } from './dfa-state.ts';
import { type Closure, Marks, type NfaSteps, type SortedAdvance, several } from './nfa-steps.ts';

/** What is read of an automaton. */
interface Automaton {
  readonly alphabet: Alphabet;
  readonly steps: NfaSteps;
  readonly starts: readonly number[];
  /** The same without prefilters. */
  readonly ownStarts: readonly number[];
  contextOf(codePoint: number): number;
}

/** Cells of a row: a thread that becomes one other; that ends; not asked for yet; below, the number of a step. */
export const endsCell = -2;
const unknownCell = -1;
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
