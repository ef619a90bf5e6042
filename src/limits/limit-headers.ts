import type { DialectName } from '../dialects/registry.ts';
import type { LimitState } from './limiter.ts';

const units = ['requests', 'tokens'] as const;
type Unit = (typeof units)[number];

/**
 * The rate-limit headers that each dialect's SDK reads, as a flat list: `anthropic-ratelimit-*` with the time of the reset
 * (RFC 3339), `x-ratelimit-*` with the time until the reset. Reports the tighter of the project's and the key's limit.
 */
export function limitHeaders(states: readonly LimitState[], dialect: DialectName, nowMs: number): string[] {
  const write = dialect === 'messages' ? anthropicHeaders : openAiHeaders;
  const headers: string[] = [];
  for (const unit of units) {
    const state = tightest(states, `${unit}_per_minute`);
    if (state !== undefined) headers.push(...write(unit, state, nowMs));
  }
  return headers;
}

function tightest(states: readonly LimitState[], limit: LimitState['limit']): LimitState | undefined {
  let found: LimitState | undefined;
  for (const state of states) {
    if (state.limit === limit && (found === undefined || state.remaining < found.remaining)) found = state;
  }
  return found;
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
