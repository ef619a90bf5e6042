import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import type { GatewayError } from '../../src/errors.ts';
import type { Claim, Grant, RestoredSum } from '../../src/limits/counters.ts';
import { Limiter } from '../../src/limits/limiter.ts';
import { MemoryCounters } from '../../src/limits/memory-counters.ts';
import { RedisCounters, type RedisOptions } from '../../src/limits/redis/redis-counters.ts';
import { createRandom } from '../kit/random.ts';
import { hasRedis, startRedis, type TestRedis } from '../kit/redis.ts';

const endsMs = Date.now() + 3_600_000;
let redis: TestRedis;
let names = 0;

function claim(counter: string, max: number, extra: Partial<Claim> = {}): Claim {
  return { counter, kind: 'period', max, amount: 1, endsMs, isEnforced: true, ...extra };
}

async function open(extra: Partial<RedisOptions> = {}) {
  const states: boolean[] = [];
  const counters = await RedisCounters.open(`test-${++names}`, {
    url: redis.url,
    onFailure: undefined,
    onState: ({ isConnected }) => states.push(isConnected),
    ...extra,
  });
  onTestFinished(() => counters.close());
  return {
    ...{ counters, states },
    reserve: (...claims: readonly Claim[]) => counters.reserve(claims, Date.now()),
    /** What was claimed together, by what each of it used. */
    settle: (grant: Grant, ...amounts: readonly number[]) => {
      if (!grant.isGranted) throw new Error('it was refused');
      counters.settle(grant.ticket, amounts);
    },
  };
}

async function connect(): Promise<Redis> {
  const client = new Redis(redis.url);
  onTestFinished(() => client.disconnect());
  return client;
}

async function flush(): Promise<void> {
  await (await connect()).flushall();
}

const until = (isSo: () => boolean) => vi.waitUntil(isSo, { timeout: 10_000, interval: 20 });
const reasonOf = (error: GatewayError) => error.reason;

/** Redis ends and begins again, without its data; `meanwhile` is done when it is known to be away. */
async function restart(
  states: readonly boolean[],
  meanwhile: () => unknown = () => undefined,
): Promise<void> {
  await redis.kill();
  await until(() => states.at(-1) === false);
  await meanwhile();
  await redis.start();
  await until(() => states.at(-1) === true);
}

/** Starts something, and waits until the sum that is settled again has grown; answers the sum. */
async function sumWhile(admin: Redis, start: () => void): Promise<number> {
  const read = async () => Number((await admin.get('{gateway}:limits:settled again')) ?? 0);
  start();
  const before = await read();
  const end = Date.now() + 2_000;
  let sum = before;
  while (sum === before && Date.now() < end) sum = await read();
  return sum;
}

function used(grant: Grant): number {
  return grant.states[0]?.used ?? Number.NaN;
}

