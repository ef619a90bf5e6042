import type * as z from 'zod';
import type { NamedPattern } from '../automaton/patterns.ts';
import type { CheckBook } from '../checks/check-book.ts';
import type { Detector } from '../detectors/detector.ts';
import type { DetectorName } from '../detectors/names.ts';
import type { Fold } from '../fold/fold.ts';
import type { Match } from '../rule.ts';
import type { RuleInputs } from '../rule-inputs.ts';
import type { TextMatch } from '../search/search-result.ts';

/** One compiled condition of a rule. */
export interface Condition {
  /** Returns where it holds; undefined if it doesn't. Never empty. */
  test(inputs: RuleInputs): readonly Match[] | undefined;
  /** For a condition on texts: what it searches for, and in which texts. */
  readonly text?: TextCondition;
}

export interface TextCondition {
  readonly patterns: readonly NamedPattern[];
  /** Roles of the texts that it searches, as bits. */
  readonly roles: number;
  find(inputs: RuleInputs): readonly TextMatch[];
}

export interface MatcherContext {
  readonly fold: Fold;
  /** What services from outside have said of texts. */
  readonly checks: CheckBook;
  /** What the rules of the configuration write in place of what they redact. */
  readonly labels: ReadonlySet<string>;
  /** The detector that a rule names; loaded when it is asked for. */
  detector(name: DetectorName): Detector;
  /**
   * Whether one matching name (of the model, of tools) is enough, or all must match. Rules that refuse use any, their
   * exceptions use all, so that doubtful cases are refused.
   */
  readonly quantifier: 'any' | 'all';
  /** Patterns of the rule's exceptions: what lies within them doesn't count. */
  readonly except: readonly NamedPattern[];
  /** Reports something that is wrong with the options, at a path within them. */
  problem(path: readonly (string | number)[], message: string, severity?: 'error' | 'warning'): void;
}

/**
 * A kind of condition: the options it has in a rule, and what they mean.
 *
 * @example
 * ```ts
 * // `when: { weekend: true }`
 * export const weekend = defineMatcher({
 *   schema: z.boolean(),
 *   compile: (isWanted) => ({
 *     test: ({ subject }) => {
 *       const isWeekend = [0, 6].includes(new Date(subject.nowMs).getUTCDay());
 *       return isWeekend === isWanted ? [{ at: '', matcher: 'weekend', count: 1 }] : undefined;
 *     },
 *   }),
 * });
 * ```
 */
export interface Matcher<Schema extends z.ZodType = z.ZodType> {
  readonly schema: Schema;
  compile(options: z.infer<Schema>, context: MatcherContext): Condition;
}

/** Ties a matcher's schema to the type of its options. */
export function defineMatcher<Schema extends z.ZodType>(matcher: Matcher<Schema>): Matcher<Schema> {
  return matcher;
}
