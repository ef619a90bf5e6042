import { matchedRanges, type TextRange } from './matched-ranges.ts';
import { PolicySet } from './policy-set.ts';
import { createPointerMask, type MaskPointer } from './redact/pointer-masking.ts';
import type { Action, Decision, Match, Subject } from './rule.ts';
import type { CompiledRule } from './rules/compile-rule.ts';
import { evaluateRule } from './rules/evaluate.ts';

/** A match, with its ranges in the text at its pointer; without where there is no text to point into. */
export interface ExplainedMatch extends Match {
  readonly ranges?: readonly TextRange[];
}

/** One rule, or one of a policy's own options, on one request. */
export interface RuleExplanation {
  readonly policy: string;
  readonly rule: string;
  readonly action: Action;
  readonly mode: 'enforce' | 'monitor';
  readonly reason: string;
  readonly matched: boolean;
  readonly matches: readonly ExplainedMatch[];
  /** Microseconds that the rule takes alone, without cached searches; together, rules share one pass over the body. */
  readonly microseconds: number;
  readonly failure?: unknown;
}

export interface Explanation {
  readonly rules: readonly RuleExplanation[];
  readonly decision: Decision;
  readonly microseconds: number;
}

/** Decides as the server does, and shows what each rule decided and how long it took; `now` returns microseconds. */
export function explain(set: PolicySet, subject: Subject, now: () => number): Explanation {
  const { fold } = set;
  const mask = maskFor(set, subject);
  const rules = set.rules.map((rule) => explainRule(rule, subject, { now, fold, mask }));
  const started = now();
  const decision = set.decide(subject);
  return { rules: withOwnVerdicts(rules, decision), decision, microseconds: now() - started };
}

/** Adds what no rule decides by its conditions: the policies' own options, and text that a rule can't read. */
function withOwnVerdicts(
  rules: readonly RuleExplanation[],
  { verdicts }: Decision,
): readonly RuleExplanation[] {
  const all = [...rules];
  for (const { policy, rule, action, mode, reason, matches } of verdicts) {
    const at = all.findIndex((each) => each.policy === policy && each.rule === rule);
    if (all[at]?.matched === true) continue;
    const explained = { policy, rule, action, mode, reason, matched: true, matches };
    all.splice(at < 0 ? all.length : at, 1, { ...explained, microseconds: all[at]?.microseconds ?? 0 });
  }
  return all;
}

/** Leaves out all places if it can't be determined which may be shown. */
function maskFor(set: PolicySet, subject: Subject): MaskPointer {
  try {
    return createPointerMask(set.facts(subject).searchResult);
  } catch {
    // The decision carries the failure.
    return () => '';
  }
}

function explainRule(
  rule: CompiledRule,
  subject: Subject,
  { now, fold, mask }: { now: () => number; fold: PolicySet['fold']; mask: MaskPointer },
): RuleExplanation {
  const alone = new PolicySet({ policies: [], builtIn: [rule], fold });
  const { policy, id, action, mode, reason } = rule;
  const facts = alone.facts(subject);
  const started = now();
  try {
    const verdict = evaluateRule(rule, facts);
    const microseconds = now() - started;
    const matches =
      verdict === undefined ? [] : explainMatches(verdict.matches, matchedRanges(rule, facts), mask);
    return { policy, rule: id, action, mode, reason, matched: verdict !== undefined, matches, microseconds };
  } catch (failure) {
    const microseconds = now() - started;
    return { policy, rule: id, action, mode, reason, matched: true, matches: [], microseconds, failure };
  }
}

function explainMatches(
  matches: readonly Match[],
  found: ReadonlyMap<string, readonly TextRange[]>,
  mask: MaskPointer,
): readonly ExplainedMatch[] {
  return matches.map((match) => {
    const ranges = found.get(match.at);
    return { ...match, at: mask(match.at), ...(ranges === undefined ? {} : { ranges }) };
  });
}
