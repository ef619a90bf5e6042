import type { Pattern, PatternSet } from '../automaton/patterns.ts';
import type { Range } from '../detectors/detector.ts';
import { ViewedText } from '../search/viewed-text.ts';
import { type AnswerRule, isRedacting } from './answer-rule.ts';
import type { StreamDetector } from './detector-progress.ts';

/** Characters around a match that an exception may need; without exceptions, one that may be a word's boundary. */
const exceptionMargin = 256;
const plainMargin = 2;

/** A rule that matches in a text. */
export interface RuleMatch {
  readonly each: AnswerRule;
  /** What replaces it, if it is to be replaced. */
  readonly label: string | undefined;
  /** Set if a part of the match has been sent already. */
  readonly isGone?: true;
}

/** What the channels of a stream search for. */
export class ChannelRules {
  readonly detectors: readonly StreamDetector[];
  readonly longRuns: readonly number[];
  /** Characters on both sides of a match that are searched with it. */
  readonly margin: number;
  readonly hasExceptions: boolean;
  readonly #patternSet: PatternSet;
  readonly #byPattern = new Map<number, RuleMatch[]>();
  /** Texts that were searched since the last `forget`: other channels hold the same. */
  readonly #viewed = new Map<string, ViewedText>();

  constructor(rules: readonly AnswerRule[], patternSet: PatternSet) {
    this.#patternSet = patternSet;
    for (const each of rules) {
      const match = { each, label: isRedacting(each) ? `[REDACTED:${each.rule.reason}]` : undefined };
      for (const number of each.patterns) {
        this.#byPattern.set(number, [...(this.#byPattern.get(number) ?? []), match]);
      }
    }
    this.detectors = [...this.#byPattern.keys()].flatMap((number) => {
      const pattern = patternSet.patterns[number];
      if (pattern?.kind !== 'detector') return [];
      return [{ number, reach: pattern.detector.reach, isAlways: patternSet.always.includes(number) }];
    });
    this.longRuns = patternSet.longRuns.filter((number) => this.#byPattern.has(number));
    this.hasExceptions = rules.some(({ rule }) => rule.except.length > 0);
    this.margin = this.hasExceptions ? exceptionMargin : plainMargin;
  }

  /** All channels have been searched that may hold the same texts. */
  forget(): void {
    if (this.#viewed.size > 0) this.#viewed.clear();
  }

  isDetector(number: number): boolean {
    return this.#patternSet.patterns[number]?.kind === 'detector';
  }

  /**
   * Calls back for everything in a text that a rule finds with these patterns, minus its exceptions. Returns the rules
   * that have no exceptions, which must have found something if the patterns are in the text.
   */
  find(
    text: string,
    patterns: readonly number[],
    found: (match: RuleMatch, range: Range) => void,
  ): ReadonlySet<RuleMatch> {
    const viewed = this.#view(text);
    const certain = new Set<RuleMatch>();
    for (const number of patterns) {
      const pattern = this.#patternSet.patterns[number] as Pattern;
      for (const match of this.#byPattern.get(number) ?? []) {
        const { except, options } = match.each.rule;
        // Of placeholders it is known that they are excepted: of other exceptions, what is gone may have been one.
        const mayBeExcepted = options.except !== undefined || viewed.ranges(pattern).length > 0;
        if (except.length === 0 || !mayBeExcepted) certain.add(match);
        for (const range of viewed.rangesOutside(pattern, except)) found(match, range);
      }
    }
    return certain;
  }

  #view(text: string): ViewedText {
    let viewed = this.#viewed.get(text);
    if (viewed !== undefined) return viewed;
    viewed = new ViewedText(text, this.#patternSet.fold);
    this.#viewed.set(text, viewed);
    return viewed;
  }
}
