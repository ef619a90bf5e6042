import type { ResponseCheck } from './answers/check-answer.ts';
import { type Explanation, explain } from './explain.ts';
import type { HeaderValue } from './header-values.ts';
import type { Decision, Subject, Verdict } from './rule.ts';
import { RuleSet, type SetParts } from './rule-set.ts';

/** The policies that apply to one key, ready to decide. */
export interface PolicySet {
  readonly names: readonly string[];
  /** What the policies decide about a request. Never throws. */
  decide(subject: Subject): Decision;
  /** Whether a text that leaves besides the body was evaluated before, and nothing was found in it. */
  isKnownClean(text: string): boolean;
  /** The verdicts on a text that leaves besides the body: the value of a header or of the query. */
  evaluateValue(value: HeaderValue, subject: Subject): readonly Verdict[];
  /** The largest cap on output that no rule objects to, for a request that has none; Infinity if there is none. */
  capLimit(subject: Subject): number;
  /** Which rules apply to the answer to a request. Their numbers mean the same in another thread's copy of the set. */
  answerRules(subject: Subject): readonly number[];
  /** The rules on answers with these numbers; undefined if there are none: answers then cost nothing. */
  checkAnswers(numbers: readonly number[]): ResponseCheck | undefined;
  /** The decision on a request, rule by rule, with the time of each one alone; `now` returns microseconds. */
  explain(subject: Subject, now: () => number): Explanation;
}

export function createPolicySet(parts: SetParts): PolicySet {
  const rules = new RuleSet(parts);
  return {
    names: parts.policies.map(({ name }) => name),
    decide: (subject) => rules.decide(subject),
    isKnownClean: (text) => rules.isKnownClean(text),
    evaluateValue: (value, subject) => rules.evaluateValue(value, subject),
    capLimit: (subject) => rules.capLimit(subject),
    answerRules: (subject) => rules.answerRules(subject),
    checkAnswers: (numbers) => rules.checkAnswers(numbers),
    explain: (subject, now) => explain(rules, subject, { now, fold: parts.fold }),
  };
}
