import type { KeyLimits } from '../config/build/keys.ts';
import type { Amounts, Claim, Counters, Grant } from './counters.ts';
import { type LimitName, limitTable } from './limit-table.ts';
import { planLimits, toClaim } from './limiter.ts';

/** How a budget stands in its current period. */
export interface BudgetState {
  readonly scope: KeyLimits['kind'];
  readonly name: string;
  readonly limit: LimitName;
  readonly unit: 'tokens' | 'nanoUsd';
  readonly max: number;
  readonly used: number;
}

const nothing: Amounts = { requests: 0, tokens: 0, nanoUsd: 0 };
/** Claims that are asked about at once: one script in Redis, which serves nobody else meanwhile. */
const atOnce = 200;

/**
 * How budgets stand, wherever they are counted: by claims of nothing, which are always granted. None if those that
 * share the budgets can't be asked.
 */
export async function readBudgets(
  counters: Counters,
  scopes: readonly KeyLimits[],
  nowMs: number,
): Promise<readonly BudgetState[]> {
  const planned = scopes
    .flatMap((scope) => planLimits(scope))
    .flatMap((plan) => {
      const row = limitTable[plan.limit];
      return 'period' in row ? [{ ...plan, row }] : [];
    });
  const states: BudgetState[] = [];
  for (let from = 0; from < planned.length; from += atOnce) {
    const some = planned.slice(from, from + atOnce);
    const grant = await readSome(
      counters,
      some.map((plan) => ({ ...toClaim(plan, nothing, nowMs), isEnforced: false })),
      nowMs,
    );
    if (grant === undefined) return [];
    states.push(
      ...some.map(({ scope, limit, row, max }, i) => ({
        scope: scope.kind,
        name: scope.name,
        limit,
        unit: row.unit,
        max,
        used: grant.states[i]?.used ?? 0,
      })),
    );
  }
  return states;
}

async function readSome(
  counters: Counters,
  claims: readonly Claim[],
  nowMs: number,
): Promise<Grant | undefined> {
  const grant = await counters.reserve(claims, nowMs);
  if (grant.isGranted)
    counters.settle(
      grant.ticket,
      claims.map(() => 0),
    );
  // Asked afterwards: what was counted here, while Redis went away, is only this gateway's part.
  return counters.isConnected ? grant : undefined;
}
