import { partitionPoint } from '../../lib/partition-point.ts';
import { isState } from '../automaton/dfa-state.ts';
import { runAtEnd, runAtStart } from '../automaton/long-run.ts';
import type { Pattern, PatternSet } from '../automaton/patterns.ts';
import type { Checkpoint } from '../checkpoint.ts';
import { longRunLength, type Range } from '../detectors/detector.ts';
import { type Segment, textOf } from '../traverse/place.ts';
import type { Piece } from './search-result.ts';
import { bytesOf, type PatternMatch, type TextVerdict } from './text-reader.ts';
import { ViewedText } from './viewed-text.ts';
import { areMarked, endsWithWord, isWord, startsWithWord } from './word-beside.ts';

/** Characters of a text that are read together with what comes before or after it. */
export const crossReach = 4096;

/** How many of the segments that detectors got joined they get again with the next ones. */
const segmentsKept = 64;

/** Reports a pattern that is found in a segment only together with an earlier one; of a detector all that it found. */
export type CrossSegmentListener = (
  match: PatternMatch,
  segment: Segment,
  before: Segment,
  pieces?: readonly Piece[],
) => void;

/**
 * The last segments of a sequence, for detectors: they read characters, not states, so they get the joined texts; many
 * short ones at once, because a body may have a text for each letter.
 */
export class SegmentWindow {
  readonly #patternSet: PatternSet;
  readonly #checkpoint: Checkpoint;
  readonly #segments: Segment[] = [];
  /** Detectors whose prefilter the last segment passed. */
  #candidates: readonly number[] = [];
  /** Detectors that must run on the segments added since the last run. */
  readonly #scheduled = new Set<number>();
  /** The last segment of which it is not known what prefilters seek at its end. */
  #unfiltered: Segment | undefined;
  /** Length of the run of key characters with which the segments end. */
  #openRun = 0;
  /** What was reported at the segments that stay, so that it is not when they are read again with the next ones. */
  readonly #reported = new Map<Segment, Set<string>>();

  constructor(patternSet: PatternSet, checkpoint: Checkpoint) {
    this.#patternSet = patternSet;
    this.#checkpoint = checkpoint;
  }

  /** Schedules a detector whose prefilter matched in joined texts. */
  schedule(detector: number): void {
    this.#scheduled.add(detector);
  }

