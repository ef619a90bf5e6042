import type { Amounts, Counters } from './counters.ts';
import { type LimitState, type PlannedLimit, stateOf, toClaim } from './limiter.ts';

const nothing: Amounts = { requests: 0, tokens: 0, nanoUsd: 0 };
/** Most claims in one call: one script in Redis, which blocks all other clients. */
const atOnce = 200;

/**
 * The state of limits, wherever they are counted: read by claiming nothing, which is always granted. None if the shared
 * counters can't be reached.
 */
export async function readLimits(
  counters: Counters,
  planned: readonly PlannedLimit[],
  nowMs: number,
): Promise<readonly LimitState[]> {
  const states: LimitState[] = [];
  for (let from = 0; from < planned.length; from += atOnce) {
    const some = planned.slice(from, from + atOnce);
    // An enforced limit that is used up would refuse even a claim of nothing.
    const claims = some.map((plan) => ({ ...toClaim(plan, nothing, nowMs), isEnforced: false }));
    const grant = await counters.reserve(claims, nowMs);
    if (grant.isGranted) counters.settle(grant.ticket, new Array(claims.length).fill(0));
    states.push(...some.map((plan, i) => stateOf(plan, grant.states[i])));
  }
  // Checked afterwards: if Redis became unreachable meanwhile, the counts are only this gateway's share.
  return counters.isConnected ? states : [];
}
