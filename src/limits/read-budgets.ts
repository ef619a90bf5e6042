import type { KeyLimits } from '../config/build/keys.ts';
import type { Amounts, Claim, Counters, Grant } from './counters.ts';
import { type LimitName, limitTable } from './limit-table.ts';
import { Limiter, type LimitState, planLimits, toClaim } from './limiter.ts';

/** The state of a budget in its current period. */
export interface BudgetState {
  readonly scope: KeyLimits['kind'];
  readonly name: string;
  readonly limit: LimitName;
  readonly unit: 'tokens' | 'nanoUsd';
  readonly max: number;
  readonly used: number;
}

const nothing: Amounts = { requests: 0, tokens: 0, nanoUsd: 0 };
/** Most claims in one call: one script in Redis, which blocks all other clients. */
const atOnce = 200;

/**
 * The state of budgets, wherever they are counted: read by claiming nothing, which is always granted. None if the shared
 * counters can't be reached.
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
  // Checked afterwards: if Redis became unreachable meanwhile, the counts are only this gateway's share.
  return counters.isConnected ? grant : undefined;
}

/** The state of the limits of a project or key, read by reserving nothing and settling immediately. */
export async function peekLimits(
  counters: Counters,
  scope: KeyLimits,
  nowMs: number,
): Promise<readonly LimitState[]> {
  // An enforced limit that is used up would refuse even a claim of nothing.
  const monitored: KeyLimits = { ...scope, settings: { ...scope.settings, mode: 'monitor' } };
  const reservation = await new Limiter(counters, [monitored]).reserve(nothing, nowMs);
  reservation.settle(nothing);
  return reservation.states;
}
