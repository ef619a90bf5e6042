import type { Dialect } from '../dialects/dialect.ts';
import type { LimitState } from './limiter.ts';

const units = ['requests', 'tokens'] as const;

/**
 * The rate-limit headers that a dialect's SDKs read, as a flat list. Reports the tighter of the project's and the key's
 * limit.
 */
export function limitHeaders(states: readonly LimitState[], dialect: Dialect, nowMs: number): string[] {
  return units.flatMap((unit) => {
    const state = tightest(states, `${unit}_per_minute`);
    if (state === undefined) return [];
    const { max, remaining, resetMs } = state;
    return dialect.limitHeaders({ unit, max, remaining, resetMs, nowMs });
  });
}

function tightest(states: readonly LimitState[], limit: LimitState['limit']): LimitState | undefined {
  let found: LimitState | undefined;
  for (const state of states) {
    if (state.limit === limit && (found === undefined || state.remaining < found.remaining)) found = state;
  }
  return found;
}