describe.skipIf(!hasRedis)('counters in Redis', () => {
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.stop());

  test('what a client asks for beyond all measure, under a limit that only monitors, breaks nothing', async () => {
    const { counters, states } = await open();
    const monitored = {
      mode: 'monitor',
      unpriced: 'refuse',
      time_zone: 'UTC',
      usd_per_day: 5,
      tokens_per_minute: 5,
    } as const;
    const limiter = new Limiter(counters, [
      { kind: 'project', name: `measure-${names}`, settings: monitored },
    ]);
    const beyond = { requests: 1, tokens: 1e30, newTokens: 1e30, nanoUsd: 7e20 };

    for (let round = 0; round < 3; round += 1) {
      const reservation = await limiter.reserve(beyond, Date.now());
      expect(reservation.wouldRefuse).toHaveLength(2);
      reservation.settle({ requests: 1, tokens: 10, newTokens: 10, nanoUsd: 10 });
    }
    const after = await limiter.reserve({ requests: 1, tokens: 0, newTokens: 0, nanoUsd: 0 }, Date.now());

    expect(after.states.map((state) => state.used)).toEqual([30, 30]);
    expect(states).not.toContain(false);
  });

  test('a database that does not exist is away, and nothing is counted in number 0 instead', async () => {
    const states: boolean[] = [];
    const counters = await RedisCounters.open('nowhere', {
      url: `${redis.url.replace(/\/\d*$/, '')}/9999`,
      onFailure: 'refuse',
      onState: ({ isConnected }) => states.push(isConnected),
    });
    onTestFinished(() => counters.close());

    expect(counters.isConnected).toBe(false);
    await expect(counters.reserve([claim('nowhere', 5)], Date.now())).rejects.toThrow();
    expect(await (await connect()).keys('*nowhere*')).toEqual([]);
  });

  test.each(['minute', 'period', 'level'] as const)(
    'decides like memory does: random claims and settlements of kind %s',
    async (kind) => {
      const { counters, reserve } = await open();
      const memory = new MemoryCounters();
      const random = createRandom(11).below;
      const open_: { ours: Grant; theirs: Grant; amount: number }[] = [];

      for (let step = 0; step < 300; step += 1) {
        const claims = [
          claim(`${kind} a`, 40, { kind, amount: kind === 'level' ? 1 : random(20) }),
          claim(`${kind} b`, 60, { kind, amount: kind === 'level' ? 1 : random(20) }),
        ];
        const [ours, theirs] = [await reserve(...claims), await memory.reserve(claims, Date.now())];
        expect({ granted: ours.isGranted, used: ours.states.map(({ used: sum }) => sum) }).toEqual({
          granted: theirs.isGranted,
          used: theirs.states.map(({ used: sum }) => sum),
        });
        if (ours.isGranted) open_.push({ ours, theirs, amount: random(10) });
        while (open_.length > 0 && random(3) > 0) {
          const { ours: mine, theirs: other, amount } = open_.shift() as (typeof open_)[number];
          if (!mine.isGranted || !other.isGranted) continue;
          counters.settle(mine.ticket, [amount, amount]);
          memory.settle(other.ticket, [amount, amount]);
        }
      }
    },
  );

  test('away: a budget refuses soon, a rate is counted here, and back again both go on without a jump', async () => {
    const { reserve, states } = await open();
    const budget = claim('away budget', 10);
    const rate = claim('away rate', 10, { kind: 'minute' });
    await reserve(budget);
    redis.pause();
    const refused = await reserve(budget).catch(reasonOf);
    const granted = await reserve(rate);

    redis.resume();
    await until(() => states.at(-1) === true);
    const after = await reserve(budget);

    expect({ refused, granted: granted.isGranted, states }).toEqual({
      refused: 'limit.state_unavailable',
      granted: true,
      states: [false, true],
    });
    // The one that was refused may have been counted by a server that slept, never more.
    expect(used(after)).toBeGreaterThanOrEqual(2);
    expect(used(after)).toBeLessThanOrEqual(3);
  });

  test('what was granted locally while Redis was away counts there afterwards', async () => {
    const { reserve, settle, states } = await open({ onFailure: 'local' });
    const budget = claim('local budget', 10);
    await reserve(budget);
    await restart(states, async () => settle(await reserve({ ...budget, amount: 4 }), 3));
    const after = await reserve(budget);

    // Redis forgot the first one with its data; the ledger would bring it back.
    expect(used(after)).toBe(4);
  });

  test('what is settled again, because nobody knows whether it was counted, counts once', async () => {
    const { reserve, settle, states } = await open({ onFailure: 'local' });
    const budget = claim('settled again', 1_000_000);
    const leased = await reserve({ ...budget, amount: 100 });
    await reserve(budget);
    redis.pause();
    await reserve(claim('any', 10));
    await until(() => states.at(-1) === false);
    settle(leased, 7);
    for (let i = 0; i < 2_000; i += 1) {
      const grant = await reserve({ ...budget, amount: 4 });
      settle(grant, 3);
    }
    // It hangs again in the middle of them: each time more of them are counted, and their answers are lost.
    const admin = await connect();
    for (let round = 0; round < 3; round += 1) {
      const before = await sumWhile(admin, () => redis.resume());
      expect(before).toBeGreaterThanOrEqual(0);
      redis.pause();
      await new Promise((resolve) => setTimeout(resolve, 1_200)); // longer than a command may take
    }
    redis.resume();
    await until(() => states.at(-1) === true);

    const after = await reserve(budget);

    expect(used(after)).toBe(7 + 1 + 2_000 * 3 + 1);
  });

  test.each(['minute', 'level', 'period'] as const)(
    'a key of kind %s that holds something else refuses its own limit, and ends no connection',
    async (kind) => {
      const keys: string[] = [];
      const { reserve, settle, states } = await open({ onBadCounter: (key) => keys.push(key) });
      const bad = claim(`bad ${kind}`, 100, { kind });
      const good = claim(`good beside bad ${kind}`, 100, { amount: 10 });
      const grant = await reserve(bad, good);
      const admin = await connect();
      await admin.del(`{gateway}:limits:bad ${kind}`);
      await admin.sadd(`{gateway}:limits:bad ${kind}`, 'no counter');

      const refused = await reserve(bad, good).catch((error: GatewayError) => error);
      settle(grant, 1, 4);
      const other = await reserve(good);
      await admin.del(`{gateway}:limits:bad ${kind}`);
      const mended = await reserve(bad, good);

      expect(refused).toMatchObject({ reason: 'limit.state_unavailable' });
      expect(used(other)).toBe(14);
      expect(mended.isGranted).toBe(true);
      expect({ keys, states }).toEqual({ keys: [`{gateway}:limits:bad ${kind}`], states: [] });
    },
  );

  test('a budget that holds no whole number is refused until the ledger restores it', async () => {
    const { reserve, states } = await open({
      readSums: () => Promise.resolve([{ counter: 'rubbish', used: 3, endsMs }]),
    });
    const admin = await connect();
    await admin.set('{gateway}:limits:rubbish', '1.5');

    const refused = await reserve(claim('rubbish', 10)).catch((error: GatewayError) => error.message);
    await admin.del('{gateway}:limits:filled'); // as if the data were lost
    const grant = await reserve(claim('rubbish', 10));

    expect(refused).toBe('a counter in Redis holds something else; the log has its key');
    expect({ used: used(grant), states }).toEqual({ used: 4, states: [] });
  });

  test('a Redis that lost its data is filled from the ledger before anybody counts', async () => {
    const known: RestoredSum[] = [{ counter: 'lost', used: 9, endsMs }];
    const { reserve, states } = await open({ readSums: () => Promise.resolve(known) });

    await restart(states);
    const [last, beyond] = [await reserve(claim('lost', 10)), await reserve(claim('lost', 10))];

    expect([last.isGranted, beyond.isGranted]).toEqual([true, false]);
  });

  test('data lost while the connection stays open is noticed by the next reservation, from any gateway', async () => {
    const ledger = { used: 9 };
    const readSums = () => Promise.resolve([{ counter: 'flushed', used: ledger.used, endsMs }]);
    const [one, two] = [await open({ readSums }), await open({ readSums })];
    await flush();
    ledger.used = 7;

    const grants = await Promise.all(
      Array.from({ length: 6 }, (_, i) => (i % 2 === 0 ? one : two).reserve(claim('flushed', 10))),
    );

    expect(grants.filter(({ isGranted }) => isGranted)).toHaveLength(3);
    expect([one.states, two.states]).toEqual([[], []]);
  });

  test('what is open when Redis loses its data is counted by its worst case, and settled exactly', async () => {
    const sums = { used: 0 };
    const { reserve, settle } = await open({
      readSums: () => Promise.resolve([{ counter: 'open', used: sums.used, endsMs }]),
    });
    const grant = await reserve(claim('open', 100, { amount: 40 }));
    await flush();
    sums.used = 40; // the ledger has its intent
    await reserve(claim('open', 100, { amount: 1 }));

    settle(grant, 5);
    const after = await reserve(claim('open', 100, { amount: 0 }));

    expect(used(after)).toBe(6);
  });

  test('what is open when Redis loses its data still takes its places', async () => {
    const { reserve, settle, states } = await open();
    const level = claim('places', 1, { kind: 'level' });
    const grant = await reserve(level);

    await restart(states);
    const beside = await reserve(level);
    settle(grant, 1);
    const after = await reserve(level);

    expect([grant.isGranted, beside.isGranted, after.isGranted]).toEqual([true, false, true]);
  });

  test('without a ledger, settling after a loss releases nothing that others have claimed', async () => {
    const { reserve, settle } = await open();
    const before = await reserve(claim('no ledger', 100, { amount: 40 }));
    await flush();
    await reserve(claim('no ledger', 100, { amount: 50 }));

    settle(before, 5);
    const after = await reserve(claim('no ledger', 100, { amount: 0 }));

    expect(used(after)).toBe(55);
  });

  test('a server that is full counts as away, once, until it takes writes', async () => {
    const { reserve, states } = await open();
    const admin = await connect();
    await admin.config('SET', 'maxmemory', '1');

    const refused = await reserve(claim('unwritable', 10)).catch(reasonOf);
    await until(() => states.length > 0);
    await new Promise((resolve) => setTimeout(resolve, 300)); // in which nothing else is to happen
    const statesMeanwhile = [...states];
    await admin.config('SET', 'maxmemory', '0');
    await until(() => states.at(-1) === true);
    const grant = await reserve(claim('unwritable', 10));

    expect({ refused, statesMeanwhile, granted: grant.isGranted }).toEqual({
      refused: 'limit.state_unavailable',
      statesMeanwhile: [false],
      granted: true,
    });
  });

  test('a request is one command before the call and one after it, however many limits it has', async () => {
    const { reserve, settle } = await open();
    const claims = [
      claim('rate', 10, { kind: 'minute' }),
      claim('level', 10, { kind: 'level' }),
      claim('day', 10),
      claim('month', 10),
    ];
    const warm = await reserve(...claims);
    settle(warm, 1, 1, 1, 1);
    const watcher = await connect();
    const marker = await connect();
    await marker.ping();
    const monitor = await watcher.monitor();
    const sent: string[] = [];
    // Scripts are shown with what they call, which has the address \"lua\".
    monitor.on('monitor', (_time: string, args: string[], source: string) => {
      if (source !== 'lua') sent.push(args[0] as string);
    });

    const grant = await reserve(...claims);
    await marker.echo('reserved');
    settle(grant, 1, 1, 1, 1);
    await until(() => sent.length === 3);

    expect(sent.map((each) => each.toLowerCase())).toEqual(['evalsha', 'echo', 'evalsha']);
    monitor.disconnect();
  });

  test('the budget of a gateway whose clock is weeks behind holds', async () => {
    const { reserve } = await open();
    const longAgo = claim('long ago', 10, { amount: 6, endsMs: Date.now() - 20 * 86_400_000 });

    const grants = [await reserve(longAgo), await reserve(longAgo)];

    expect(grants.map(({ isGranted }) => isGranted)).toEqual([true, false]);
  });

  test('what was counted while the clock of Redis was ahead is not held against a rate for as long', async () => {
    const { reserve } = await open();
    const rate = claim('ahead', 10, { kind: 'minute' });
    const admin = await connect();
    await admin.hset('{gateway}:limits:ahead', String(Math.floor(Date.now() / 1_000) + 86_400), '10');

    const grant = await reserve(rate);

    expect({ isGranted: grant.isGranted, used: used(grant) }).toEqual({ isGranted: true, used: 1 });
  });

  test('a gateway that was held up itself does not take Redis for away', async () => {
    const { reserve, states } = await open();
    const granted = reserve(claim('held up', 10));
    const end = performance.now() + 1_500;
    while (performance.now() < end);

    expect([(await granted).isGranted, states]).toEqual([true, []]);
  });

  test('away at the start: the gateway starts, and counts when it comes', async () => {
    await redis.kill();
    const { reserve, states } = await open();
    const refused = await reserve(claim('late', 1)).catch(() => 'refused');

    await redis.start();
    await until(() => states.at(-1) === true);
    const grant = await reserve(claim('late', 1));

    expect([refused, grant.isGranted]).toEqual(['refused', true]);
  });
});
