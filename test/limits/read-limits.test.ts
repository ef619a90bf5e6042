import { afterEach, describe, expect, test } from 'vitest';
import type { KeyLimits } from '../../src/config/build/keys.ts';
import type { Counters } from '../../src/limits/counters.ts';
import { Limiter, planBudgets } from '../../src/limits/limiter.ts';
import { MemoryCounters } from '../../src/limits/memory-counters.ts';
import { readLimits } from '../../src/limits/read-limits.ts';
import { RedisCounters } from '../../src/limits/redis/redis-counters.ts';
import { hasRedis, startRedis, type TestRedis } from '../kit/redis.ts';

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
const nowMs = Date.now();

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
    const reservation = await limiter.reserve({ requests: 1, tokens: 300, nanoUsd: 7_000_000 }, nowMs);

    const first = await readLimits(counters, planBudgets([scope]), nowMs);
    const second = await readLimits(counters, planBudgets([scope]), nowMs);
    reservation.settle({ requests: 1, tokens: 100, nanoUsd: 1_000_000 });
    // Redis settles without anybody waiting, and in order.
    const third = await readLimits(counters, planBudgets([scope]), nowMs);

    expect(first).toMatchObject([
      { scope, limit: 'tokens_per_day', max: 1_000, used: 300, remaining: 700 },
      { scope, limit: 'usd_per_month', max: 5_000_000_000, used: 7_000_000, remaining: 4_993_000_000 },
    ]);
    expect(second).toMatchObject(first.map(({ limit, used }) => ({ limit, used })));
    expect(third.map(({ used }) => used)).toEqual([100, 1_000_000]);
  });

  test.runIf(isThere)('a budget that is overdrawn is read as any other', async () => {
    const counters = await open();
    const monitored = { ...scope, settings: { ...scope.settings, mode: 'monitor' as const } };
    await new Limiter(counters, [monitored]).reserve({ requests: 1, tokens: 5_000, nanoUsd: 0 }, nowMs);

    expect((await readLimits(counters, planBudgets([scope]), nowMs))[0]?.used).toBe(5_000);
  });
});

test.runIf(hasRedis)(
  'while Redis is away nothing is read: a part of the truth would look like all of it',
  async () => {
    const { counters, redis } = await redisCounters();
    await redis.kill();

    expect(await readLimits(counters, planBudgets([scope]), nowMs)).toEqual([]);
    expect(counters.isConnected).toBe(false);
  },
);
