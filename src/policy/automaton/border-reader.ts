import type { TextView } from './byte-reader.ts';
import { isState, type LazyDfa, type State, type Threads } from './lazy-dfa.ts';
import type { StatePair } from './product-dfa.ts';
import type { Scanner } from './scanner.ts';
import type { Simulation } from './simulation.ts';
import { type Character, readCharacter, type TextBytes } from './text-bytes.ts';

/** Characters of a text that are read together with what comes before or after it. */
export const crossReach = 4096;

/** Where the automata may stand with something in progress: of each view one state for each kind of character before. */
export type Carried = Readonly<Record<TextView, readonly Threads[]>>;

const nothing: readonly Threads[] = [];
export const nothingCarried: Carried = { exact: nothing, folded: nothing };
const nothingKnown: ReadonlySet<number> = new Set();
const space = 0x20;
const ignore = () => {};

/** Who wants to know what ends in a text and began before it. */
export interface BorderListener {
  /** What is known of the text before: patterns that end with it show only in the next one, and are not new there. */
  readonly known: ReadonlySet<number>;
  /** A pattern that is there; or that may be, of those that only prefilters seek, where there was no room. */
  note(pattern: number, view: TextView): void;
}

/**
 * Reads over the borders of texts as if these were joined, at each border both with nothing and with a space. The automata
 * continue from the states before until those converge with the states that the text alone leads to, mostly within a few
 * characters.
 */
export class BorderReader {
  readonly #views: Readonly<Record<TextView, ViewReader>>;

  constructor(scanner: Scanner) {
    this.#views = {
      exact: new ViewReader(scanner, 'exact'),
      folded: new ViewReader(scanner, 'folded'),
    };
  }

  /**
   * Reads on from what is in progress through a text that by itself leads to `alone`; returns what is in progress at its
   * end.
   */
  readOn(before: Carried, text: TextBytes, alone: StatePair, listener: BorderListener): Carried {
    const exact = this.#views.exact.readOn(before.exact, text, alone.exact, listener);
    const folded = this.#views.folded.readOn(before.folded, text, alone.folded, listener);
    return exact === nothing && folded === nothing ? nothingCarried : { exact, folded };
  }

  /** What is in progress after either of two texts. */
  either(one: Carried, other: Carried): Carried {
    return {
      exact: this.#views.exact.either(one.exact, other.exact),
      folded: this.#views.folded.either(one.folded, other.folded),
    };
  }
}

/**
 * The same for one view. Made once for all texts, because a body may have a text for each letter. Where the automaton has
 * no room for further states they are simulated.
 */
