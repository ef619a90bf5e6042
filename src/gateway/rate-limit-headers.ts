import { LimitError, type LimitState } from '../limits/limiter.ts';
import type { Exchange } from './exchange.ts';

const rates = [
  { unit: 'requests', limit: 'requests_per_minute' },
  { unit: 'tokens', limit: 'tokens_per_minute' },
] as const;

/**
 * Rate-limit headers as the client's SDK reads them, a flat list; empty if nothing is limited. They report the tighter of
 * the project's and the key's limit.
 */
export function limitHeadersOf({ record, spending, startedMs: nowMs }: Exchange): readonly string[] {
  const { limits } = spending;
  const states = record.failure instanceof LimitError ? record.failure.states : limits?.states;
  if (limits === undefined || states === undefined) return [];
  return rates.flatMap(({ unit, limit }) => {
    const state = tightest(states, limit);
    if (state === undefined) return [];
    const { max, remaining, resetMs } = state;
    return limits.dialect.limitHeaders({ unit, max, remaining, resetMs, nowMs });
  });
}

function tightest(states: readonly LimitState[], limit: LimitState['limit']): LimitState | undefined {
  let found: LimitState | undefined;
  for (const state of states) {
    if (state.limit === limit && (found === undefined || state.remaining < found.remaining)) found = state;
  }
  return found;
}
