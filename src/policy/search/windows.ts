import type { JsonDocument } from '../../json/json-document.ts';
import {
  type BorderListener,
  type BorderReader,
  type Carried,
  crossReach,
  nothingCarried,
} from '../automaton/border-reader.ts';
import type { TextView } from '../automaton/byte-reader.ts';
import type { Pattern, PatternSet } from '../automaton/patterns.ts';
import { runAtEnd, runAtStart, type TextBytes } from '../automaton/text-bytes.ts';
import type { Checkpoint } from '../checkpoint.ts';
import { longRunLength } from '../detectors/detector.ts';
import { type Segment, textOf } from '../traverse/place.ts';
import { JoinedTexts } from './joined-texts.ts';
import type { TextMatch } from './search-result.ts';
import { CurrentText, type TextVerdict } from './text-reader.ts';
import { ViewedText } from './viewed-text.ts';

/** Texts that detectors get joined at once, and how many of them they get again with the next ones. */
const segmentLimit = 256;
const segmentsKept = 64;
/** Texts of at least this many bytes are checked immediately. */
const longText = 256;
/** Kinds of optional texts up to which the sequence is read without each. */
const leftOutLimit = 8;
/** Characters of the shortest thing that a detector finds. */
const minMatchLength = 6;

interface WindowParts {
  readonly patternSet: PatternSet;
  readonly borderReader: BorderReader;
  readonly checkpoint: Checkpoint;
  /** Gets what is found in a text only together with earlier ones; of a detector all that it found. */
  readonly report: (match: TextMatch) => void;
}

/** The sequences of a document: texts that a model reads as one. */
export class Windows {
  readonly #parts: WindowParts;
  readonly #windows = new Map<string, Window>();
  /** Texts are read again with the next ones, and one may be in two sequences. */
  readonly #reported = new Set<string>();
  readonly #documents = new Map<JsonDocument, number>();

