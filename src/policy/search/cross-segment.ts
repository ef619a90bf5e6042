import type { TextView } from '../automaton/byte-reader.ts';
import { type Character, readCharacter, type TextBytes } from '../automaton/code-points.ts';
import { isState, type State, type Threads } from '../automaton/dfa-state.ts';
import type { LazyDfa } from '../automaton/lazy-dfa.ts';
import type { PatternSet } from '../automaton/patterns.ts';
import type { Scanner } from '../automaton/scanner.ts';
import type { Simulation } from '../automaton/simulation.ts';
import type { Checkpoint } from '../checkpoint.ts';
import { type Segment, textOf } from '../traverse/place.ts';
import { type CrossSegmentListener, crossReach, SegmentWindow } from './segment-window.ts';
import { bytesOf, type PatternMatch, type TextVerdict } from './text-reader.ts';
import { ViewedText } from './viewed-text.ts';

/** The state of one sequence of segments. */
interface Sequence {
  /** States in which something is open at its end, per view; one for each kind of character before. */
  exact: readonly Threads[];
  folded: readonly Threads[];
  /** Patterns that were found already with its last segment. */
  found: ReadonlySet<number>;
  readonly window: SegmentWindow;
}

/**
 * Reads the segments of a sequence as if they were joined, with nothing or with a space between any two. The automata
 * continue from their previous states until those converge with the states that the segment alone leads to, mostly within
 * a few characters. After an optional segment they also continue from the states before it.
 */
export class CrossSegmentMatcher {
  readonly #patternSet: PatternSet;
  readonly #checkpoint: Checkpoint;
  readonly #sequences = new Map<string, Sequence>();
  readonly #states: Readonly<Record<TextView, SegmentStates>>;
  readonly #character: Character = { codePoint: 0, length: 0 };
  /** Patterns over the end of a segment that is read; mostly there are none. */
  readonly #matches = new Map<number, PatternMatch>();
  /** Of the sequence that is read. */
  #window: SegmentWindow;
  /** Patterns that were reported with the segment before. */
  #known: ReadonlySet<number> = nothingFound;

