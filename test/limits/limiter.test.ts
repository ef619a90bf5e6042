import { afterEach, describe, expect, test } from 'vitest';
import type { KeyLimits, LimitsConfig } from '../../src/config/build/keys.ts';
import type { GatewayError } from '../../src/errors.ts';
import type { Counters } from '../../src/limits/counters.ts';
import { Limiter, planBudgets, type Reservation, readLimits } from '../../src/limits/limiter.ts';
import { MemoryCounters } from '../../src/limits/memory-counters.ts';
import { RedisCounters } from '../../src/limits/redis/redis-counters.ts';
import { hasRedis, startRedis, type TestRedis } from '../kit/redis.ts';

const now = Date.parse('2026-11-22T18:00:00Z');
const one = { requests: 1, tokens: 100, newTokens: 100, nanoUsd: 2_000_000 };
const nothing = { requests: 0, tokens: 0, newTokens: 0, nanoUsd: 0 };

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

    first.settle({ requests: 1, tokens: 10, newTokens: 10, nanoUsd: 0 });

    expect((await reserve(limits)).states[0]?.remaining).toBe(40);
  });

  test('settling twice counts once', async () => {
    const limits = limiter({ tokens_per_day: 200 });
    const first = await reserve(limits);

    first.settle(nothing);
    first.settle(nothing);

    expect((await reserve(limits)).states[0]?.remaining).toBe(100);
  });

  test('a session has a budget of its own, and so has the same name of another key; others have none', async () => {
    const limits = limiter({ usd_per_session: 5_000_000, requests_per_session: 3 });
    const of = (session: string, key = 'shop-web') => ({ session: { key, session } });
    const spend = async (session?: string, key?: string) => {
      const options = session === undefined ? {} : of(session, key);
      (await limits.reserve(one, now, options)).settle({ ...one, nanoUsd: 1_800_000 });
    };
    await spend('a');
    await spend('a');

    const refused = await spend('a').catch((error: GatewayError) => error);
    expect(refused).toMatchObject({
      reason: 'limit.budget',
      failure: { retry: false },
      retryAfterS: undefined,
    });
    expect(refused?.message).toBe(
      'the limit of project shop is US$ 0.005 a session: US$ 0.0014 left, and this request may need US$ 0.002; "gateway sessions raise a N" lets it go on',
    );
    await spend('a', 'shop-other');
    await spend('b');
    for (let i = 0; i < 5; i += 1) await spend();
  });

  test('what a cache had counts by its price in a session, not by its number', async () => {
    const limits = limiter({ tokens_per_session: 1_000 });
    const session = { session: { key: 'k', session: 's' } };
    for (let turn = 0; turn < 9; turn += 1) {
      const reservation = await limits.reserve({ ...one, tokens: 100, newTokens: 100 }, now, session);
      reservation.settle({ ...one, tokens: 100_000, newTokens: 100 });
    }
    await expect(limits.reserve({ ...one, newTokens: 101 }, now, session)).rejects.toThrow(
      /1000 new tokens a session: 100 left, and this request may need 101; "gateway sessions raise s --tokens N"/,
    );
  });

  test('a session that was raised goes on, and one that was not is looked up once a second', async () => {
    let reads = 0;
    let raised = 0;
    const settings = {
      mode: 'enforce',
      unpriced: 'refuse',
      time_zone: 'UTC',
      requests_per_session: 1,
    } as const;
    const limits = new Limiter(
      new MemoryCounters({ clockMs: () => 0 }),
      [{ kind: 'key', name: 'k', settings }],
      async () => {
        reads += 1;
        return { requests_per_session: raised };
      },
    );
    const ask = () => limits.reserve(one, now, { session: { key: 'k', session: 's' } });
    await ask();
    await expect(ask()).rejects.toThrow(/1 request a session/);
    raised = 2;
    await expect(ask()).rejects.toThrow(/1 request a session/); // within the second
    expect(reads).toBe(1);

    await expect
      .poll(
        async () =>
          ask().then(
            () => 'granted',
            () => 'refused',
          ),
        { timeout: 5_000 },
      )
      .toBe('granted');
    await ask();
    await expect(ask()).rejects.toThrow(/3 requests a session: 0 left/);
  });

  test('sessions that clients make up take bounded memory, and the ledger knows those that were dropped', async () => {
    const used = new Map<string, number>();
    const counters = new MemoryCounters({
      clockMs: () => 0,
      readSums: async (budgets = []) =>
        budgets.map(({ counter, endsMs, session = '' }) => ({
          counter,
          endsMs,
          session,
          used: used.get(session) ?? 0,
        })),
    });
    const settings = {
      mode: 'enforce',
      unpriced: 'refuse',
      time_zone: 'UTC',
      requests_per_session: 2,
    } as const;
    const limits = new Limiter(counters, [{ kind: 'key', name: 'k', settings }]);
    const ask = async (session: string) => {
      await limits.reserve(one, now, { session: { key: 'k', session } });
      used.set(session, (used.get(session) ?? 0) + 1);
    };
    await ask('first');
    await ask('first');
    for (let i = 0; i < 20_001; i += 1) await ask(`other-${i}`);

    await expect(ask('first')).rejects.toThrow(/2 requests a session: 0 left/);
  });

  test('equal requests are counted apart from all others, and made-up ones take bounded memory', async () => {
    const clock = { ms: 0 };
    const limits = limiter({ repeated_requests: 3 }, clock);
    const ask = async (digest: string, used = one) => {
      const identify = () => ({ digest, words: `this request to ${digest}` });
      (await limits.reserve(one, now, { identify })).settle(used);
    };
    for (let i = 0; i < 3; i += 1) {
      await ask('a');
      for (let other = 0; other < 9_000; other += 1) await ask(`other-${i}-${other}`);
      await ask('never-sent', nothing);
    }

    const refused = await ask('a').catch((error: GatewayError) => error);
    expect(refused).toMatchObject({
      reason: 'limit.repeated',
      failure: { status: 429, retry: false },
      retryAfterS: 61,
      message: 'the limit of project shop is 3 equal requests a minute: this request to a came 3 times',
    });
    for (let i = 0; i < 4; i += 1) await ask('never-sent', nothing);
    await ask('b');
    await reserve(limits);
    clock.ms = 61_000;
    await ask('a');
  });

  test('a refusal says how to need less, unless it is about the number of requests', async () => {
    const advised = (settings: Parameters<typeof limiter>[0]) =>
      limiter(settings).reserve({ requests: 2, tokens: 100, newTokens: 100, nanoUsd: 0 }, now, {
        advice: () => '; ask for less',
      });

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
    const { states } = await reserve(limits, { requests: 1, tokens: 0, newTokens: 0, nanoUsd: 0 });

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

const scope: KeyLimits = {
  kind: 'project',
  name: 'shop',
  settings: {
    tokens_per_day: 1_000,
    usd_per_month: 5_000_000_000,
    concurrent_requests: 1,
    requests_per_minute: 1,
    unpriced: 'refuse',
    time_zone: 'UTC',
    mode: 'enforce',
  },
};
const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

async function redisCounters(): Promise<{ counters: Counters; redis: TestRedis }> {
  const redis = await startRedis();
  closing.push(() => redis.stop());
  const counters = await RedisCounters.open('one', {
    url: redis.url,
    onFailure: 'local',
    onState: () => undefined,
  });
  closing.push(() => counters.close());
  return { counters, redis };
}

describe.each([
  { name: 'memory', open: async (): Promise<Counters> => new MemoryCounters(), isThere: true },
  { name: 'Redis', open: async () => (await redisCounters()).counters, isThere: hasRedis },
])('in $name', ({ open, isThere }) => {
  test.runIf(isThere)('budgets are read with what is reserved, and reading changes nothing', async () => {
    const counters = await open();
    const limiter = new Limiter(counters, [scope]);
    const reservation = await limiter.reserve(
      { requests: 1, tokens: 300, newTokens: 300, nanoUsd: 7_000_000 },
      now,
    );

    const first = await readLimits(counters, planBudgets([scope]), now);
    const second = await readLimits(counters, planBudgets([scope]), now);
    reservation.settle({ requests: 1, tokens: 100, newTokens: 100, nanoUsd: 1_000_000 });
    // Redis settles without anybody waiting, and in order.
    const third = await readLimits(counters, planBudgets([scope]), now);

    expect(first).toMatchObject([
      { scope, limit: 'tokens_per_day', max: 1_000, used: 300, remaining: 700 },
      { scope, limit: 'usd_per_month', max: 5_000_000_000, used: 7_000_000, remaining: 4_993_000_000 },
    ]);
    expect(second).toMatchObject(first.map(({ limit, used }) => ({ limit, used })));
    expect(third.map(({ used }) => used)).toEqual([100, 1_000_000]);
  });

  test.runIf(isThere)('equal requests are refused above the limit, and others are not', async () => {
    const settings = { mode: 'enforce', unpriced: 'refuse', time_zone: 'UTC', repeated_requests: 2 } as const;
    const limiter = new Limiter(await open(), [{ ...scope, settings }]);
    const ask = (digest: string) =>
      limiter.reserve(one, now, { identify: () => ({ digest, words: digest }) }).then(
        () => 'granted',
        ({ reason }: GatewayError) => reason,
      );

    const outcomes = await Promise.all(['a', 'a', 'b', 'a', 'a', 'b'].map(ask));
    expect(outcomes).toEqual([
      'granted',
      'granted',
      'granted',
      'limit.repeated',
      'limit.repeated',
      'granted',
    ]);
  });

  test.runIf(isThere)('a budget that is overdrawn is read as any other', async () => {
    const counters = await open();
    const monitored = { ...scope, settings: { ...scope.settings, mode: 'monitor' as const } };
    await new Limiter(counters, [monitored]).reserve(
      { requests: 1, tokens: 5_000, newTokens: 5_000, nanoUsd: 0 },
      now,
    );

    expect((await readLimits(counters, planBudgets([scope]), now))[0]?.used).toBe(5_000);
  });
});

test.runIf(hasRedis)(
  'while Redis is away nothing is read: a part of the truth would look like all of it',
  async () => {
    const { counters, redis } = await redisCounters();
    await redis.kill();

    expect(await readLimits(counters, planBudgets([scope]), now)).toEqual([]);
    expect(counters.isConnected).toBe(false);
  },
);
