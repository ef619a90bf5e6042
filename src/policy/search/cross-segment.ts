import { type Place, type Segment, textOf } from '../traverse/place.ts';
import { type Character, readCharacter } from './code-points.ts';
import type { State } from './dfa-state.ts';
import { type Joined, join } from './joined.ts';
import { partitionPoint } from './partition-point.ts';
import type { PatternSet } from './pattern-set.ts';
import { findRanges, type Pattern } from './patterns.ts';
import type { TextBytes, View } from './scanner.ts';
import { SegmentStates } from './segment-states.ts';
import { bytesOf, type PatternMatch, type TextReader, type TextVerdict } from './text-reader.ts';

/** Characters of a text that are read together with what stood before it. */
const jointReach = 4096;

/** Texts that detectors get joined, and how many of them they get again with the next ones. */
const segmentLimit = 256;
const segmentsKept = 64;
/** Sequence up to which it is worth keeping what is open. */
const savedLimit = 64;
/** Bytes from which a text is not waited with. */
const longText = 256;

/** What is kept of the texts of one sequence. */
interface Sequence {
  /** States in which something is open at its end, per view; one for each kind of character before. */
  exact: readonly State[];
  folded: readonly State[];
  /** Patterns that were found already with its last text. */
  told: ReadonlySet<number>;
  readonly segments: Segment[];
  /** Detectors whose gate its last text opened. */
  candidates: readonly number[];
  /** Detectors that are to look at the texts since the last look. */
  readonly called: Set<number>;
}

/** A sequence as it stood at some place of a body, without the body: its segments by their entries. */
interface SavedSequence extends Omit<Sequence, 'segments' | 'called'> {
  readonly segments: readonly { readonly entry: number; readonly roles: number }[];
  readonly called: readonly number[];
}
export type SavedSequences = ReadonlyMap<string, SavedSequence>;

/** Reports patterns that begin in one text of a sequence and end in a later one. */
export type CrossSegmentListener = (patternMatch: PatternMatch, segment: Segment, before: Segment) => void;

/**
 * Reads the texts of a sequence as if they were joined, with nothing or with a space at each joint. The
 * automata just go on from where they stood; that ends as soon as they stand where the text alone brought
 * them, which is mostly within a few characters.
 */
export class CrossSegmentMatcher {
  readonly #patternSet: PatternSet;
  readonly #reader: TextReader;
  readonly #sequences = new Map<string, Sequence>();
  readonly #lanes: Readonly<Record<View, SegmentStates>>;
  readonly #character: Character = { codePoint: 0, length: 0 };
  /** Patterns over the joint that is read; mostly there are none. */
  readonly #patternMatches = new Map<number, PatternMatch>();
  /** Detectors that are to look at the sequence that is read. */
  #called: Set<number> = new Set();
  /** Patterns that are no news at the joint. */
  #known: ReadonlySet<number> = nothingTold;

  constructor(patternSet: PatternSet, reader: TextReader) {
    this.#patternSet = patternSet;
    this.#reader = reader;
    const { exact, folded } = patternSet.scanner;
    this.#lanes = {
      exact: new SegmentStates(exact, (patterns) => this.#note('exact', patterns)),
      folded: new SegmentStates(folded, (patterns) => this.#note('folded', patterns)),
    };
  }

  /** Adds a text that isn't empty to its sequence. */
  add(segment: Segment, verdict: TextVerdict, report: CrossSegmentListener): void {
    const name = segment.sequence;
    if (name === undefined) return;
    if (this.#patternMatches.size > 0) this.#patternMatches.clear();
    const before = this.#sequences.get(name);
    if (before === undefined) {
      this.#sequences.set(name, this.#first(segment, verdict));
      return;
    }
    const { document, entry } = segment.place;
    const text = bytesOf(document, entry);
    this.#called = before.called;
    const exact = this.#goOn('exact', before, text, verdict);
    const folded = this.#goOn('folded', before, text, verdict);
    const patternMatches = this.#patternMatches;
    if (patternMatches.size > 0) {
      for (const { pattern } of verdict.patternMatches) patternMatches.delete(pattern);
      const last = before.segments[before.segments.length - 1] as Segment;
      for (const patternMatch of patternMatches.values()) report(patternMatch, segment, last);
    }
    before.exact = exact;
    before.folded = folded;
    before.told = told(verdict, patternMatches);
    before.segments.push(segment);
    this.#call(before, verdict);
    const isLong = text.end - text.start >= longText;
    if (isLong || before.segments.length >= segmentLimit) this.#look(before, report);
  }

  /** Has detectors look at what they have not seen yet; to be called after the last text. */
  finish(report: CrossSegmentListener): void {
    for (const sequence of this.#sequences.values()) this.#look(sequence, report);
  }

  /** What is open now; undefined where that is more than is worth keeping. */
  save(): SavedSequences | undefined {
    if (this.#sequences.size > savedLimit) return undefined;
    const saved = new Map<string, SavedSequence>();
    for (const [name, { exact, folded, told, segments, candidates, called }] of this.#sequences) {
      const kept = segments.map(({ place, roles }) => ({ entry: place.entry, roles }));
      saved.set(name, { exact, folded, told, segments: kept, candidates, called: [...called] });
    }
    return saved;
  }

  /** Goes on from what was open in another body, given where its entries are in this one. */
  restore(saved: SavedSequences, placeOf: (entry: number) => Place): void {
    for (const [sequence, { exact, folded, told, segments, candidates, called }] of saved) {
      this.#sequences.set(sequence, {
        exact,
        folded,
        told,
        candidates,
        segments: segments.map(({ entry, roles }) => ({ place: placeOf(entry), roles, sequence })),
        called: new Set(called),
      });
    }
  }

  /** Notes the detectors that are to look at a joint because one of its texts opened their gate. */
  #call(sequence: Sequence, verdict: TextVerdict): void {
    for (const number of sequence.candidates) sequence.called.add(number);
    for (const number of verdict.candidates) sequence.called.add(number);
    for (const number of this.#patternSet.always) sequence.called.add(number);
    sequence.candidates = verdict.candidates;
  }

  /**
   * Detectors read characters, not automata, so they get the joined texts; many short ones at once, because a
   * body may have a text for each letter.
   */
  #look(sequence: Sequence, report: CrossSegmentListener): void {
    const { segments, called } = sequence;
    const last = segments[segments.length - 1] as Segment;
    if (segments.length > 1 && called.size > 0) {
      const texts = segments.map(({ place }) => textOf(place));
      for (const [reach, numbers] of this.#byReach(called, texts)) {
        const reported = new Set<number>();
        for (const separator of ['', ' ']) {
          for (const { patternMatch, at } of this.#crossing(numbers, join(texts, separator, reach))) {
            if (!reported.has(patternMatch.pattern))
              report(patternMatch, segments[at] as Segment, segments[at - 1] as Segment);
            reported.add(patternMatch.pattern);
          }
        }
      }
    }
    called.clear();
    // A long text parts what is before it from what follows; short ones stay, for a match may go on.
    const { document, entry } = last.place;
    if (document.end(entry) - document.start(entry) >= longText) {
      segments.length = 0;
      segments.push(last);
    } else segments.splice(0, segments.length - segmentsKept);
  }

  /** Detectors by how much they are to read of the first and the last text: those that read all of them together. */
  #byReach(called: ReadonlySet<number>, texts: readonly string[]): ReadonlyMap<number, readonly number[]> {
    const longest = Math.max((texts[0] as string).length, (texts[texts.length - 1] as string).length);
    const byReach = new Map<number, number[]>();
    for (const number of called) {
      const pattern = this.#patternSet.patterns[number];
      if (pattern?.kind !== 'detector') continue;
      const own = Math.min(pattern.detector.reach, jointReach);
      const reach = own < longest ? own : jointReach;
      const same = byReach.get(reach);
      if (same === undefined) byReach.set(reach, [number]);
      else same.push(number);
    }
    return byReach;
  }

