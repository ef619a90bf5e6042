import type { KeyLimits } from '../config/build/keys.ts';
import type { BudgetCounter } from './counters.ts';
import { planLimits } from './limiter.ts';

/** The counters of all budgets, in the day and month of a time. */
export function budgetCounters(scopes: readonly KeyLimits[], nowMs: number): readonly BudgetCounter[] {
  return scopes.flatMap((scope) => planLimits(scope).flatMap(({ budgetAt }) => budgetAt?.(nowMs) ?? []));
}
