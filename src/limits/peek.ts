import type { KeyLimits } from '../config/build/keys.ts';
import type { Counters } from './counters.ts';
import { Limiter, type LimitState } from './limiter.ts';

const nothing = { requests: 0, tokens: 0, nanoUsd: 0 } as const;

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