  constructor(patternSet: PatternSet, checkpoint: Checkpoint) {
    this.#patternSet = patternSet;
    this.#checkpoint = checkpoint;
    this.#window = new SegmentWindow(patternSet, checkpoint);
    this.#states = {
      exact: new SegmentStates(patternSet.scanner, 'exact', (patterns) => this.#note('exact', patterns)),
      folded: new SegmentStates(patternSet.scanner, 'folded', (patterns) => this.#note('folded', patterns)),
    };
  }

  /** Adds a segment that isn't empty to a sequence. */
  add(name: string, segment: Segment, verdict: TextVerdict, report: CrossSegmentListener): void {
    if (this.#matches.size > 0) this.#matches.clear();
    const sequence = this.#sequences.get(name);
    if (sequence === undefined) {
      this.#sequences.set(name, this.#begin(segment, verdict, report));
      return;
    }
    const { document, entry } = segment.place;
    const text = bytesOf(document, entry);
    this.#window = sequence.window;
    const exact = this.#goOn('exact', sequence, text, verdict);
    const folded = this.#goOn('folded', sequence, text, verdict);
    if (this.#matches.size > 0) this.#report(segment, verdict, report);
    const found = foundWith(verdict, this.#matches);
    if (segment.optional !== undefined) {
      sequence.exact = this.#states.exact.combine(sequence.exact, exact);
      sequence.folded = this.#states.folded.combine(sequence.folded, folded);
      sequence.found = found.size === 0 ? sequence.found : new Set([...sequence.found, ...found]);
    } else {
      sequence.exact = exact;
      sequence.folded = folded;
      sequence.found = found;
    }
    sequence.window.push(segment, verdict, report);
  }

  /** Runs the detectors that have still to run; to be called after the last text. */
  finish(report: CrossSegmentListener): void {
    for (const { window } of this.#sequences.values()) window.runScheduled(report);
  }

  #begin(segment: Segment, verdict: TextVerdict, report: CrossSegmentListener): Sequence {
    const window = new SegmentWindow(this.#patternSet, this.#checkpoint);
    window.push(segment, verdict, report);
    return {
      exact: this.#states.exact.begin([]).openedWith(verdict.after.exact),
      folded: this.#states.folded.begin([]).openedWith(verdict.after.folded),
      found: foundWith(verdict, this.#matches),
      window,
    };
  }

  #report(segment: Segment, verdict: TextVerdict, report: CrossSegmentListener): void {
    for (const { pattern } of verdict.patternMatches) this.#matches.delete(pattern);
    for (const match of this.#matches.values()) report(match, segment, this.#beginning(match, segment));
  }

  /** The segment in which a match begins that ends in this one. */
  #beginning({ pattern }: PatternMatch, segment: Segment): Segment {
    const { last } = this.#window;
    const { patterns, fold } = this.#patternSet;
    const sought = patterns[pattern];
    const text = textOf(segment.place);
    const holds = ({ place }: Segment) =>
      sought !== undefined &&
      ['', ' '].some(
        (separator) => new ViewedText(textOf(place) + separator + text, fold).ranges(sought).length > 0,
      );
    return (last.length > 1 ? last.find(holds) : undefined) ?? (last[0] as Segment);
  }

  /** Runs what was open before through the beginning of a text; returns what is open at its end. */
  #goOn(view: TextView, before: Sequence, text: TextBytes, { after }: TextVerdict): readonly Threads[] {
    // Patterns that ended with the previous text show only now, and have already been reported.
    this.#known = before.found;
    const states = this.#states[view].begin(before[view]);
    let at = text.start;
    for (let read = 0; at < text.end && !states.isEmpty && read < crossReach; read += 1) {
      readCharacter(text.bytes, at, this.#character);
      const { codePoint, length } = this.#character;
      at += length;
      states.advance(codePoint);
      this.#known = nothingFound;
    }
    if (at < text.end) states.drop();
    states.end();
    return states.openedWith(after[view]);
  }

  #note(view: TextView, patterns: readonly number[]): void {
    for (const pattern of patterns) {
      if (this.#known.size > 0 && this.#known.has(pattern)) continue;
      if (this.#patternSet.patterns[pattern]?.kind === 'detector') this.#window.schedule(pattern);
      else if (!this.#matches.has(pattern)) this.#matches.set(pattern, { pattern, view });
    }
  }
}

function foundWith(verdict: TextVerdict, across: ReadonlyMap<number, PatternMatch>): ReadonlySet<number> {
  if (verdict.patternMatches.length === 0 && across.size === 0) return nothingFound;
  return new Set([...verdict.patternMatches.map(({ pattern }) => pattern), ...across.keys()]);
}

const nothingFound: ReadonlySet<number> = new Set();

const space = 0x20;
const noStates: readonly Threads[] = [];
const ignore = () => {};

/**
 * The states in which something is open where a text ends, read on through the beginning of the next one: one
 * state for each kind of character before. Made once for all texts, because a body may have a text for each letter.
 * Where the automaton has no room for further states they are simulated.
 */
class SegmentStates {
  readonly #scanner: Scanner;
  readonly #view: TextView;
  readonly #automaton: LazyDfa;
  /** The number of open states; entries after them are stale. */
  readonly #states: State[] = [];
  /** The same for simulations, by which all states are replaced if any is. */
  readonly #simulations: Simulation[] = [];
  #isSimulated = false;
  #count = 0;
  /** The state that the text alone has led to. */
  #alone: State;
  readonly #onPatterns: (patterns: readonly number[]) => void;
  readonly #onState = ({ patterns }: State) => {
    if (patterns.length > 0) this.#onPatterns(patterns);
  };

  /** `onPatterns` gets the patterns that end on the way. */
  constructor(scanner: Scanner, view: TextView, onPatterns: (patterns: readonly number[]) => void) {
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
  begin(opened: readonly Threads[]): this {
    this.#count = 0;
    this.#alone = this.#automaton.start;
    this.#isSimulated = this.#automaton.isFull || !opened.every(isState);
    for (let at = 0; at < opened.length; at += 1) this.#keep(opened[at] as Threads);
    for (let at = 0; at < opened.length; at += 1) this.#keepSpaced(opened[at] as Threads);
    if (this.#isSimulated) {
      for (let at = 0; at < this.#count; at += 1) this.#simulation(at).beginText(this.#alone.context);
    }
    return this;
  }

  /** Reads a character; a state is dropped where it is the one that the text alone leads to. */
  advance(codePoint: number): void {
    if (!this.#isSimulated && this.#automaton.isFull) this.#simulate();
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
  end(): void {
    for (let at = 0; at < this.#count; at += 1) {
      if (this.#isSimulated) this.#simulation(at).end();
      else this.#onPatterns(this.#automaton.end(this.#states[at] as State));
    }
  }

  /** Stops before the end of the text. */
  drop(): void {
    this.#count = 0;
  }

  /** What is open now, and at the end of a text by itself; what begins with a space begins where texts are joined with one. */
  openedWith(alone: Threads): readonly Threads[] {
    if (this.#automaton.isOpen(alone) || this.#automaton.beginsWithSpace) {
      if (this.#count === 0) return [alone];
      if (!isState(alone) && !this.#isSimulated) this.#simulate();
      this.#keep(alone);
    }
    return this.#opened();
  }

  /** The partial matches after a text that some readers leave out: those after it, and still those before it. */
  combine(before: readonly Threads[], after: readonly Threads[]): readonly Threads[] {
    if (before.length === 0 || before === after) return after;
    if (after.length === 0) return before;
    this.#count = 0;
    this.#isSimulated = this.#automaton.isFull || !before.every(isState) || !after.every(isState);
    for (const state of before) this.#keep(state);
    for (const state of after) this.#keep(state);
    return this.#opened();
  }

  #opened(): readonly Threads[] {
    if (this.#count === 0) return noStates;
    if (!this.#isSimulated) return this.#states.slice(0, this.#count);
    return Array.from({ length: this.#count }, (_, at) => this.#simulation(at).state);
  }

  #keepSpaced(state: Threads): void {
    if (this.#isSimulated) {
      const spaced = this.#begin(state);
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
      this.#begin(state);
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
    for (let at = 0; at < this.#count; at += 1) this.#simulation(at).beginText(this.#alone.context);
  }

  /** A simulation from a state on, which is the first that is not kept. */
  #begin(state: Threads): Simulation {
    const simulation = this.#simulation(this.#count);
    simulation.begin(state, this.#onPatterns);
    return simulation;
  }

  #simulation(at: number): Simulation {
    this.#simulations[at] ??= this.#scanner.simulation(this.#view, at);
    return this.#simulations[at] as Simulation;
  }
}
