import type { State } from '../automaton/dfa-state.ts';
import type { View } from '../automaton/found-patterns.ts';
import type { LazyDfa } from '../automaton/lazy-dfa.ts';
import type { Scanner } from '../automaton/scanner.ts';

const space = 0x20;
const noStates: readonly State[] = [];
const ignore = () => {};

/**
 * The states in which something is open where a text ends, read on through the beginning of the next one: one
 * state for each kind of character before. Made once for all texts, because a body may have a text for each letter.
 */
export class SegmentStates {
  readonly #scanner: Scanner;
  readonly #view: View;
  readonly #automaton: LazyDfa;
  /** The number of open states; entries after them are stale. */
  readonly #states: State[] = [];
  #count = 0;
  /** The state that the text alone has led to. */
  #alone: State;
  readonly #onPatterns: (patterns: readonly number[]) => void;
  readonly #onState = ({ patterns }: State) => {
    if (patterns.length > 0) this.#onPatterns(patterns);
  };

  /** `onPatterns` gets the patterns that end on the way. */
  constructor(scanner: Scanner, view: View, onPatterns: (patterns: readonly number[]) => void) {
    this.#scanner = scanner;
    this.#view = view;
    this.#automaton = scanner[view];
    this.#alone = this.#automaton.start;
    this.#onPatterns = onPatterns;
  }

  get isEmpty(): boolean {
    return this.#count === 0;
  }

  /** Begins where two texts meet, with nothing and with a space there. */
  begin(opened: readonly State[]): this {
    this.#alone = this.#automaton.start;
    this.#count = opened.length;
    for (let at = 0; at < opened.length; at += 1) this.#states[at] = opened[at] as State;
    for (let at = 0; at < opened.length; at += 1) {
      const spaced = this.#automaton.next(opened[at] as State, space);
      if (spaced.patterns.length > 0) this.#onPatterns(spaced.patterns);
      this.#keep(spaced);
    }
    return this;
  }

  /** Reads a character; a state is dropped where it is the one that the text alone leads to. */
  advance(codePoint: number): void {
    this.#alone = this.#scanner.step(this.#view, this.#alone, codePoint, ignore);
    const count = this.#count;
    this.#count = 0;
    for (let at = 0; at < count; at += 1) {
      const next = this.#scanner.step(this.#view, this.#states[at] as State, codePoint, this.#onState);
      if (next !== this.#alone) this.#keep(next);
    }
  }

  /** Ends with the text: partial matches continue in the next one. */
  end(): void {
    for (let at = 0; at < this.#count; at += 1) {
      const patterns = this.#automaton.end(this.#states[at] as State);
      if (patterns.length > 0) this.#onPatterns(patterns);
    }
  }

  /** Stops before the end of the text. */
  drop(): void {
    this.#count = 0;
  }

  /** What is open now, and at the end of a text by itself. */
  openedWith(alone: State): readonly State[] {
    if (this.#automaton.isOpen(alone)) this.#keep(alone);
    return this.#count === 0 ? noStates : this.#states.slice(0, this.#count);
  }

  /** The partial matches after a text that some readers leave out: those after it, and still those before it. */
  combine(before: readonly State[], after: readonly State[]): readonly State[] {
    if (before.length === 0 || before === after) return after;
    if (after.length === 0) return before;
    this.#count = 0;
    for (const state of before) this.#keep(state);
    for (const state of after) this.#keep(state);
    return this.#states.slice(0, this.#count);
  }

  /** Keeps a state; one for each kind of preceding character is enough. */
  #keep(state: State): void {
    const states = this.#states;
    for (let at = 0; at < this.#count; at += 1) {
      const other = states[at] as State;
      if (other.context !== state.context) continue;
      states[at] = this.#automaton.merge(other, state);
      return;
    }
    states[this.#count] = state;
    this.#count += 1;
  }
}
