import type { State } from '../automaton/dfa-state.ts';
import { type View, views } from '../automaton/found-patterns.ts';
import { isInRun } from '../automaton/long-run.ts';
import type { PatternSet } from '../automaton/pattern-set.ts';
import type { Pattern } from '../automaton/patterns.ts';
import { longRunLength } from '../detectors/detector.ts';
import type { Replacement } from '../redact/redact.ts';
import { ViewedText } from '../search/viewed-text.ts';
import type { AnswerRule } from './answer-rule.ts';

/** Most characters that are held back for a pattern of unlimited length; part of a longer match may be sent. */
const longestHold = 8192;
/** Characters that are kept after they were sent, as context before a match. */
const contextLength = 256;

/** The position of a text in a channel. */
export interface ChannelRange {
  readonly channel: StreamChannel;
  readonly start: number;
  readonly end: number;
}

/**
 * The text of one channel of a stream. It tracks the position up to which nothing can be the beginning of a match any
 * more: where neither automaton had a partial match, minus the reach of the detectors.
 */
export class StreamChannel {
  readonly #patternSet: PatternSet;
  readonly #reach: number;
  readonly #states: Record<View, State>;
  /** The part of the text that is still kept, and where in the channel it begins. */
  #text = '';
  #from = 0;
  #viewed: ViewedText | undefined;
  #settled = 0;
  /** Length of the run of key characters with which the text ends. */
  #run = 0;
  #isClosed = false;
  /** The end of the replacements whose label has been sent. */
  #labelledTo = 0;
  /** Patterns that the automata have seen in this channel. */
  readonly seen: Set<number>;
  /** Those of them that have been reported to the rules. */
  readonly evaluated = new Set<number>();
  /** Whether it is held until it is complete. */
  readonly isWhole: boolean;

  constructor(
    patternSet: PatternSet,
    { isWhole, numbers }: { isWhole: boolean; numbers: readonly number[] },
  ) {
    this.#patternSet = patternSet;
    this.isWhole = isWhole;
    this.#states = { ...patternSet.scanner.start };
    this.seen = new Set(patternSet.always.filter((number) => numbers.includes(number)));
    const reaches = numbers.map((number) => reachOf(patternSet.patterns[number]));
    this.#reach = Math.min(longestHold, Math.max(0, ...reaches));
  }

  /** Length of the channel's text so far. */
  get length(): number {
    return this.#from + this.#text.length;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** The kept text, for the rules. */
  get text(): string {
    return this.#text;
  }

  /** Adds text, even after an apparent end: clients keep reading, whatever the host signals. */
  add(text: string): void {
    this.#isClosed = false;
    const { scanner } = this.#patternSet;
    let at = this.length;
    this.#text += text;
    const note = (state: State) => {
      for (const pattern of state.patterns) this.seen.add(pattern);
    };
    for (const letter of text) {
      at += letter.length;
      const codePoint = letter.codePointAt(0) as number;
      this.#run = isInRun(codePoint) ? this.#run + 1 : 0;
      if (this.#run === longRunLength) for (const number of this.#patternSet.longRuns) this.seen.add(number);
      let isOpen = false;
      for (const view of views) {
        const state = scanner.step(view, this.#states[view], codePoint, note);
        this.#states[view] = state;
        isOpen ||= scanner[view].isOpen(state);
      }
      if (!isOpen) this.#settled = at;
    }
  }

  /** The channel has ended; nothing more is expected. */
  close(): void {
    this.#isClosed = true;
    for (const view of views) {
      for (const pattern of this.#patternSet.scanner[view].end(this.#states[view])) this.seen.add(pattern);
    }
  }

  /** Up to where the text may be sent. */
  safe(): number {
    if (this.#isClosed) return this.length;
    if (this.isWhole) return 0;
    const settled = Math.min(this.#settled, this.length - this.#reach);
    return Math.max(settled, this.length - longestHold, 0);
  }

  /** Adds a rule's replacements, as positions in the channel. */
  replacements({ rule, patterns }: AnswerRule): readonly Replacement[] {
    if (this.#viewed?.text !== this.#text) this.#viewed = new ViewedText(this.#text, this.#patternSet.fold);
    const viewed = this.#viewed;
    return patterns
      .filter((number) => this.seen.has(number))
      .flatMap((number) => viewed.rangesOutside(this.#patternSet.patterns[number] as Pattern, rule.except))
      .map(({ start, end }) => ({
        start: start + this.#from,
        end: end + this.#from,
        label: `[REDACTED:${rule.reason}]`,
      }));
  }

  /**
   * The replacements within a part that is about to be sent, as positions in that part. The label goes where its
   * replacement begins. If that was sent before the match was known, because the text continued after its apparent end,
   * the label goes where the rest begins.
   */
  within(
    replacements: readonly Replacement[],
    { start, end }: Omit<ChannelRange, 'channel'>,
  ): readonly Replacement[] {
    const touched = replacements.filter((each) => each.end > start && each.start < end);
    const labelledTo = this.#labelledTo;
    this.#labelledTo = Math.max(labelledTo, ...touched.map((each) => each.end));
    return touched.map((each) => ({
      start: Math.max(each.start, start) - start,
      end: Math.min(each.end, end) - start,
      label: each.start >= start || labelledTo < start ? each.label : '',
    }));
  }

  /** Drops what has been sent, except for a little context. */
  forget(upTo: number): void {
    const from = Math.max(this.#from, upTo - contextLength);
    if (from - this.#from < contextLength) return;
    this.#text = this.#text.slice(from - this.#from);
    this.#from = from;
  }
}

function reachOf(pattern: Pattern | undefined): number {
  return pattern?.kind === 'detector' ? pattern.detector.reach : 0;
}
