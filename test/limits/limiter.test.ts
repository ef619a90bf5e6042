import { describe, expect, test } from 'vitest';
import type { LimitsConfig } from '../../src/config/build/keys.ts';
import type { GatewayError } from '../../src/errors.ts';
import { Limiter, type Reservation } from '../../src/limits/limiter.ts';
import { MemoryCounters } from '../../src/limits/memory-counters.ts';

const now = Date.parse('2026-11-22T18:00:00Z');
const one = { requests: 1, tokens: 100, nanoUsd: 2_000_000 };
const nothing = { requests: 0, tokens: 0, nanoUsd: 0 };

function limiter(settings: Partial<LimitsConfig>, clock: { ms: number } = { ms: 0 }): Limiter {
  const whole = { mode: 'enforce', unpriced: 'refuse', time_zone: 'UTC', ...settings } as const;
  return new Limiter(new MemoryCounters({ clockMs: () => clock.ms }), [
    { kind: 'project', name: 'shop', settings: whole },
  ]);
}

function reserve(limits: Limiter, amounts = one, nowMs = now): Reservation {
  return limits.reserve(amounts, nowMs) as Reservation;
}

function refusal(limits: Limiter, amounts = one, nowMs = now): GatewayError {
  try {
    reserve(limits, amounts, nowMs);
  } catch (thrown) {
    return thrown as GatewayError;
  }
  throw new Error('it was granted');
}

describe('limiter', () => {
  test('refuses the request after the last of a minute and names the wait', () => {
    const limits = limiter({ requests_per_minute: 2 });
    reserve(limits);
    reserve(limits);

    const { reason, retryAfterS, headers } = refusal(limits);

    expect({ reason, retryAfterS, headers }).toEqual({
      reason: 'limit.requests',
      retryAfterS: 61,
      headers: {},
    });
  });

  test('a budget refuses what could overshoot it, and waiting a minute does not help', () => {
    const limits = limiter({ usd_per_day: 5_000_000 });
    reserve(limits);
    reserve(limits);

    const { reason, message, failure, retryAfterS } = refusal(limits);

    expect({ reason, retry: failure.retry, retryAfterS }).toEqual({
      reason: 'limit.budget',
      retry: false,
      retryAfterS: 6 * 3_600,
    });
    expect(message).toBe(
      'the limit of project shop is US$ 0.005 a day: US$ 0.001 left, and this request may need US$ 0.002',
    );
  });

  test('a limit of one is one', () => {
    const limits = limiter({ requests_per_minute: 1 });
    reserve(limits);

    expect(refusal(limits).message).toBe(
      'the limit of project shop is 1 request a minute: 0 left, and this request may need 1',
    );
  });

  test('what was reserved and not used is released', () => {
    const limits = limiter({ tokens_per_day: 150 });
    const first = reserve(limits);

    first.settle({ requests: 1, tokens: 10, nanoUsd: 0 });

    expect(reserve(limits).states[0]?.remaining).toBe(40);
  });

  test('settling twice counts once', () => {
    const limits = limiter({ tokens_per_day: 200 });
    const first = reserve(limits);

    first.settle(nothing);
    first.settle(nothing);

    expect(reserve(limits).states[0]?.remaining).toBe(100);
  });

  test('a request that can never fit gets no Retry-After', () => {
    const limits = limiter({ tokens_per_minute: 50 });

    const { reason, retryAfterS, failure, message } = refusal(limits);

    expect({ reason, retryAfterS, retry: failure.retry }).toEqual({
      reason: 'limit.tokens',
      retryAfterS: undefined,
      retry: false,
    });
    expect(message).toContain('this request alone may need 100');
    expect(message).not.toContain(';');
  });

  test('a refusal says how to need less, unless it is about the number of requests', () => {
    const advised = (settings: Parameters<typeof limiter>[0]) => {
      const limits = limiter(settings);
      try {
        limits.reserve({ requests: 2, tokens: 100, nanoUsd: 0 }, now, () => '; ask for less');
      } catch (error) {
        return error instanceof Error ? error.message : '';
      }
      return '';
    };

    expect(advised({ tokens_per_minute: 50 })).toMatch(/may need 100; ask for less$/);
    expect(advised({ requests_per_minute: 1 })).toMatch(/may need 2$/);
  });

  test('open requests are counted until they are settled', () => {
    const limits = limiter({ concurrent_requests: 1 });
    const open = reserve(limits);
    const refused = refusal(limits);

    open.settle(one);

    expect(refused.reason).toBe('limit.concurrency');
    expect(reserve(limits).states[0]?.remaining).toBe(0);
  });

  test('a refused request uses up nothing of the other limits', () => {
    const limits = limiter({ requests_per_minute: 2, tokens_per_day: 100 });
    reserve(limits);

    refusal(limits);
    const { states } = reserve(limits, { requests: 1, tokens: 0, nanoUsd: 0 });

    expect(states.map(({ remaining }) => remaining)).toEqual([0, 0]);
  });

  test('a monitored limit refuses nothing and reports that it would have', () => {
    const limits = limiter({ requests_per_minute: 1, mode: 'monitor' });
    reserve(limits);

    const { wouldRefuse } = reserve(limits);

    expect(wouldRefuse).toEqual(['project shop requests_per_minute']);
  });

  test('a budget starts again at midnight', () => {
    const limits = limiter({ tokens_per_day: 100 });
    reserve(limits);

    const tomorrow = reserve(limits, one, Date.parse('2026-11-23T00:00:00Z'));

    expect(tomorrow.states[0]?.remaining).toBe(0);
  });

  test.each([
    ['does not exist', 'Asia/Beirut', '2026-03-28T22:00:00Z'],
    ['comes twice', 'America/Havana', '2026-11-01T04:00:00Z'],
    ['ends a day of 25 hours', 'Europe/Berlin', '2026-10-25T23:00:00Z'],
  ])('at a midnight that %s (%s) a budget begins anew, once', (_what, zone, midnight) => {
    const limits = limiter({ tokens_per_day: 100, time_zone: zone });
    const midnightMs = Date.parse(midnight);
    const hourMs = 3_600_000;
    reserve(limits, one, midnightMs - 23 * hourMs);

    expect(refusal(limits, one, midnightMs - 1).reason).toBe('limit.budget');
    expect(reserve(limits, one, midnightMs).states[0]?.remaining).toBe(0);
    for (const hours of [0, 1, 2, 22]) {
      expect(refusal(limits, one, midnightMs + hours * hourMs).reason).toBe('limit.budget');
    }
  });

  test('a clock that jumps a day forward and back finds the budget as it was', () => {
    const limits = limiter({ tokens_per_day: 150 });
    reserve(limits);
    reserve(limits, one, now + 86_400_000);

    expect(refusal(limits).reason).toBe('limit.budget');
  });

  test('what is settled after midnight counts for the day in which it was reserved', () => {
    const limits = limiter({ tokens_per_day: 100 });
    const yesterday = reserve(limits);
    reserve(limits, one, Date.parse('2026-11-23T00:00:00Z'));

    yesterday.settle(nothing);

    expect(refusal(limits, one, Date.parse('2026-11-23T00:00:01Z')).reason).toBe('limit.budget');
    expect(reserve(limits).states[0]?.remaining).toBe(0);
  });

  test('a wall clock that jumps a day forward and back leaves the rate of a minute as it was', () => {
    const limits = limiter({ requests_per_minute: 1 });
    reserve(limits);

    const refused = [now + 86_400_000, now].map((ms) => refusal(limits, one, ms).reason);

    expect(refused).toEqual(['limit.requests', 'limit.requests']);
  });
});