  constructor(parts: WindowParts) {
    const report = (match: TextMatch) => {
      if (this.#isFirst(match)) parts.report(match);
    };
    this.#parts = { ...parts, report };
  }

  /** Adds a text that isn't empty to a sequence. */
  add(name: string, segment: Segment, verdict: TextVerdict): void {
    let window = this.#windows.get(name);
    if (window === undefined) {
      window = new Window(this.#parts);
      this.#windows.set(name, window);
    }
    window.add(segment, verdict);
  }

  /** Ends all sequences: what follows is not read together with what came before. */
  end(): void {
    for (const window of this.#windows.values()) window.run();
    this.#windows.clear();
    this.#reported.clear();
  }

  #isFirst({ pattern, before, segment, pieces }: TextMatch): boolean {
    let key = `${pattern} ${this.#nameOf(before as Segment)} ${this.#nameOf(segment)}`;
    for (const piece of pieces ?? []) key += ` ${this.#nameOf(piece.segment)} ${piece.start} ${piece.end}`;
    if (this.#reported.has(key)) return false;
    this.#reported.add(key);
    return true;
  }

  #nameOf({ place: { document, entry } }: Segment): string {
    let number = this.#documents.get(document);
    if (number === undefined) {
      number = this.#documents.size;
      this.#documents.set(document, number);
    }
    return `${number}:${entry}`;
  }
}

/** What is in progress where a text ends, so that the next one may complete it. */
interface Progress {
  readonly carried: Carried;
  /** Patterns that are known to be in it or to end with it: those that end with it show only in the next one. */
  readonly found: ReadonlySet<number>;
  /** Length of the run of key characters with which it ends. */
  readonly run: number;
}

const nothingFound: ReadonlySet<number> = new Set();
const none: Progress = { carried: nothingCarried, found: nothingFound, run: 0 };

/**
 * The last texts of one sequence, and what is in progress where they end. Patterns are read on from text to text, with
 * nothing and with a space at each border; detectors read characters, not states, so they get the texts joined, where a
 * prefilter passed in or over them: many short ones at once, because a body may have a text for each letter.
 */
class Window implements BorderListener {
  readonly #parts: WindowParts;
  readonly #segments: Segment[] = [];
  #progress = none;
  /** The patterns that end in the text that is read and began before it; mostly there are none. */
  readonly #across = new Map<number, TextView>();
  /** Detectors that must run, by number: as long as the last text stays in which their prefilter passed, or began to. */
  readonly #scheduled = new Map<number, Segment>();
  readonly #text = new CurrentText();
  /** Whether texts were added since the last run. */
  #isWaiting = false;

  constructor(parts: WindowParts) {
    this.#parts = parts;
  }

  get known(): ReadonlySet<number> {
    return this.#progress.found;
  }

  note(pattern: number, view: TextView): void {
    if (this.#parts.patternSet.patterns[pattern]?.kind === 'detector') this.#scheduleBefore(pattern);
    else if (!this.#across.has(pattern)) this.#across.set(pattern, view);
  }

  add(segment: Segment, verdict: TextVerdict): void {
    const { document, entry } = segment.place;
    this.#progress = this.#readOn(segment, this.#text.of(document, entry), verdict);
    this.#segments.push(segment);
    this.#isWaiting = true;
    for (const number of verdict.candidates) this.#scheduled.set(number, segment);
    if (isLong(segment) || this.#segments.length >= segmentLimit) this.run();
  }

  /** Schedules a detector for what began with the text before. */
  #scheduleBefore(detector: number): void {
    const before = this.#segments[this.#segments.length - 1];
    if (before !== undefined) this.#scheduled.set(detector, before);
  }

  /** Reads on from what is in progress through a text, and reports what ends there. Some readers may leave it out. */
  #readOn(segment: Segment, text: TextBytes, verdict: TextVerdict): Progress {
    const { borderReader } = this.#parts;
    const before = this.#progress;
    const after = borderReader.readOn(before.carried, text, verdict.after, this);
    const isOptional = segment.optional !== undefined;
    const carried = isOptional ? borderReader.either(before.carried, after) : after;
    const found = this.#reportPatterns(segment, verdict);
    const run = this.#readRun(text, before.run);
    if (!isOptional) return { carried, found, run };
    return {
      carried,
      found: found.size === 0 ? before.found : new Set([...before.found, ...found]),
      run: Math.max(run, before.run),
    };
  }

  /** Reports patterns that a text has only together with earlier ones; returns all that are known of it. */
  #reportPatterns(segment: Segment, { patternMatches }: TextVerdict): ReadonlySet<number> {
    const across = this.#across;
    if (patternMatches.length === 0 && across.size === 0) return nothingFound;
    const found = new Set(patternMatches.map(({ pattern }) => pattern));
    for (const [pattern, view] of across) {
      if (found.has(pattern)) continue;
      found.add(pattern);
      this.#parts.report({ pattern, view, segment, before: this.#beginning(pattern, segment) });
    }
    if (across.size > 0) across.clear();
    return found;
  }

  /** The text in which a match begins that ends in this one: the last, or the last that every reader has. */
  #beginning(pattern: number, segment: Segment): Segment {
    const { patterns, fold } = this.#parts.patternSet;
    const last = this.#segments[this.#segments.length - 1] as Segment;
    const required = last.optional === undefined ? undefined : this.#segments.findLast(isRequired);
    if (required === undefined) return last;
    const sought = patterns[pattern] as Pattern;
    const text = textOf(segment.place);
    const holds = ({ place }: Segment) =>
      ['', ' '].some((gap) => new ViewedText(textOf(place) + gap + text, fold).ranges(sought).length > 0);
    return !holds(last) && holds(required) ? required : last;
  }

  /** Follows runs of key characters, and schedules the detectors of long ones; returns the length with which the text ends. */
  #readRun(text: TextBytes, before: number): number {
    const { longRuns } = this.#parts.patternSet;
    if (longRuns.length === 0) return 0;
    const { length, fillsText } = runAtStart(text);
    if (before + length >= longRunLength) {
      for (const number of longRuns) this.#scheduleBefore(number);
    }
    return fillsText ? before + length : runAtEnd(text);
  }