  push(segment: Segment, { candidates, after }: TextVerdict, report: CrossSegmentListener): void {
    this.#segments.push(segment);
    if (!isState(after.folded)) this.#unfiltered = segment;
    if (this.#patternSet.longRuns.length > 0) this.#continueRun(segment);
    if (this.#segments.length > 1) {
      for (const number of this.#candidates) this.#scheduled.add(number);
      for (const number of candidates) this.#scheduled.add(number);
      for (const number of this.#patternSet.always) this.#scheduled.add(number);
    }
    this.#candidates = candidates;
    if (isLong(segment) || this.#segments.length >= segmentLimit) this.runScheduled(report);
  }

  /** Schedules detectors of long runs where one continues from the segments before. */
  #continueRun({ place: { document, entry }, optional }: Segment): void {
    const text = bytesOf(document, entry);
    const { length, fillsText } = runAtStart(text);
    const joined = this.#openRun + length;
    if (joined >= longRunLength) for (const number of this.#patternSet.longRuns) this.#scheduled.add(number);
    const open = fillsText ? joined : runAtEnd(text);
    // Without an optional segment, the run before it is still open.
    this.#openRun = optional === undefined ? open : Math.max(open, this.#openRun);
  }

  /** The segments that may stand right before the next one: the last, and the last that every reader has. */
  get last(): readonly Segment[] {
    const last = this.#segments[this.#segments.length - 1];
    if (last === undefined) return [];
    const required = last.optional !== undefined ? this.#segments.findLast(isRequired) : undefined;
    return required === undefined ? [last] : [last, required];
  }

  /** Runs the scheduled detectors. */
  runScheduled(report: CrossSegmentListener): void {
    if (this.#segments.length > 1 && this.#scheduled.size > 0) {
      this.#detectAll(report);
    }
    this.#trim();
    if (this.#unfiltered === undefined || !this.#segments.includes(this.#unfiltered)) this.#scheduled.clear();
  }

  /** Each way in which the segments may be joined, once: most of them share most of their groups. */
  #detectAll(report: CrossSegmentListener): void {
    const indexes = new Map(this.#segments.map((segment, index) => [segment, index]));
    const indexOf = (segments: readonly Segment[], at: number) =>
      indexes.get(segments[at] as Segment) as number;
    const known = new Set<number>();
    for (const segments of readingsOf(this.#segments)) {
      this.#checkpoint();
      const { length } = segments;
      const first = indexOf(segments, 0);
      const last = indexOf(segments, length - 1);
      // With some left out between them, groups of the same ends may differ; those of two and of all can't.
      const kind = length === 2 ? 0 : length === last - first + 1 ? 1 : undefined;
      const key = (first * segmentLimit * 2 + last) * 2 + (kind ?? 0);
      if (kind !== undefined && known.has(key)) continue;
      if (kind !== undefined) known.add(key);
      this.#detect(segments, ({ match, pieces }) => {
        const { segment } = pieces[pieces.length - 1] as Piece;
        const before = segments[segments.indexOf(segment) - 1] as Segment;
        if (this.#isFirst(match, segment, pieces)) report(match, segment, before, pieces);
      });
    }
  }

  /** Whether a pattern has not been reported with these pieces yet. */
  #isFirst({ pattern }: PatternMatch, segment: Segment, pieces: readonly Piece[]): boolean {
    const key = `${pattern} ${pieces.map(({ segment: { place }, start, end }) => `${place.entry} ${start} ${end}`)}`;
    let keys = this.#reported.get(segment);
    if (keys === undefined) {
      keys = new Set();
      this.#reported.set(segment, keys);
    }
    if (keys.has(key)) return false;
    keys.add(key);
    return true;
  }

  #detect(segments: readonly Segment[], report: (crossing: Crossing) => void): void {
    const texts = segments.map(({ place }) => textOf(place));
    for (const [reach, numbers] of this.#byReach(texts)) {
      const spaced = new JoinedSegments(segments, { texts, gap: ' ', reach });
      this.#crossing(numbers, new JoinedSegments(segments, { texts, gap: '', reach })).forEach(report);
      const overSpaces = numbers.filter((number) => this.#mayHoldSpace(number, spaced.text));
      this.#crossing(overSpaces, spaced).forEach(report);
    }
  }

  /** Whether a detector may find something in a text that goes over a space. */
  #mayHoldSpace(number: number, text: string): boolean {
    const pattern = this.#patternSet.patterns[number];
    const sign = pattern?.kind === 'detector' ? pattern.detector.holdsSpace : undefined;
    return sign === undefined || (sign !== 'never' && sign.test(text));
  }

  /** Detectors by how much they are to read of the first and the last text: those that read all of them together. */
  #byReach(texts: readonly string[]): ReadonlyMap<number, readonly number[]> {
    const first = texts[0] as string;
    const last = texts[texts.length - 1] as string;
    const longest = Math.max(first.length, last.length);
    const byReach = new Map<number, number[]>();
    for (const number of this.#scheduled) {
      const pattern = this.#patternSet.patterns[number];
      if (pattern?.kind !== 'detector') continue;
      const { detector } = pattern;
      const across = texts.length === 2 ? detector.reachAcross?.(first, last) : undefined;
      const own = Math.min(across ?? detector.reach, crossReach);
      const reach = own < longest ? own : crossReach;
      const same = byReach.get(reach);
      if (same === undefined) byReach.set(reach, [number]);
      else same.push(number);
    }
    return byReach;
  }

  /** What detectors find in joined texts and not in each by itself. */
  #crossing(numbers: readonly number[], joined: JoinedSegments): readonly Crossing[] {
    const { patterns, fold, wider } = this.#patternSet;
    const viewed = new ViewedText(joined.text, fold);
    const crossing: Crossing[] = [];
    for (const number of numbers) {
      const other = wider.get(number);
      const isNowhere = other !== undefined && viewed.ranges(patterns[other] as Pattern).length === 0;
      if (isNowhere) continue;
      const pattern = patterns[number] as Pattern;
      const ranges = viewed.ranges(pattern);
      const [first] = ranges;
      if (first === undefined) continue;
      // What is there exactly comes first.
      const match = { pattern: number, view: first.view };
      const findAlone = (text: string) => new ViewedText(text, fold).ranges(pattern);
      for (const range of ranges) {
        const pieces = joined.piecesOf(range, findAlone);
        if (pieces.length > 0) crossing.push({ match, pieces });
      }
    }
    return crossing;
  }

  /** A long text parts what is before it from what follows; short ones stay, for a match may go on. */
  #trim(): void {
    const segments = this.#segments;
    const last = segments[segments.length - 1];
    if (last === undefined || !isLong(last)) {
      for (const gone of segments.splice(0, segments.length - segmentsKept)) this.#reported.delete(gone);
      return;
    }
    this.#reported.clear();
    const required = segments.findLast(isRequired);
    segments.length = 0;
    if (required !== undefined && required !== last) segments.push(required);
    segments.push(last);
  }
}

