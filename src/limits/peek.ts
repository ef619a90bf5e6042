import type { KeyLimits } from '../config/build/keys.ts';
import type { Counters } from './counters.ts';
import { Limiter, type LimitState } from './limiter.ts';

const nothing = { requests: 0, tokens: 0, nanoUsd: 0 } as const;

/** How the limits of a project or key stand: by an exchange that asks for nothing and is settled at once. */
export async function peekLimits(
  counters: Counters,
  scope: KeyLimits,
  nowMs: number,
): Promise<readonly LimitState[]> {
  // A limit that is used up refuses even nothing where it is enforced.
  const monitored: KeyLimits = { ...scope, settings: { ...scope.settings, mode: 'monitor' } };
  const reservation = await new Limiter(counters, [monitored]).reserve(nothing, nowMs);
  reservation.settle(nothing);
  return reservation.states;
}
