import type { Pattern, PatternSet } from '../automaton/patterns.ts';
import { type Decision, type Refusal, refuses, type Verdict, withholds } from '../rule.ts';
import type { CompiledRule } from '../rules/compile-rule.ts';
import { verdictOf } from '../rules/evaluate.ts';
import type { TextMatch } from '../search/search-result.ts';
import { type ViewedTexts, withoutExcepted } from '../search/viewed-text.ts';

/** What the policies decide about an answer, or a part of one. */
export interface ResponseDecision {
  readonly action: Decision['action'];
  readonly verdicts: readonly Verdict[];
  readonly refusal?: Refusal;
  /** The answer with its matches replaced, if the action is redact. */
  readonly redactedBody?: Buffer;
}

/** A rule on answers, with the indexes of its patterns in the pattern set. */
export interface AnswerRule {
  readonly rule: CompiledRule;
  readonly patterns: readonly number[];
}

/** What was searched for in an answer, and the texts in which something was found. */
export interface Searched {
  readonly patternSet: PatternSet;
  readonly texts: ViewedTexts;
}

/** What a rule finds in a document, minus its exceptions. */
export function foundBy(
  { rule, patterns }: AnswerRule,
  matches: ReadonlyMap<number, readonly TextMatch[]>,
  { patternSet, texts }: Searched,
): readonly TextMatch[] {
  const found = patterns.flatMap((number) => matches.get(number) ?? []);
  const pattern = (number: number) => patternSet.patterns[number] as Pattern;
  return withoutExcepted(found, rule.except, { pattern, texts });
}

export function refusalOf(rule: CompiledRule, reason = rule.reason): Refusal {
  return { rule: rule.id, reason, message: rule.message ?? `the answer was blocked by rule ${rule.id}` };
}

/** The refusal of unreadable content; undefined if no rule enforces anything: a monitoring rule must not end a stream. */
export function unreadableRefusal(rules: readonly AnswerRule[], message: string): Refusal | undefined {
  const first = rules.find(({ rule }) => rule.mode === 'enforce' && withholds(rule.action));
  return first && { rule: first.rule.id, reason: 'content.unreadable', message };
}

/** Whether what it finds is redacted. */
export function isRedacting({ rule }: AnswerRule): boolean {
  return rule.mode === 'enforce' && rule.action === 'redact';
}

/** What the rules have decided about a stream so far: a verdict of each that matched, and the first refusal. */
export class StreamVerdicts {
  readonly #verdicts = new Map<string, Verdict>();
  #refusal: Refusal | undefined;

  get verdicts(): readonly Verdict[] {
    return [...this.#verdicts.values()];
  }

  get refusal(): Refusal | undefined {
    return this.#refusal;
  }

  /** Ends the stream; only the first refusal counts. */
  refuse(refusal: Refusal | undefined): void {
    this.#refusal ??= refusal;
  }

  /** Records that a rule matched, and applies its action if it is enforced. */
  add({ rule }: AnswerRule, redact: () => void): void {
    if (!this.#verdicts.has(rule.id)) {
      this.#verdicts.set(rule.id, verdictOf(rule, [{ at: '', matcher: 'text', count: 1 }]));
    }
    if (rule.mode !== 'enforce') return;
    if (refuses(rule.action)) this.refuse(refusalOf(rule));
    if (rule.action === 'redact') redact();
  }
}
