import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { KeyLimits, LimitsConfig } from '../../src/config/build/keys.ts';
import type { GatewayError } from '../../src/errors.ts';
import type { BudgetCounter, Counters } from '../../src/limits/counters.ts';
import { budgetCounters, Limiter, type Reservation } from '../../src/limits/limiter.ts';
import { MemoryCounters } from '../../src/limits/memory-counters.ts';
import { RedisCounters } from '../../src/limits/redis/redis-counters.ts';
import { CounterService } from '../../src/limits/shared-counters.ts';
import { hasRedis, startRedis, type TestRedis } from '../kit/redis.ts';
import { connect } from './remote-counters.ts';

// Where a budget's counter starts that nobody has used: at what the ledger has, wherever it is counted.
const now = Date.now();
const dayMs = 86_400_000;

/** A ledger that is slow, so that requests overtake it. */
class FakeLedger {
  readonly asked: BudgetCounter[] = [];
  used = 0;
  isAway = false;
  takesMs = 5;

  readonly readSums = async (budgets: readonly BudgetCounter[] = []) => {
    this.asked.push(...budgets);
    const { used, isAway, takesMs } = this;
    await new Promise((resolve) => setTimeout(resolve, takesMs));
    if (isAway) throw new Error('no disk');
    return budgets.map(({ counter, endsMs }) => ({ counter, endsMs, used }));
  };
}

let redis: TestRedis;
const closing: Counters[] = [];
beforeAll(async () => {
  if (hasRedis) redis = await startRedis();
});
afterEach(async () => {
  for (const counters of closing.splice(0)) await counters.close();
});
afterAll(() => redis?.stop());

let scopes = 0;
/** Of a project of its own, since Redis keeps what tests before counted. */
function limits(settings: Partial<LimitsConfig>): KeyLimits {
  scopes += 1;
  const whole = { mode: 'enforce', unpriced: 'refuse', time_zone: 'UTC', ...settings } as const;
  return { kind: 'project', name: `loader-${scopes}`, settings: whole };
}

/** The reservation, or why there is none. */
async function outcomeOf(limiter: Limiter, count: number): Promise<Reservation | GatewayError> {
  try {
    return await limiter.reserve(tokens(count), now);
  } catch (thrown) {
    return thrown as GatewayError;
  }
}

const tokens = (count: number) => ({ requests: 1, tokens: count, newTokens: count, nanoUsd: 0 });

const places = [
  {
    name: 'memory',
    isThere: true,
    open: async ({ readSums }: FakeLedger): Promise<Counters> => new MemoryCounters({ readSums }),
  },
  {
    name: 'the parent of workers',
    isThere: true,
    open: async ({ readSums }: FakeLedger): Promise<Counters> => {
      const service = new CounterService(new MemoryCounters({ readSums }));
      const remote = connect(service);
      remote.reread = (budgets) => service.counters.reread(budgets); // by the parent's own reload
      return remote;
    },
  },
  {
    name: 'Redis',
    isThere: hasRedis,
    open: async ({ readSums }: FakeLedger): Promise<Counters> =>
      RedisCounters.open(`loader-${scopes}-${closing.length}`, {
        url: redis.url,
        onFailure: undefined,
        onState: () => undefined,
        readSums,
      }),
  },
];

