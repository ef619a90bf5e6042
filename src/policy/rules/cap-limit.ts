import type { Facts } from '../facts.ts';
import type { CompiledRule } from './compile-rule.ts';
import { evaluateRule } from './evaluate.ts';

/** Whether a rule objects to large caps on output. */
export function isOnCaps({ action, options }: CompiledRule): boolean {
  return action !== 'allow' && options.when?.max_output_tokens !== undefined;
}

/** The smallest `over` of the rules that would apply to the request if its cap were unlimited. */
export function capLimit(rules: readonly CompiledRule[], unbounded: Facts): number {
  return rules.reduce((limit, rule) => {
    const over = rule.options.when?.max_output_tokens?.over ?? limit;
    return over < limit && mayApply(rule, unbounded) ? over : limit;
  }, Number.POSITIVE_INFINITY);
}

function mayApply(rule: CompiledRule, facts: Facts): boolean {
  try {
    return evaluateRule(rule, facts) !== undefined;
  } catch {
    // What can't be evaluated counts as a rule that applies.
    return true;
  }
}
