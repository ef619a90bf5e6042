import type { CompiledRule } from './compile-rule.ts';
import type { Decision, Match, Verdict } from './rule.ts';
import type { Needle } from './text/needles.ts';

/** What the policies say to an answer, or to a part of one. */
export interface ResponseDecision {
  readonly action: Decision['action'];
  readonly verdicts: readonly Verdict[];
  readonly refusal?: { readonly rule: string; readonly reason: string; readonly message: string };
  /** The answer with its matches replaced, where the action is redact. */
  readonly redactedBody?: Buffer;
}

/** A rule on answers, with the numbers of its needles in the machine. */
export interface AnswerRule {
  readonly rule: CompiledRule;
  readonly needles: readonly number[];
  readonly except: readonly Needle[];
}

export function verdictOf(rule: CompiledRule, matches: readonly Match[]): Verdict {
  const { policy, id, action, mode, reason, message } = rule;
  return { policy, rule: id, action, mode, reason, ...(message === undefined ? {} : { message }), matches };
}

export function refusalOf(rule: CompiledRule, reason = rule.reason) {
  return { rule: rule.id, reason, message: rule.message ?? `the answer was blocked by rule ${rule.id}` };
}
