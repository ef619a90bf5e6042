import { HeldText, type TextChange } from '../../dialects/held-text.ts';
import { partitionPoint } from '../../lib/partition-point.ts';
import type { Hit, PieceReader } from '../automaton/piece-reader.ts';
import type { StatePair } from '../automaton/product-dfa.ts';
import { isInRun } from '../automaton/text-bytes.ts';
import { longRunLength, type Range } from '../detectors/detector.ts';
import type { CompiledRule } from '../rules/compile-rule.ts';
import type { ChannelRules, RuleMatch } from './channel-rules.ts';
import { DetectorProgress } from './detector-progress.ts';

/** Most characters that a match in progress holds back; part of a longer one may be sent. */
const maxHeld = 16_384;
/** What may still be part of a match of usual length when that happens. */
const keptHold = 8_192;
/** Characters before a match that may say what it is. */
const contextLength = 256;
/** Regions that are no further apart are searched as one text: a search costs as much as this many characters. */
const nearby = 32;

/** What a rule replaces. */
export interface RuleChange extends TextChange {
  readonly rule: CompiledRule;
}

/** A part of the text, between two positions at which no match was in progress, and the patterns that end in it. */
interface Region extends Range {
  readonly patterns: ReadonlySet<number>;
}

/**
 * The text of one channel of a stream, read once: the automata say where a match ends and between which positions it
 * lies, and only that part is searched for its exact place. What was searched is forgotten.
 */
export class StreamChannel {
  /** Whether it is held until it is complete. */
  readonly needsWhole: boolean;
  readonly text = new HeldText<RuleChange>();
  isClosed = false;
  /** Patterns that the automata have seen in this channel. */
  readonly seen = new Set<number>();
  readonly #rules: ChannelRules;
  readonly #reader: PieceReader;
  readonly #detectors: readonly DetectorProgress[];
  #state: StatePair;
  /** All pieces of a text that is held until it is complete. */
  readonly #pieces: string[] = [];
  /** The last position at which no match was in progress. */
  #settled = 0;
  /** The patterns that have ended after it. */
  #open = new Set<number>();
  #regions: Region[] = [];
  /** Length of the run of key characters with which the text ends. */
  #run = 0;

  constructor(rules: ChannelRules, reader: PieceReader, { needsWhole }: { readonly needsWhole: boolean }) {
    this.#rules = rules;
    this.#reader = reader;
    this.#state = reader.start;
    this.needsWhole = needsWhole;
    this.#detectors = rules.detectors.map((each) => new DetectorProgress(each, contextLength));
    for (const { number, isAlways } of rules.detectors) if (isAlways) this.seen.add(number);
  }

  /** All of a text that is held until it is complete. */
  get whole(): string {
    return this.#pieces.join('');
  }

