import { describe, expect, test } from 'vitest';
import type { LimitsConfig } from '../../src/config/build/keys.ts';
import type { GatewayError } from '../../src/errors.ts';
import { createCalendar } from '../../src/limits/limit-table.ts';
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

function reserve(limits: Limiter, amounts = one, nowMs = now): Promise<Reservation> {
  return limits.reserve(amounts, nowMs);
}

async function refusal(limits: Limiter, amounts = one, nowMs = now): Promise<GatewayError> {
  try {
    await reserve(limits, amounts, nowMs);
  } catch (thrown) {
    return thrown as GatewayError;
  }
  throw new Error('it was granted');
}

describe('limiter', () => {
  test.each([
    [
      'the request after the last of a minute, and names the wait',
      { requests_per_minute: 2 },
      2,
      { reason: 'limit.requests', retryAfterS: 61, headers: {} },
    ],
    [
      'under a budget what could overshoot it, and waiting a minute does not help',
      { usd_per_day: 5_000_000 },
      2,
      {
        reason: 'limit.budget',
        failure: { retry: false },
        retryAfterS: 6 * 3_600,
        message:
          'the limit of project shop is US$ 0.005 a day: US$ 0.001 left, and this request may need US$ 0.002',
      },
    ],
    [
      'the request after the only one',
      { requests_per_minute: 1 },
      1,
      {
        message: 'the limit of project shop is 1 request a minute: 0 left, and this request may need 1',
      },
    ],
    [
      'a request that can never fit, without Retry-After',
      { tokens_per_minute: 50 },
      0,
      {
        reason: 'limit.tokens',
        failure: { retry: false },
        retryAfterS: undefined,
        message: expect.stringMatching(/this request alone may need 100$/),
      },
    ],
  ])('refuses %s', async (_what, settings, granted, expected) => {
    const limits = limiter(settings);
    for (let i = 0; i < granted; i += 1) await reserve(limits);

    expect(await refusal(limits)).toMatchObject(expected);
  });

  test('what was reserved and not used is released', async () => {
    const limits = limiter({ tokens_per_day: 150 });
    const first = await reserve(limits);

    first.settle({ requests: 1, tokens: 10, nanoUsd: 0 });

    expect((await reserve(limits)).states[0]?.remaining).toBe(40);
  });

  test('settling twice counts once', async () => {
    const limits = limiter({ tokens_per_day: 200 });
    const first = await reserve(limits);

    first.settle(nothing);
    first.settle(nothing);

    expect((await reserve(limits)).states[0]?.remaining).toBe(100);
  });

  test('a refusal says how to need less, unless it is about the number of requests', async () => {
    const advised = (settings: Parameters<typeof limiter>[0]) =>
      limiter(settings).reserve({ requests: 2, tokens: 100, nanoUsd: 0 }, now, () => '; ask for less');

    await expect(advised({ tokens_per_minute: 50 })).rejects.toThrow(/may need 100; ask for less$/);
    await expect(advised({ requests_per_minute: 1 })).rejects.toThrow(/may need 2$/);
  });

  test('open requests are counted until they are settled', async () => {
    const limits = limiter({ concurrent_requests: 1 });
    const open = await reserve(limits);
    const refused = await refusal(limits);

    open.settle(one);

    expect(refused.reason).toBe('limit.concurrency');
    expect((await reserve(limits)).states[0]?.remaining).toBe(0);
  });

  test('a refused request uses up nothing of the other limits', async () => {
    const limits = limiter({ requests_per_minute: 2, tokens_per_day: 100 });
    await reserve(limits);

    await refusal(limits);
    const { states } = await reserve(limits, { requests: 1, tokens: 0, nanoUsd: 0 });

    expect(states.map(({ remaining }) => remaining)).toEqual([0, 0]);
  });

  test('a monitored limit refuses nothing and reports that it would have', async () => {
    const limits = limiter({ requests_per_minute: 1, mode: 'monitor' });
    await reserve(limits);

    const { wouldRefuse } = await reserve(limits);

    expect(wouldRefuse).toEqual(['project shop requests_per_minute']);
  });

  test('a clock that jumps a day forward and back finds the budget as it was', async () => {
    const limits = limiter({ tokens_per_day: 150 });
    await reserve(limits);
    await reserve(limits, one, now + 86_400_000);

    expect((await refusal(limits)).reason).toBe('limit.budget');
  });

  test('what is settled after midnight counts for the day in which it was reserved', async () => {
    const limits = limiter({ tokens_per_day: 100 });
    const yesterday = await reserve(limits);
    await reserve(limits, one, Date.parse('2026-11-23T00:00:00Z'));

    yesterday.settle(nothing);

    expect((await refusal(limits, one, Date.parse('2026-11-23T00:00:01Z'))).reason).toBe('limit.budget');
    expect((await reserve(limits)).states[0]?.remaining).toBe(0);
  });

  test('a wall clock that jumps a day forward and back leaves the rate of a minute as it was', async () => {
    const limits = limiter({ requests_per_minute: 1 });
    await reserve(limits);

    for (const ms of [now + 86_400_000, now])
      expect((await refusal(limits, one, ms)).reason).toBe('limit.requests');
  });
});

