import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { KeyLimits, LimitsConfig } from '../../src/config/build/keys.ts';
import type { GatewayError } from '../../src/errors.ts';
import type { BudgetCounter, Counters } from '../../src/limits/counters.ts';
import { budgetCounters, Limiter, type Reservation } from '../../src/limits/limiter.ts';
import { MemoryCounters } from '../../src/limits/memory-counters.ts';
import { RedisCounters } from '../../src/limits/redis/redis-counters.ts';
import { CounterService, RemoteCounters } from '../../src/limits/shared-counters.ts';
import { hasRedis, startRedis, type TestRedis } from '../kit/redis.ts';

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

function connect(service: CounterService): Counters {
  const remote: RemoteCounters = new RemoteCounters((request) => {
    setImmediate(async () => {
      const answer = await service.answer(1, structuredClone(request));
      if (answer !== undefined) remote.receive(structuredClone(answer));
    });
  });
  return remote;
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

const tokens = (count: number) => ({ requests: 1, tokens: count, nanoUsd: 0 });

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

describe.each(places)('counted in $name', ({ isThere, open }) => {
  async function start(ledger: FakeLedger): Promise<Counters> {
    const counters = await open(ledger);
    closing.push(counters);
    return counters;
  }

  test.runIf(isThere)('requests at once wait for the ledger, and share exactly what is left', async () => {
    const ledger = new FakeLedger();
    const counters = await start(ledger);
    const limiter = new Limiter(counters, [limits({ tokens_per_day: 100 })]);
    ledger.used = 60;

    const outcomes = await Promise.all(Array.from({ length: 20 }, () => outcomeOf(limiter, 10)));
    const granted = outcomes.flatMap((outcome) =>
      'states' in outcome && 'settle' in outcome ? [outcome] : [],
    );

    expect(granted.map(({ states }) => states[0]?.used)).toEqual([70, 80, 90, 100]);
    expect(ledger.asked).toHaveLength(1);
  });

  test.runIf(isThere)('a clock that was wrong at the start finds what today has used', async () => {
    const ledger = new FakeLedger();
    const limiter = new Limiter(await start(ledger), [limits({ tokens_per_day: 100 })]);
    (await limiter.reserve(tokens(1), now - 400 * dayMs)).settle(tokens(1));
    ledger.used = 99;

    const today = await limiter.reserve(tokens(1), now);
    const beyond = await outcomeOf(limiter, 1);

    expect(today.states[0]?.used).toBe(100);
    expect(beyond).toMatchObject({ reason: 'limit.budget' });
  });

  test.runIf(isThere)('the day of another zone is counted apart', async () => {
    const ledger = new FakeLedger();
    const counters = await start(ledger);
    const scope = limits({ tokens_per_day: 100 });
    const there = { ...scope, settings: { ...scope.settings, time_zone: 'Pacific/Kiritimati' } };
    (await new Limiter(counters, [scope]).reserve(tokens(30), now)).settle(tokens(30));
    ledger.used = 5;

    const { states } = await new Limiter(counters, [there]).reserve(tokens(1), now);

    expect(states[0]?.used).toBe(6);
  });

  test.runIf(isThere)(
    'without the ledger an enforced budget is refused, and one that is monitored is not',
    async () => {
      const ledger = new FakeLedger();
      const counters = await start(ledger);
      ledger.isAway = true;
      const scope = limits({ tokens_per_day: 100 });
      const monitored = limits({ tokens_per_day: 100, mode: 'monitor' });

      const refused = await outcomeOf(new Limiter(counters, [scope]), 1);
      const granted = await new Limiter(counters, [monitored]).reserve(tokens(1), now);
      ledger.isAway = false;
      const again = await new Limiter(counters, [scope]).reserve(tokens(1), now);

      expect(refused).toMatchObject({ reason: 'limit.state_unavailable', retryAfterS: 5 });
      expect([granted.states[0]?.used, again.states[0]?.used]).toEqual([1, 1]);
    },
  );

  test.runIf(isThere)(
    'a ledger that takes longer than a request waits is read once, not for ever',
    async () => {
      const ledger = new FakeLedger();
      const limiter = new Limiter(await start(ledger), [limits({ tokens_per_day: 100 })]);
      Object.assign(ledger, { used: 42, takesMs: 2_500 });

      const refused = await outcomeOf(limiter, 1);
      const used = async () => {
        const outcome = await outcomeOf(limiter, 0);
        return 'states' in outcome ? outcome.states[0]?.used : undefined;
      };

      expect(refused).toMatchObject({ reason: 'limit.state_unavailable' });
      await expect.poll(used, { timeout: 20_000 }).toBe(42);
      expect(ledger.asked).toHaveLength(1);
    },
  );

  test.runIf(isThere)('a budget that is removed and added again has what was used meanwhile', async () => {
    const ledger = new FakeLedger();
    const counters = await start(ledger);
    const scope = limits({ tokens_per_day: 1_000 });
    const limiter = new Limiter(counters, [scope]);
    (await limiter.reserve(tokens(10), now)).settle(tokens(10));
    const open_: Reservation = await limiter.reserve(tokens(100), now);
    ledger.used = 510; // with the worst case of what is open

    counters.reread(budgetCounters([scope], now));
    expect((await limiter.reserve(tokens(0), now)).states[0]?.used).toBe(510);
    open_.settle(tokens(40));

    await expect.poll(async () => (await limiter.reserve(tokens(0), now)).states[0]?.used).toBe(450);
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