  /** Adds text, even after an apparent end: clients keep reading, whatever the host signals. */
  add(text: string): void {
    const start = this.text.add(text);
    this.isClosed = false;
    if (this.needsWhole) this.#pieces.push(text);
    const { after, settled, hits } = this.#reader.read(text, this.#state);
    this.#state = after;
    for (const hit of hits) this.#note(hit, start);
    if (settled >= 0) {
      if (this.#open.size > 0 && hits.at(-1)?.end !== -1) this.#endRegion(start + settled);
      this.#settled = start + settled;
    }
    if (this.#rules.longRuns.length > 0) this.#countRun(text);
  }

  /** The channel has ended; nothing more is expected. */
  close(): void {
    this.isClosed = true;
    for (const pattern of this.#reader.end(this.#state)) this.#see(pattern, this.#open);
    this.#searchOpen();
  }

  /** Finds what has come since the last call, and how far the text may be sent. */
  search(): readonly RuleMatch[] {
    const matches: RuleMatch[] = [];
    if (!this.needsWhole && this.text.length - this.#settled > maxHeld) {
      this.#searchOpen();
      this.#open = new Set();
      this.#settled = this.text.length - keptHold;
    }
    this.#searchRegions(matches);
    for (const each of this.#detectors) {
      const from = each.begin(this.text.length, this.isClosed);
      if (from === undefined) continue;
      const start = Math.max(this.text.from, from);
      this.#rules.find(this.text.slice(start, this.text.length), [each.number], (match, range) => {
        if (!each.isComplete(start + range.start, start + range.end)) return;
        this.#match(match, { start: start + range.start, end: start + range.end }, matches);
      });
      each.finish();
    }
    this.text.release(this.#safe());
    this.#trim();
    return matches;
  }

  #note(hit: Hit, start: number): void {
    const { patterns, start: from, end } = hit;
    if (from >= 0 && this.#open.size > 0) this.#endRegion(start + from);
    if (from >= 0) this.#settled = start + from;
    for (const pattern of patterns) this.#see(pattern, this.#open);
    if (end >= 0) {
      this.#endRegion(start + end);
      this.#settled = start + end;
    }
  }

  #see(pattern: number, open: Set<number>): void {
    this.seen.add(pattern);
    if (this.#rules.isDetector(pattern)) this.#trigger(pattern);
    else open.add(pattern);
  }

  #trigger(pattern: number): void {
    for (const each of this.#detectors) if (each.number === pattern) each.lastHit = this.text.length;
  }

  #countRun(text: string): void {
    for (let at = 0; at < text.length; at += 1) {
      this.#run = isInRun(text.charCodeAt(at)) ? this.#run + 1 : 0;
      if (this.#run < longRunLength) continue;
      for (const number of this.#rules.longRuns) {
        this.seen.add(number);
        this.#trigger(number);
      }
    }
  }

  #endRegion(end: number): void {
    this.#regions.push({ start: this.#settled, end, patterns: this.#open });
    this.#open = new Set();
  }

  /** A match in progress: what has come of it is searched, and it goes on. */
  #searchOpen(): void {
    if (this.#open.size > 0)
      this.#regions.push({ start: this.#settled, end: this.text.length, patterns: new Set(this.#open) });
  }

  #searchRegions(matches: RuleMatch[]): void {
    const regions = this.#regions;
    this.#regions = [];
    for (let first = 0; first < regions.length; ) {
      let next = first + 1;
      while (next < regions.length && this.#isNear(regions[next - 1] as Region, regions[next] as Region))
        next += 1;
      this.#searchNear(regions.slice(first, next), matches);
      first = next;
    }
  }

  /** With exceptions, what is found in one of them says nothing about the other. */
  #isNear({ end, patterns }: Region, other: Region): boolean {
    if (this.#rules.hasExceptions || other.start - end > nearby) return false;
    return patterns.size === 1 && other.patterns.size === 1 && other.patterns.has([...patterns][0] as number);
  }

  /** Searches regions with the same patterns. */
  #searchNear(regions: readonly Region[], matches: RuleMatch[]): void {
    const { start, patterns } = regions[0] as Region;
    const { end } = regions.at(-1) as Region;
    const { margin } = this.#rules;
    const from = Math.max(this.text.from, start - margin);
    const found = regions.map(() => new Set<RuleMatch>());
    const all = this.#rules.find(this.text.slice(from, end + margin), [...patterns], (match, range) => {
      const place = { start: from + range.start, end: from + range.end };
      let at = partitionPoint(regions.length, (index) => (regions[index] as Region).end <= place.start);
      for (; at < regions.length; at += 1) {
        const region = regions[at] as Region;
        if (place.end <= region.start) break;
        found[at]?.add(match);
        this.#match(match, { start: Math.max(region.start, place.start), end: place.end }, matches);
      }
    });
    // The automata have seen it, so it began before what is kept, and a part of it has been sent.
    for (const match of all)
      if (!found.every((each) => each.has(match))) matches.push({ ...match, isGone: true });
  }

  #match(match: RuleMatch, { start, end }: Range, matches: RuleMatch[]): void {
    matches.push(match);
    const { rule } = match.each;
    if (match.label !== undefined) this.text.change({ start, end, label: match.label, rule });
  }

  #safe(): number {
    if (this.isClosed) return this.text.length;
    if (this.needsWhole) return 0;
    let safe = this.#settled;
    for (const each of this.#detectors) safe = Math.min(safe, each.complete);
    return Math.max(safe, 0);
  }

  /** Forgets what has been searched, except for a little context; not each time, since the rest is copied. */
  #trim(): void {
    let needed = this.#settled;
    for (const each of this.#detectors) needed = Math.min(needed, each.complete);
    this.text.forget(needed - contextLength, contextLength);
  }
}