  /** Runs the scheduled detectors. */
  run(): void {
    if (this.#isWaiting && this.#segments.length > 1 && this.#scheduled.size > 0) {
      for (const group of groupsOf(this.#segments)) {
        this.#parts.checkpoint();
        this.#detect(group);
      }
    }
    this.#isWaiting = false;
    this.#trim();
    for (const [number, segment] of this.#scheduled) {
      if (!this.#segments.includes(segment)) this.#scheduled.delete(number);
    }
  }

  /** What detectors find in texts that are joined, with nothing and with a space between any two. */
  #detect(segments: readonly Segment[]): void {
    const texts = segments.map(({ place }) => textOf(place));
    for (const [reach, numbers] of this.#byReach(texts)) {
      this.#detectIn(segments, new JoinedTexts(segments, texts, '', reach), numbers);
      const spaced = new JoinedTexts(segments, texts, ' ', reach);
      const overSpaces = numbers.filter((number) => this.#mayHoldSpace(number, spaced.text));
      this.#detectIn(segments, spaced, overSpaces);
    }
  }

  /** Whether a detector may find something in a text that goes over a space. */
  #mayHoldSpace(number: number, text: string): boolean {
    const pattern = this.#parts.patternSet.patterns[number];
    const sign = pattern?.kind === 'detector' ? pattern.detector.holdsSpace : undefined;
    return sign === undefined || (sign !== 'never' && sign.test(text));
  }

  /** Detectors by how much they are to read of the first and the last text: those that read all of them together. */
  #byReach(texts: readonly string[]): ReadonlyMap<number, readonly number[]> {
    const first = texts[0] as string;
    const last = texts[texts.length - 1] as string;
    const longest = Math.max(first.length, last.length);
    const byReach = new Map<number, number[]>();
    for (const number of this.#scheduled.keys()) {
      const pattern = this.#parts.patternSet.patterns[number];
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

  /** Reports what detectors find in joined texts and not in each by itself. */
  #detectIn(segments: readonly Segment[], joined: JoinedTexts, numbers: readonly number[]): void {
    const { patternSet, report } = this.#parts;
    const { patterns, fold, wider } = patternSet;
    const viewed = new ViewedText(joined.text, fold);
    for (const number of numbers) {
      const other = wider.get(number);
      const isNowhere = other !== undefined && viewed.ranges(patterns[other] as Pattern).length === 0;
      if (isNowhere) continue;
      const pattern = patterns[number] as Pattern;
      const ranges = viewed.ranges(pattern);
      const findAlone = (text: string) => new ViewedText(text, fold).ranges(pattern);
      // What is there exactly comes first.
      const view = ranges[0]?.view as TextView;
      for (const range of ranges) {
        const pieces = joined.piecesOfValue(range, findAlone);
        const segment = pieces[pieces.length - 1]?.segment;
        if (segment === undefined) continue;
        report({
          pattern: number,
          view,
          segment,
          before: segments[segments.indexOf(segment) - 1] as Segment,
          pieces,
        });
      }
    }
  }

  /** A long text parts what is before it from what follows; short ones stay, for a match may go on. */
  #trim(): void {
    const segments = this.#segments;
    const last = segments[segments.length - 1];
    if (last === undefined || !isLong(last)) {
      segments.splice(0, segments.length - segmentsKept);
      return;
    }
    const required = segments.findLast(isRequired);
    // In place: an array that is emptied gives up its memory.
    const keepsRequired = required !== undefined && required !== last;
    if (keepsRequired) segments[0] = required;
    segments[keepsRequired ? 1 : 0] = last;
    segments.length = keepsRequired ? 2 : 1;
  }
}

function isLong(segment: Segment): boolean {
  return lengthOf(segment) >= longText;
}

function lengthOf({ place: { document, entry } }: Segment): number {
  return document.end(entry) - document.start(entry);
}

function isRequired({ optional }: Segment): boolean {
  return optional === undefined;
}

/** Each group of texts that may be read as one, once: most ways to leave texts out share most of them. */
function* groupsOf(segments: readonly Segment[]): Iterable<readonly Segment[]> {
  const indexes = new Map(segments.map((segment, index) => [segment, index]));
  const known = new Set<number>();
  for (const [number, read] of readingsOf(segments).entries()) {
    for (const [from, to] of rangesOf(read)) {
      const first = indexes.get(read[from] as Segment) as number;
      const last = indexes.get(read[to] as Segment) as number;
      // With some left out between them, groups of the same ends may differ; those of two and of all can't.
      const kind = to - from === 1 ? 0 : to - from === last - first ? 1 : 2 + number;
      const key = (first * segmentLimit + last) * (leftOutLimit + 4) + kind;
      if (known.has(key)) continue;
      known.add(key);
      yield read.slice(from, to + 1);
    }
  }
}

/** What readers may have: all texts, all without what some leave out, and all without what any leaves out. */
function readingsOf(segments: readonly Segment[]): readonly (readonly Segment[])[] {
  const leftOut = [...new Set(segments.flatMap(({ optional }) => optional ?? []))];
  if (leftOut.length === 0) return [segments];
  const isOne = leftOut.length > 1 && leftOut.length <= leftOutLimit;
  const withoutEach = leftOut.map((name) => segments.filter(({ optional }) => optional !== name));
  return [segments, ...(isOne ? withoutEach : []), segments.filter(isRequired)];
}

const levels = ['all', 'run', 'turn', 'block'] as const;

/**
 * Where texts stand that have no markup between them, by the first and the last: all, those of one role, turn or block; and
 * the end of each turn with the beginning of the next, whatever stands around them.
 */
function* rangesOf(segments: readonly Segment[]): Iterable<readonly [from: number, to: number]> {
  for (const level of levels) {
    // Without any markup at this level, they are those of the level before.
    if (level !== 'all' && !segments.some(({ unit }) => unit[level] !== segments[0]?.unit[level])) continue;
    let from = 0;
    for (let at = 0; at < segments.length; at += 1) {
      const segment = segments[at] as Segment;
      const next = segments[at + 1];
      const isLast = next === undefined || segment.unit[level] !== next.unit[level];
      // A long text is read with what is before it, and then with what follows.
      if (!isLast && !isLong(segment)) continue;
      if (at > from) yield [from, at];
      from = isLast ? at + 1 : at;
    }
  }
  for (let at = 1; at < segments.length; at += 1) {
    const [one, other] = [segments[at - 1] as Segment, segments[at] as Segment];
    const isBorder = one.unit.turn !== other.unit.turn;
    if (isBorder && lengthOf(one) + lengthOf(other) >= minMatchLength) yield [at - 1, at];
  }
}