describe.each(places.filter(({ isThere }) => isThere))('counted in $name', ({ open }) => {
  /** A budget of a day, and its ledger. */
  async function start(max: number, { used = 0, takesMs = 5, isAway = false } = {}) {
    const ledger = new FakeLedger();
    const counters = await open(ledger);
    closing.push(counters);
    Object.assign(ledger, { used, takesMs, isAway });
    const scope = limits({ tokens_per_day: max });
    const limiter = new Limiter(counters, [scope]);
    const reserve = (count: number, atMs = now) => limiter.reserve(tokens(count), atMs);
    const usedAfter = async (count: number) => (await reserve(count)).states[0]?.used;
    return { ledger, counters, scope, limiter, reserve, usedAfter };
  }

  test('requests at once wait for the ledger, and share exactly what is left', async () => {
    const { ledger, limiter } = await start(100, { used: 60 });

    const outcomes = await Promise.all(Array.from({ length: 20 }, () => outcomeOf(limiter, 10)));
    const granted = outcomes.flatMap((outcome) =>
      'states' in outcome && 'settle' in outcome ? [outcome] : [],
    );

    expect(granted.map(({ states }) => states[0]?.used)).toEqual([70, 80, 90, 100]);
    expect(ledger.asked).toHaveLength(1);
  });

  test('a clock that was wrong at the start finds what today has used', async () => {
    const { ledger, limiter, reserve, usedAfter } = await start(100);
    (await reserve(1, now - 400 * dayMs)).settle(tokens(1));
    ledger.used = 99;

    expect(await usedAfter(1)).toBe(100);
    expect(await outcomeOf(limiter, 1)).toMatchObject({ reason: 'limit.budget' });
  });

  test('without the ledger an enforced budget is refused, and one that is monitored is not', async () => {
    const { ledger, counters, limiter, usedAfter } = await start(100, { isAway: true });
    const monitored = limits({ tokens_per_day: 100, mode: 'monitor' });

    const refused = await outcomeOf(limiter, 1);
    const granted = await new Limiter(counters, [monitored]).reserve(tokens(1), now);
    ledger.isAway = false;

    expect(refused).toMatchObject({ reason: 'limit.state_unavailable', retryAfterS: 5 });
    expect([granted.states[0]?.used, await usedAfter(1)]).toEqual([1, 1]);
  });

  test('a ledger that takes longer than a request waits is read once, not for ever', async () => {
    const { ledger, limiter, usedAfter } = await start(100, { used: 42, takesMs: 2_500 });

    expect(await outcomeOf(limiter, 1)).toMatchObject({ reason: 'limit.state_unavailable' });
    await expect.poll(() => usedAfter(0).catch(() => undefined), { timeout: 20_000 }).toBe(42);
    expect(ledger.asked).toHaveLength(1);
  });

  test('a budget that is removed and added again has what was used meanwhile', async () => {
    const { ledger, counters, scope, reserve, usedAfter } = await start(1_000);
    (await reserve(10)).settle(tokens(10));
    const open_: Reservation = await reserve(100);
    ledger.used = 510; // with the worst case of what is open

    counters.reread(budgetCounters([scope], now));
    expect(await usedAfter(0)).toBe(510);
    open_.settle(tokens(40));

    await expect.poll(() => usedAfter(0)).toBe(450);
  });
});

test('all budgets that begin at once are read at once', async () => {
  const ledger = new FakeLedger();
  const reads: number[] = [];
  const readSums = (budgets: readonly BudgetCounter[] = []) => {
    reads.push(budgets.length);
    return ledger.readSums(budgets);
  };
  const counters = new MemoryCounters({ readSums });
  const ask = (count: number) =>
    Array.from({ length: count }, () =>
      outcomeOf(new Limiter(counters, [limits({ tokens_per_day: 10, usd_per_month: 10 })]), 1),
    );

  const first = ask(50);
  await Promise.resolve();
  const outcomes = await Promise.all([...first, ...ask(30), ...ask(20)]);

  expect(outcomes.filter((outcome) => 'settle' in outcome)).toHaveLength(100);
  expect(reads.length).toBeLessThanOrEqual(2);
  expect(reads.reduce((sum, count) => sum + count, 0)).toBe(200);
});

test('a worker that dies while the ledger is read leaves no place taken', async () => {
  const ledger = new FakeLedger();
  ledger.takesMs = 300;
  const service = new CounterService(new MemoryCounters({ readSums: ledger.readSums }));
  const scope = limits({ tokens_per_day: 100, concurrent_requests: 1 });
  void outcomeOf(new Limiter(connect(service), [scope]), 10);
  await expect.poll(() => ledger.asked.length).toBe(1);

  service.release(1);

  const next = new CounterService(service.counters);
  await expect.poll(() => outcomeOf(new Limiter(connect(next), [scope]), 10)).toHaveProperty('settle');
});