  #first(segment: Segment, verdict: TextVerdict): Sequence {
    return {
      exact: this.#lanes.exact.begin([]).openedWith(verdict.after.exact),
      folded: this.#lanes.folded.begin([]).openedWith(verdict.after.folded),
      told: told(verdict, this.#patternMatches),
      segments: [segment],
      candidates: verdict.candidates,
      called: new Set(),
    };
  }

  /** Runs what was open before through the beginning of a text; returns what is open at its end. */
  #goOn(view: View, before: Sequence, text: TextBytes, { after }: TextVerdict): readonly State[] {
    // What ended with the text before shows only now, and is no news.
    this.#known = before.told;
    const lanes = this.#lanes[view].begin(before[view]);
    const { fold } = this.#patternSet;
    let at = text.start;
    for (let read = 0; at < text.end && !lanes.isEmpty && read < jointReach; read += 1) {
      readCharacter(text.bytes, at, this.#character);
      const { codePoint, length } = this.#character;
      at += length;
      const folded = view === 'exact' ? codePoint : fold.point(codePoint);
      if (folded > 0 || view === 'exact') lanes.advance(folded);
      else if (folded < 0) for (const each of fold.sequences[-1 - folded] ?? []) lanes.advance(each);
      this.#known = nothingTold;
    }
    if (at < text.end) lanes.drop();
    lanes.end();
    return lanes.openedWith(after[view]);
  }

  #note(view: View, patterns: readonly number[]): void {
    for (const pattern of patterns) {
      if (this.#known.size > 0 && this.#known.has(pattern)) continue;
      if (this.#patternSet.patterns[pattern]?.kind === 'detector') {
        this.#called.add(pattern);
        continue;
      }
      if (!this.#patternMatches.has(pattern)) this.#patternMatches.set(pattern, { pattern, view });
    }
  }

  /** What detectors find in joined texts that goes over a joint, and in which of the texts it ends. */
  #crossing(
    numbers: readonly number[],
    { text, joints }: Joined,
  ): readonly { patternMatch: PatternMatch; at: number }[] {
    return this.#reader.detect(numbers, text).flatMap((patternMatch) => {
      const ranges = findRanges(
        this.#patternSet.patterns[patternMatch.pattern] as Pattern,
        text,
        this.#patternSet.fold,
      );
      for (const { start, end } of ranges) {
        const at = partitionPoint(joints.length, (joint) => (joints[joint] as number) < end) - 1;
        if (at >= 0 && start < (joints[at] as number)) return { patternMatch, at: at + 1 };
      }
      return [];
    });
  }
}

function told(verdict: TextVerdict, across: ReadonlyMap<number, PatternMatch>): ReadonlySet<number> {
  if (verdict.patternMatches.length === 0 && across.size === 0) return nothingTold;
  return new Set([...verdict.patternMatches.map(({ pattern }) => pattern), ...across.keys()]);
}

const nothingTold: ReadonlySet<number> = new Set();
