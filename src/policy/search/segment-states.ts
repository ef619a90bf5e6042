import type { State } from './dfa-state.ts';
import type { Automaton } from './lazy-dfa.ts';

const space = 0x20;
const noLanes: readonly State[] = [];

/**
 * The states in which something is open where a text ends, read on through the beginning of the next one: one
 * lane for each kind of character before. Made once for all texts, because a body may have a text for each letter.
 */
export class SegmentStates {
  readonly #automaton: Automaton;
  /** The first so many are the lanes; what follows is left over. */
  readonly #states: State[] = [];
  #count = 0;
  /** Where the text alone has brought the automaton. */
  #alone: State;
  readonly #onPatterns: (patterns: readonly number[]) => void;

  /** Is told the patterns that end on the way. */
  constructor(automaton: Automaton, onPatterns: (patterns: readonly number[]) => void) {
    this.#automaton = automaton;
    this.#alone = automaton.start;
    this.#onPatterns = onPatterns;
  }

  get isEmpty(): boolean {
    return this.#count === 0;
  }

  /** Begins at a joint, with nothing and with a space there. */
  begin(opened: readonly State[]): this {
    this.#alone = this.#automaton.start;
    this.#count = opened.length;
    for (let lane = 0; lane < opened.length; lane += 1) this.#states[lane] = opened[lane] as State;
    for (let lane = 0; lane < opened.length; lane += 1) {
      const spaced = this.#automaton.next(opened[lane] as State, space);
      if (spaced.patterns.length > 0) this.#onPatterns(spaced.patterns);
      this.#keep(spaced);
    }
    return this;
  }

  /** Reads a character; a lane ends where it stands where the text alone brought the automaton. */
  advance(codePoint: number): void {
    const automaton = this.#automaton;
    this.#alone = automaton.next(this.#alone, codePoint);
    const count = this.#count;
    this.#count = 0;
    for (let lane = 0; lane < count; lane += 1) {
      const next = automaton.next(this.#states[lane] as State, codePoint);
      if (next.patterns.length > 0) this.#onPatterns(next.patterns);
      if (next !== this.#alone) this.#keep(next);
    }
  }

  /** Ends where the text does: the lanes go on into the next one. */
  end(): void {
    for (let lane = 0; lane < this.#count; lane += 1) {
      const patterns = this.#automaton.end(this.#states[lane] as State);
      if (patterns.length > 0) this.#onPatterns(patterns);
    }
  }

  /** Ends before the text does. */
  drop(): void {
    this.#count = 0;
  }

  /** What is open now, and at the end of a text by itself. */
  openedWith(alone: State): readonly State[] {
    if (this.#automaton.isOpen(alone)) this.#keep(alone);
    return this.#count === 0 ? noLanes : this.#states.slice(0, this.#count);
  }

  /** Keeps a state; of those after the same kind of character one is enough. */
  #keep(state: State): void {
    const states = this.#states;
    for (let lane = 0; lane < this.#count; lane += 1) {
      const other = states[lane] as State;
      if (other.context !== state.context) continue;
      states[lane] = this.#automaton.merge(other, state);
      return;
    }
    states[this.#count] = state;
    this.#count += 1;
  }
}
