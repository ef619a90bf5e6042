import type { Refusal, Verdict } from '../rule.ts';
import { type AnswerRule, refusalOf, verdictOf } from './answer-rule.ts';

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
    if (rule.action === 'block') this.refuse(refusalOf(rule));
    if (rule.action === 'redact') redact();
  }
}
