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
  readonly #added = new Map<number, Int32Array>();
  readonly #begunBefore: (Int32Array | undefined)[] = [];

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

  /** What has begun with the character before this one, and empty matches between them; `key` is the context before that, times `width`, plus its class. */
  begunBefore(key: number, column: number): SortedAdvance {
    let row = this.#begunBefore[key];
    if (row === undefined) {
      row = new Int32Array(this.width).fill(unknownCell);
      this.#begunBefore[key] = row;
    }
    let cell = row[column] as number;
    if (cell === unknownCell) {
      const before = key % this.width;
      const context = this.contextAfter[before] as number;
      const { threads } = this.begun((key - before) / this.width, before);
      const { patterns: empty } = this.begun(context, column);
      const step = this.#advance(threads, context, column);
      cell = this.#keep({ ...step, patterns: [...step.patterns, ...empty] });
      row[column] = cell;
    }
    return this.step(cell);
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

/** What begins with a character. Searches begin everywhere, so it is computed once for each kind of place. */
export class Beginnings {
  readonly #automaton: Automaton;
  /** By the conditions and the character's class. */
  readonly #known = new Map<number, SortedAdvance>();
  /** The nodes that read the character, by the conditions. */
  readonly #openings = new Map<number, Closure>();

  constructor(automaton: Automaton) {
    this.#automaton = automaton;
  }

  /** `column` is a class of the automaton's alphabet, or the number after the last for the end of a text. */
  of(conditions: number, column: number): SortedAdvance {
    const { alphabet, starts, steps } = this.#automaton;
    const key = conditions * (alphabet.size + 1) + column;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const opening = this.#openings.get(conditions) ?? steps.closure(starts, conditions);
    this.#openings.set(conditions, opening);
    const codePoint = column === alphabet.size ? endPoint : (alphabet.samples[column] as number);
    const { threads, patterns } = steps.move(opening, codePoint);
    const begun = { threads: distinct(threads), patterns };
    this.#known.set(key, begun);
    return begun;
  }
}