const at = (text: string) => Date.parse(text);

describe('calendar', () => {
  test.each(
    // biome-ignore format: a case a line
    [
      ['day', 'UTC', 'at its midnight', '2026-11-22T18:00:00Z', '2026-11-22', '2026-11-22T00:00:00Z', '2026-11-23T00:00:00Z'],
      ['day', 'Europe/Berlin', 'after 23 hours', '2026-03-29T09:30:00Z', '2026-03-29', '2026-03-28T23:00:00Z', '2026-03-29T22:00:00Z'],
      ['day', 'Europe/Berlin', 'after 25 hours', '2026-10-25T20:30:00Z', '2026-10-25', '2026-10-24T22:00:00Z', '2026-10-25T23:00:00Z'],
      ['month', 'America/New_York', 'with its zone, not with UTC', '2026-12-01T03:00:00Z', '2026-11', '2026-11-01T04:00:00Z', '2026-12-01T05:00:00Z'],
    ] as const,
  )('a %s of %s ends %s', (period, zone, _how, now, name, starts, ends) => {
    expect(createCalendar(zone)[period](at(now))).toEqual({ name, startsMs: at(starts), endsMs: at(ends) });
  });

  // Among them zones whose clocks change at midnight, so that it comes twice or not at all, and zones off the hour.
  test.each(['America/Havana', 'America/Santiago', 'Asia/Beirut', 'Australia/Lord_Howe', 'Pacific/Chatham'])(
    'in %s each day begins where the last one ended, at a quarter of an hour',
    (zone) => {
      const calendar = createCalendar(zone);
      const quarterMs = 15 * 60_000;
      const hourMs = 3_600_000;
      let last = calendar.day(at('2026-01-01T12:00:00Z'));

      while (last.endsMs < at('2027-01-02T00:00:00Z')) {
        const next = calendar.day(last.endsMs);

        expect(next.startsMs).toBe(last.endsMs);
        expect(next.name > last.name).toBe(true);
        expect(next.startsMs % quarterMs).toBe(0);
        expect([23, 23.5, 24, 24.5, 25]).toContain((next.endsMs - next.startsMs) / hourMs);
        last = next;
      }
      expect(last.name.slice(0, 7)).toBe('2027-01');
    },
  );

  test('UTC has the days and months of a zone that is the same under another name', () => {
    const [utc, other] = [createCalendar('UTC'), createCalendar('Etc/UTC')];

    for (const text of ['2024-02-29T23:59:59.999Z', '2025-03-01T00:00:00Z', '1999-12-31T12:00:00Z']) {
      expect([utc.day(at(text)), utc.month(at(text))]).toEqual([other.day(at(text)), other.month(at(text))]);
    }
  });

  test('an unknown zone throws', () => {
    expect(() => createCalendar('Europe/Atlantis')).toThrow(RangeError);
  });
});
