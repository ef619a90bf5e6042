import { withoutExcepted } from '../redact/exceptions.ts';
import type { Decision, Match, Verdict } from '../rule.ts';
import type { CompiledRule } from '../rules/compile-rule.ts';
import type { Occurrence } from '../search/findings.ts';
import type { Machine } from '../search/machine.ts';
import type { Needle } from '../search/patterns.ts';

export interface Refusal {
  readonly rule: string;
  readonly reason: string;
  readonly message: string;
}

/** What the policies say to an answer, or to a part of one. */
export interface ResponseDecision {
  readonly action: Decision['action'];
  readonly verdicts: readonly Verdict[];
  readonly refusal?: Refusal;
  /** The answer with its matches replaced, where the action is redact. */
  readonly redactedBody?: Buffer;
}

/** A rule on answers, with the numbers of its needles in the machine. */
export interface AnswerRule {
  readonly rule: CompiledRule;
  readonly needles: readonly number[];
  readonly except: readonly Needle[];
}

/** What a rule finds in a document, less its exceptions. */
export function foundBy(
  { rule, needles }: AnswerRule,
  occurrences: ReadonlyMap<number, readonly Occurrence[]>,
  machine: Machine,
): readonly Occurrence[] {
  const found = needles.flatMap((number) => occurrences.get(number) ?? []);
  const needle = (number: number) => machine.needles[number] as Needle;
  return withoutExcepted(found, rule.except, { needle, fold: machine.fold });
}

export function verdictOf(rule: CompiledRule, matches: readonly Match[]): Verdict {
  const { policy, id, action, mode, reason, message } = rule;
  return { policy, rule: id, action, mode, reason, ...(message === undefined ? {} : { message }), matches };
}

export function refusalOf(rule: CompiledRule, reason = rule.reason): Refusal {
  return { rule: rule.id, reason, message: rule.message ?? `the answer was blocked by rule ${rule.id}` };
}

/** The refusal of what no rule can read; undefined where none has to, for a rule that only watches ends nothing. */
export function unreadableRefusal(rules: readonly AnswerRule[], message: string): Refusal | undefined {
  const first = rules.find(
    ({ rule }) => rule.mode === 'enforce' && (rule.action === 'block' || rule.action === 'redact'),
  );
  return first && { rule: first.rule.id, reason: 'content.unreadable', message };
}

/** Whether what it finds is taken out. */
export function isRedacting({ rule }: AnswerRule): boolean {
  return rule.mode === 'enforce' && rule.action === 'redact';
}