interface Crossing {
  readonly match: PatternMatch;
  readonly pieces: readonly Piece[];
}

/** Segments that detectors get joined. */
const segmentLimit = 256;
/** Segments of at least this many bytes are checked immediately. */
const longText = 256;
/** Kinds of optional segments up to which the sequence is read without each. */
const leftOutLimit = 8;
/** Characters of the shortest thing that a detector finds. */
const minMatchLength = 6;

function isLong(segment: Segment): boolean {
  return lengthOf(segment) >= longText;
}

function lengthOf({ place: { document, entry } }: Segment): number {
  return document.end(entry) - document.start(entry);
}

function isRequired({ optional }: Segment): boolean {
  return optional === undefined;
}

/**
 * The ways in which some segments may be joined: all of them, without what some readers leave out, and without all that
 * any reader leaves out. Each as far as there is no markup between them: all, those of one role, turn or block; and the
 * end of each turn with the beginning of the next, whatever stands around them.
 */
function* readingsOf(segments: readonly Segment[]): Iterable<readonly Segment[]> {
  yield* groupsOf(segments);
  const leftOut = new Set(segments.flatMap(({ optional }) => optional ?? []));
  if (leftOut.size === 0) return;
  if (leftOut.size > 1 && leftOut.size <= leftOutLimit) {
    for (const name of leftOut) yield* groupsOf(segments.filter(({ optional }) => optional !== name));
  }
  yield* groupsOf(segments.filter(isRequired));
}

function* groupsOf(segments: readonly Segment[]): Iterable<readonly Segment[]> {
  const known = new Set<number>();
  for (const level of levels) {
    // Without any markup at this level, the groups are those of the level before.
    if (level !== 'all' && !segments.some(({ unit }) => unit[level] !== segments[0]?.unit[level])) continue;
    let from = 0;
    for (let at = 0; at < segments.length; at += 1) {
      const segment = segments[at] as Segment;
      const next = segments[at + 1];
      const isLast = next === undefined || segment.unit[level] !== next.unit[level];
      // A long text is read with what is before it, and then with what follows.
      if (!isLast && !isLong(segment)) continue;
      if (at > from) {
        const key = from * segmentLimit * 2 + at;
        if (!known.has(key)) yield segments.slice(from, at + 1);
        known.add(key);
      }
      from = isLast ? at + 1 : at;
    }
  }
  if (segments.length > 2) yield* pairsOf(segments);
}

/** The two adjacent segments at a turn's boundary, by themselves. */
function* pairsOf(segments: readonly Segment[]): Iterable<readonly Segment[]> {
  for (let at = 1; at < segments.length; at += 1) {
    const one = segments[at - 1] as Segment;
    const other = segments[at] as Segment;
    const isBorder = one.unit.turn !== other.unit.turn;
    if (isBorder && lengthOf(one) + lengthOf(other) >= minMatchLength) yield [one, other];
  }
}

const levels = ['all', 'run', 'turn', 'block'] as const;

interface JoinedHow {
  readonly texts: readonly string[];
  /** Between any two. */
  readonly gap: string;
  /** Characters of the first and the last that are read. */
  readonly reach: number;
}

/** What the detector of a finding finds in a text by itself. */
type FindAlone = (text: string) => readonly Range[];

