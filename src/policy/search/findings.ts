import type { JsonDocument } from '../../json/json-document.ts';
import type { Place, Segment } from '../traverse/place.ts';
import type { UnseenKind } from '../traverse/unseen.ts';
import type { Context } from '../traverse/walk-context.ts';
import type { Visitor } from '../traverse/walk-visitor.ts';
import { CrossSegmentMatcher, type SavedSequences } from './cross-segment.ts';
import type { PatternSet } from './pattern-set.ts';
import type { View } from './scanner.ts';
import type { PatternMatch, TextReader } from './text-reader.ts';

/** A pattern in a text; `before` is set where it begins in an earlier text of the same sequence. */
export interface TextMatch {
  readonly pattern: number;
  readonly view: View;
  readonly segment: Segment;
  readonly before?: Segment;
}

/** Content that can't be looked into. */
export interface Unseen {
  readonly kind: UnseenKind;
  readonly place: Place;
}

/** Numbers in place of text. */
export interface Unreadable {
  readonly place: Place;
  readonly roles: number;
}

/** Everything that one walk over a document found. */
export interface SearchResult {
  /** By number of the pattern. */
  readonly matches: ReadonlyMap<number, readonly TextMatch[]>;
  readonly unseen: readonly Unseen[];
  readonly unreadable: readonly Unreadable[];
}

/** Most places that are kept of one pattern; redaction asks for them all, so it refuses beyond that. */
export const matchLimit = 10_000;

/** Entries that lie at least between two checkpoints, but for the last ones. */
const checkpointEntries = 64;

/** How far a walk had come before a turn: so much had been found, and so much was open. */
export interface Checkpoint {
  /** The turn's entry, or the first one behind the last turn. */
  readonly turn: number;
  readonly found: number;
  readonly unseen: number;
  readonly sequences: SavedSequences;
}

/** What is known of a document's beginning, in that document's own places. */
export interface KnownPart {
  readonly found: readonly TextMatch[];
  readonly unseen: readonly Unseen[];
  readonly checkpoints: readonly Checkpoint[];
  readonly placeOf: (entry: number) => Place;
}

/** Gathers what a walk finds, in the order of the walk. */
export class Gatherer implements Visitor {
  readonly found: TextMatch[] = [];
  readonly unseenPlaces: Unseen[] = [];
  readonly unreadablePlaces: Unreadable[] = [];
  readonly checkpoints: Checkpoint[] = [];
  readonly #patternSet: PatternSet;
  readonly #reader: TextReader;
  #joints: CrossSegmentMatcher;
  #counts: Map<number, number> | undefined;
  readonly #takesCheckpoints: boolean;
  readonly #across = ({ pattern, view }: PatternMatch, segment: Segment, before: Segment) =>
    this.#note({ pattern, view, segment, before });

  constructor(patternSet: PatternSet, reader: TextReader, takesCheckpoints: boolean) {
    this.#patternSet = patternSet;
    this.#reader = reader;
    this.#joints = new CrossSegmentMatcher(patternSet, reader);
    this.#takesCheckpoints = takesCheckpoints;
  }

  text(document: JsonDocument, entry: number, context: Context): void {
    if (context.sequence === undefined) {
      const patternMatches = this.#reader.patternMatches(document, entry);
      if (patternMatches.length > 0) this.#noteAll(patternMatches, segmentOf(document, entry, context));
      return;
    }
    if (document.end(entry) === document.start(entry)) return;
    const segment = segmentOf(document, entry, context);
    const verdict = this.#reader.read(document, entry);
    this.#noteAll(verdict.patternMatches, segment);
    this.#joints.add(segment, verdict, this.#across);
  }

  unseen(kind: UnseenKind, place: Place): void {
    this.unseenPlaces.push({ kind, place });
  }

  unreadable(place: Place, roles: number): void {
    this.unreadablePlaces.push({ place, roles });
  }

  turn(entry: number, left: number): void {
    if (!this.#takesCheckpoints || !this.#isWorthCheckpoint(entry, left)) return;
    // What can't be read is told in an order of its own, and is no conversation anyway.
    if (this.unreadablePlaces.length > 0) return;
    const sequences = this.#joints.save();
    if (sequences === undefined) return;
    const found = this.found.length;
    this.checkpoints.push({ turn: entry, found, unseen: this.unseenPlaces.length, sequences });
  }

  part(): void {
    this.#joints.finish(this.#across);
    this.#joints = new CrossSegmentMatcher(this.#patternSet, this.#reader);
  }

  /** Begins with what is known, to go on at a checkpoint of another document. */
  begin(at: Checkpoint, known: KnownPart): void {
    for (const match of known.found) this.#note(match);
    this.unseenPlaces.push(...known.unseen);
    this.checkpoints.push(...known.checkpoints);
    this.#joints.restore(at.sequences, known.placeOf);
  }

  #note(match: TextMatch): void {
    this.#counts ??= new Map();
    const count = this.#counts.get(match.pattern) ?? 0;
    if (count === matchLimit) return;
    this.#counts.set(match.pattern, count + 1);
    this.found.push(match);
  }

  finish(): SearchResult {
    this.#joints.finish(this.#across);
    const matches = this.found.length === 0 ? nothing : byPattern(this.found);
    return { matches, unseen: this.unseenPlaces, unreadable: this.unreadablePlaces };
  }

  /** The next request mostly parts from this one at its end; far from there, few places do. */
  #isWorthCheckpoint(entry: number, left: number): boolean {
    const since = entry - (this.checkpoints.at(-1)?.turn ?? 0);
    if (left <= 1) return since > 0;
    return since >= checkpointEntries && (left & (left - 1)) === 0;
  }

  #noteAll(patternMatches: readonly PatternMatch[], segment: Segment): void {
    for (const { pattern, view } of patternMatches) this.#note({ pattern, view, segment });
  }
}

const nothing: SearchResult['matches'] = new Map();

function byPattern(found: readonly TextMatch[]): SearchResult['matches'] {
  const matches = new Map<number, TextMatch[]>();
  for (const match of found) {
    const same = matches.get(match.pattern);
    if (same === undefined) matches.set(match.pattern, [match]);
    else same.push(match);
  }
  return matches;
}

function segmentOf(document: JsonDocument, entry: number, context: Context): Segment {
  return { place: context.place(document, entry), roles: context.roles, sequence: context.sequence };
}