class ViewReader {
  readonly #scanner: Scanner;
  readonly #view: TextView;
  readonly #automaton: LazyDfa;
  /** The number of states that are followed; entries after them are stale. */
  readonly #states: State[] = [];
  /** The same for simulations, by which all states are replaced if any is. */
  readonly #simulations: Simulation[] = [];
  #isSimulated = false;
  #count = 0;
  /** The state that the text alone has led to. */
  #alone: State;
  #known = nothingKnown;
  #listener: BorderListener | undefined;
  readonly #character: Character = { codePoint: 0, length: 0 };
  readonly #onPatterns = (patterns: readonly number[]) => {
    for (const pattern of patterns) {
      if (this.#known.size === 0 || !this.#known.has(pattern)) this.#listener?.note(pattern, this.#view);
    }
  };
  readonly #onState = ({ patterns }: State) => {
    if (patterns.length > 0) this.#onPatterns(patterns);
  };

  constructor(scanner: Scanner, view: TextView) {
    this.#scanner = scanner;
    this.#view = view;
    this.#automaton = scanner[view];
    this.#alone = this.#automaton.start;
  }

  readOn(
    before: readonly Threads[],
    text: TextBytes,
    alone: Threads,
    listener: BorderListener,
  ): readonly Threads[] {
    this.#count = 0;
    if (before.length > 0) {
      this.#listener = listener;
      this.#known = listener.known;
      this.#begin(before);
      let at = text.start;
      for (let read = 0; at < text.end && this.#count > 0 && read < crossReach; read += 1) {
        readCharacter(text.bytes, at, this.#character);
        this.#advance(this.#character.codePoint);
        at += this.#character.length;
        this.#known = nothingKnown;
      }
      if (at < text.end) this.#count = 0;
      this.#end();
      // It holds on to a body, and this outlives bodies.
      this.#listener = undefined;
    }
    // What begins with a space begins where texts are joined with one.
    if (!this.#automaton.isOpen(alone) && !this.#automaton.beginsWithSpace) return this.#followed();
    if (this.#count === 0) return [alone];
    if (!isState(alone) && !this.#isSimulated) this.#simulate();
    this.#keep(alone);
    return this.#followed();
  }

  either(one: readonly Threads[], other: readonly Threads[]): readonly Threads[] {
    if (one.length === 0 || one === other) return other;
    if (other.length === 0) return one;
    this.#count = 0;
    this.#isSimulated = this.#automaton.isFull || !one.every(isState) || !other.every(isState);
    for (const state of one) this.#keep(state);
    for (const state of other) this.#keep(state);
    return this.#followed();
  }

  /** Begins where two texts meet, with nothing and with a space there. */
  #begin(before: readonly Threads[]): void {
    this.#alone = this.#automaton.start;
    this.#isSimulated = this.#automaton.isFull || !before.every(isState);
    for (let at = 0; at < before.length; at += 1) this.#keep(before[at] as Threads);
    for (let at = 0; at < before.length; at += 1) this.#keepSpaced(before[at] as Threads);
    if (this.#isSimulated) this.#beginText();
  }

  /** Reads a character; a state is dropped where it is the one that the text alone leads to. */
  #advance(codePoint: number): void {
    if (!this.#isSimulated && this.#automaton.isFull) {
      this.#simulate();
      this.#beginText();
    }
    const count = this.#count;
    this.#count = 0;
    if (this.#isSimulated) {
      for (let at = 0; at < count; at += 1) {
        const each = this.#simulation(at);
        each.advancePoint(codePoint);
        if (!each.isOver) this.#keepSimulation(at);
      }
      return;
    }
    this.#alone = this.#scanner.step(this.#view, this.#alone, codePoint, ignore);
    for (let at = 0; at < count; at += 1) {
      const next = this.#scanner.step(this.#view, this.#states[at] as State, codePoint, this.#onState);
      if (next !== this.#alone) this.#keep(next);
    }
  }

  /** Ends with the text: partial matches continue in the next one. */
  #end(): void {
    for (let at = 0; at < this.#count; at += 1) {
      if (this.#isSimulated) this.#simulation(at).end();
      else this.#onPatterns(this.#automaton.end(this.#states[at] as State));
    }
  }

  #followed(): readonly Threads[] {
    if (this.#count === 0) return nothing;
    if (!this.#isSimulated) return this.#states.slice(0, this.#count);
    return Array.from({ length: this.#count }, (_, at) => this.#simulation(at).state);
  }

  #keepSpaced(state: Threads): void {
    if (this.#isSimulated) {
      const spaced = this.#beginSimulation(state);
      spaced.advancePoint(space);
      this.#keepSimulation(this.#count);
    } else {
      const spaced = this.#automaton.next(state as State, space);
      this.#onState(spaced);
      this.#keep(spaced);
    }
  }

  /** Keeps a state; one for each kind of preceding character is enough. */
  #keep(state: Threads): void {
    if (this.#isSimulated) {
      this.#beginSimulation(state);
      this.#keepSimulation(this.#count);
      return;
    }
    const states = this.#states;
    for (let at = 0; at < this.#count; at += 1) {
      const other = states[at] as State;
      if (other.context !== state.context) continue;
      states[at] = this.#automaton.merge(other, state as State);
      return;
    }
    states[this.#count] = state as State;
    this.#count += 1;
  }

  /** The same for a simulation, which may be any from `count` on. */
  #keepSimulation(from: number): void {
    const each = this.#simulation(from);
    for (let at = 0; at < this.#count; at += 1) {
      const other = this.#simulation(at);
      if (other.context === each.context) return other.add(each);
    }
    this.#simulations[from] = this.#simulation(this.#count);
    this.#simulations[this.#count] = each;
    this.#count += 1;
  }

  /** Goes on with simulations of the states. */
  #simulate(): void {
    const states = this.#states.slice(0, this.#count);
    this.#isSimulated = true;
    this.#count = 0;
    for (const state of states) this.#keep(state);
  }

  #beginText(): void {
    for (let at = 0; at < this.#count; at += 1) this.#simulation(at).beginText(this.#alone.context);
  }

  /** A simulation from a state on, which is the first that is not kept. */
  #beginSimulation(state: Threads): Simulation {
    const simulation = this.#simulation(this.#count);
    simulation.begin(state, this.#onPatterns);
    return simulation;
  }

  #simulation(at: number): Simulation {
    this.#simulations[at] ??= this.#scanner.simulation(this.#view, at);
    return this.#simulations[at] as Simulation;
  }
}