/** What may stand between a name at the end of one text and its value in the next. */
const beforeValue = /^[\s"'`=:]{0,8}$/;

/** Segments as one text; of the first and the last no more than the reach. */
class JoinedSegments {
  readonly text: string;
  readonly #segments: readonly Segment[];
  readonly #gap: number;
  readonly #ends: readonly number[];
  /** Characters of the first that are left out. */
  readonly #skipped: number;

  constructor(segments: readonly Segment[], { texts, gap, reach }: JoinedHow) {
    const first = texts[0] as string;
    let text = first.slice(-reach);
    const ends = [text.length];
    for (let at = 1; at < texts.length; at += 1) {
      const own = texts[at] as string;
      text += gap + (at === texts.length - 1 ? own.slice(0, reach) : own);
      ends.push(text.length);
    }
    this.text = text;
    this.#segments = segments;
    this.#gap = gap.length;
    this.#ends = ends;
    this.#skipped = first.length - (ends[0] as number);
  }

  /** What a finding has of each segment; nothing if a segment shows all of it by itself. */
  piecesOf(range: Range, findAlone: FindAlone): readonly Piece[] {
    let { start, end } = range;
    let first = this.#indexOf(start);
    let last = this.#indexOf(end - 1);
    if (first === last) {
      return this.#isNamedBefore(range, first, findAlone) ? [this.#piece(first, range)] : [];
    }
    while (first < last && this.#endsBeforeWord({ start, end }, last, findAlone)) {
      last -= 1;
      end = this.#ends[last] as number;
    }
    while (first < last && this.#startsAfterWord({ start, end }, first, findAlone)) {
      first += 1;
      start = this.#startOf(first);
    }
    if (first === last) return [];
    const pieces: Piece[] = [];
    for (let at = first; at <= last; at += 1) pieces.push(this.#piece(at, { start, end }));
    return pieces;
  }

  #indexOf(position: number): number {
    return partitionPoint(this.#ends.length, (index) => (this.#ends[index] as number) <= position);
  }

  #startOf(index: number): number {
    return index === 0 ? 0 : (this.#ends[index - 1] as number) + this.#gap;
  }

  #slice(from: number, to = from): string {
    return this.text.slice(this.#startOf(from), this.#ends[to]);
  }

  #piece(index: number, { start, end }: Range): Piece {
    const from = this.#startOf(index);
    const offset = index === 0 ? this.#skipped : 0;
    const segment = this.#segments[index] as Segment;
    return {
      segment,
      start: Math.max(start - from, 0) + offset,
      end: Math.min(end, this.#ends[index] as number) - from + offset,
    };
  }

  /** Whether what a value has of its last segment is only a word beside it. */
  #endsBeforeWord({ start, end }: Range, last: number, findAlone: FindAlone): boolean {
    const length = end - this.#startOf(last);
    if (!startsWithWord(this.#slice(last), length, this.#areMarked(last))) return false;
    const from = this.#startOf(this.#indexOf(start));
    const alone = this.text.slice(from, this.#ends[last - 1]);
    return findAlone(alone).some((each) => each.start <= start - from && each.end === alone.length);
  }

  /** The same for its first one. */
  #startsAfterWord({ start, end }: Range, first: number, findAlone: FindAlone): boolean {
    const length = (this.#ends[first] as number) - start;
    if (!endsWithWord(this.#slice(first), length, this.#areMarked(first + 1))) return false;
    const from = this.#startOf(first + 1);
    const alone = this.text.slice(from, this.#ends[this.#indexOf(end - 1)]);
    return findAlone(alone).some((each) => each.start === 0 && each.end >= end - from);
  }

  /** Whether a value at the beginning of a segment is one only by what stands before: `API_KEY=`, and the key. */
  #isNamedBefore({ start, end }: Range, index: number, findAlone: FindAlone): boolean {
    const from = this.#startOf(index);
    if (index === 0 || !beforeValue.test(this.text.slice(from, start))) return false;
    if (isWord(this.text.slice(start, end))) return false;
    return !findAlone(this.#slice(index)).some(
      (each) => each.start <= start - from && each.end >= end - from,
    );
  }

  #areMarked(index: number): boolean {
    return areMarked(this.#segments[index - 1] as Segment, this.#segments[index] as Segment);
  }
}
