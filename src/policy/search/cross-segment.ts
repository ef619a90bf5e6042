import type { TextBytes } from '../automaton/code-points.ts';
import { type Character, readCharacter } from '../automaton/code-points.ts';
import type { Threads } from '../automaton/dfa-state.ts';
import type { View } from '../automaton/found-patterns.ts';
import type { PatternSet } from '../automaton/pattern-set.ts';
import type { Checkpoint } from '../checkpoint.ts';
import type { Segment } from '../traverse/place.ts';
import { textOf } from '../traverse/place.ts';
import { SegmentStates } from './segment-states.ts';
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
  readonly #states: Readonly<Record<View, SegmentStates>>;
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
  #goOn(view: View, before: Sequence, text: TextBytes, { after }: TextVerdict): readonly Threads[] {
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

  #note(view: View, patterns: readonly number[]): void {
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
