import { Redis } from 'ioredis';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { command } from '../../kit/command.ts';
import { dailyTokensIn, hasRedis, startRedis, type TestRedis } from '../../kit/redis.ts';
import { answering, ask, body, configure, keys, serve, stop, withBudget } from './workers/serving.ts';

// What a Redis that hangs (SIGSTOP) or loses its data under load does to requests and to budgets.
const clients = 16;

type Phase = 'before' | 'away' | 'after';
type Kind = 'budget' | 'rate';

const started: { redis?: TestRedis; loads: { isOver: boolean }[] } = { loads: [] };
afterEach(() => {
  // Of a test that failed in the middle: the next one has its machine and its Redis.
  for (const load of started.loads.splice(0)) load.isOver = true;
  started.redis?.resume();
});
afterAll(async () => {
  await started.redis?.stop();
});

/** A disk that takes longer than two seconds, which a busy machine may have, refuses budgets too. */
function isOfDisk(status: number, text: string): boolean {
  return status === 503 && text.includes('the ledger cannot be written');
}

/** A gateway with two projects under load: one has a budget, one a rate. */
async function underLoad(onFailure: string) {
  started.redis ??= await startRedis();
  const { redis } = started;
  const admin = new Redis(redis.url);
  await admin.flushall();
  const { url: hostUrl } = await answering(20, { afterMs: 20 });
  const [limits, free] = ['tokens_per_day: 1000000000', 'requests_per_minute: 1000000'];
  const more = `state: ${redis.url}\n${onFailure}`;
  const gateway = await serve(withBudget(hostUrl, { limits, free, more }), [], keys);
  const { child, url } = gateway;

  const seen: Record<Phase, { kind: Kind; status: number }[]> = { before: [], away: [], after: [] };
  const load = { phase: 'before' as Phase, isOver: false, slowestMs: 0 };
  started.loads.push(load);
  const client = async (kind: Kind) => {
    const key = kind === 'budget' ? keys.SHOP_KEY : keys.FREE_KEY;
    while (!load.isOver) {
      const { phase } = load;
      const atMs = performance.now();
      const response = await ask({ ...gateway, key }, body);
      const text = await response.text();
      load.slowestMs = Math.max(load.slowestMs, performance.now() - atMs);
      if (phase === load.phase && !isOfDisk(response.status, text))
        seen[phase].push({ kind, status: response.status });
      if (response.status !== 503) continue;
      expect(response.headers.get('retry-after')).toBe('5');
      await new Promise((resume) => setTimeout(resume, 20));
    }
  };
  const running = Promise.all(
    Array.from({ length: clients }, (_, i) => client(i % 2 === 0 ? 'budget' : 'rate')),
  );
  return {
    ...{ admin, child, load, redis, seen },
    /** Until both kinds have been answered several times more. */
    enough: () => {
      const kinds: readonly Kind[] = ['budget', 'rate'];
      const count = () => kinds.map((kind) => seen[load.phase].filter((each) => each.kind === kind).length);
      const before = count();
      const least = () => Math.min(...count().map((each, i) => each - (before[i] ?? 0)));
      return expect.poll(least, { timeout: 60_000 }).toBeGreaterThan(clients);
    },
    statuses: (kind: Kind) =>
      [
        ...new Set(seen[load.phase].filter((each) => each.kind === kind).map(({ status }) => status)),
      ].toSorted(),
    ready: async () => (await fetch(`${url}/readyz`)).json(),
    /** Ends the load and the gateway; what Redis counts for the budget, and what the ledger has. */
    sums: async () => {
      load.isOver = true;
      await running;
      expect(await stop(gateway)).toBe(0);
      const report = await command(['usage', '-o', 'json'], { cwd: gateway.home, env: keys });
      const rows = JSON.parse(report.stdout) as Record<string, number | string>[];
      const shop = rows.find(({ project }) => project === 'shop');
      const sums = {
        inLedger: Number(shop?.input_tokens) + Number(shop?.output_tokens),
        inRedis: await dailyTokensIn(admin, 'shop'),
      };
      admin.disconnect();
      return sums;
    },
  };
}

describe.skipIf(!hasRedis)('a Redis under load', () => {
  test.each([
    ['by default', '', { budget: [503], rate: [200] }],
    ['with on_state_failure: refuse', 'on_state_failure: refuse', { budget: [503], rate: [503] }],
    ['with on_state_failure: local', 'on_state_failure: local', { budget: [200], rate: [200] }],
  ])(
    'that hangs: nothing waits for it, and back again it counts exactly what the ledger has (%s)',
    async (_how, onFailure, expected) => {
      const { child, enough, load, ready, redis, statuses, sums } = await underLoad(onFailure);
      await enough();
      expect([statuses('budget'), statuses('rate')]).toEqual([[200], [200]]);

      redis.pause();
      await child.wrote('limits are not shared');
      load.phase = 'away';
      expect(await ready()).toMatchObject({ status: 'degraded', state: 'redis away' });
      await enough();
      expect(await ready()).toMatchObject({ status: 'degraded', state: 'redis away' });
      expect({ budget: statuses('budget'), rate: statuses('rate') }).toEqual(expected);

      redis.resume();
      await child.wrote('Redis is back');
      await expect.poll(ready).toMatchObject({ status: 'ready', state: 'ok' });
      load.phase = 'after';
      await enough();
      expect([statuses('budget'), statuses('rate')]).toEqual([[200], [200]]);
      const { inLedger, inRedis } = await sums();
      expect(inRedis).toBe(inLedger);
    },
    120_000,
  );

  test('that is emptied again and again: no request fails, and no budget is given back', async () => {
    const { admin, enough, load, statuses, sums } = await underLoad('');
    for (let i = 0; i < 5; i += 1) {
      await enough();
      await admin.flushall();
    }
    await enough();

    expect([statuses('budget'), statuses('rate')]).toEqual([[200], [200]]);
    expect(load.phase).toBe('before');
    const { inLedger, inRedis } = await sums();
    expect(inRedis).toBeGreaterThanOrEqual(inLedger);
  }, 120_000);

  test.each([1, 2])(
    'that is emptied after a reload added a budget: the ledger has it too (workers: %i)',
    async (workers) => {
      started.redis ??= await startRedis();
      const admin = new Redis(started.redis.url);
      await admin.flushall();
      const { url } = await answering();
      const more = `state: ${started.redis.url}`;
      const settings = (limits: string) => withBudget(url, { limits, workers, more });
      const gateway = await serve(settings('requests_per_minute: 1000'), [], keys);
      const spend = async () => {
        for (let served = 0; served < 5; ) {
          const response = await ask(gateway, body);
          if (isOfDisk(response.status, await response.text())) continue;
          expect(response.status).toBe(200);
          served += 1;
        }
      };
      await spend();
      configure(gateway.home, settings('requests_per_minute: 1000, tokens_per_day: 1000000'));
      gateway.child.process.kill('SIGHUP');
      await gateway.child.wrote('configuration reloaded');
      await spend();

      await admin.flushall();
      await spend();
      expect(await stop(gateway)).toBe(0);

      expect(await dailyTokensIn(admin, 'shop')).toBeGreaterThanOrEqual(15 * 120);
      admin.disconnect();
    },
    60_000,
  );
});
