import type { DialectName } from '../dialects/registry.ts';
import type { LimitState } from './limiter.ts';

type Unit = 'requests' | 'tokens';

const minuteLimits = { requests_per_minute: 'requests', tokens_per_minute: 'tokens' } as const;

/**
 * The rate-limit headers that each dialect's SDK reads, as a flat list: `anthropic-ratelimit-*` with the time of the reset
 * (RFC 3339), `x-ratelimit-*` with the time until the reset. Reports the tighter of the project's and the key's limit.
 */
export function limitHeaders(states: readonly LimitState[], dialect: DialectName, nowMs: number): string[] {
  const tightest = new Map<Unit, LimitState>();
  for (const state of states) {
    const unit = minuteLimits[state.limit as keyof typeof minuteLimits] as Unit | undefined;
    if (unit === undefined) continue;
    const known = tightest.get(unit);
    if (known === undefined || state.remaining < known.remaining) tightest.set(unit, state);
  }
  const write = dialect === 'messages' ? anthropicHeaders : openAiHeaders;
  return [...tightest].flatMap(([unit, state]) => write(unit, state, nowMs));
}

function anthropicHeaders(unit: Unit, { max, remaining, resetMs }: LimitState, nowMs: number): string[] {
  const name = `anthropic-ratelimit-${unit}`;
  const reset = new Date(Math.ceil((nowMs + resetMs) / 1_000) * 1_000).toISOString().replace('.000Z', 'Z');
  return [`${name}-limit`, String(max), `${name}-remaining`, String(remaining), `${name}-reset`, reset];
}

function openAiHeaders(unit: Unit, { max, remaining, resetMs }: LimitState): string[] {
  return [
    `x-ratelimit-limit-${unit}`,
    String(max),
    `x-ratelimit-remaining-${unit}`,
    String(remaining),
    `x-ratelimit-reset-${unit}`,
    `${Math.ceil(resetMs / 1_000)}s`,
  ];
}
