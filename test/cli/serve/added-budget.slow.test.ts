import { Redis } from 'ioredis';
import { afterAll, expect, test } from 'vitest';
import { hasRedis, startRedis, type TestRedis } from '../../kit/redis.ts';
import {
  answering,
  body,
  configure,
  type Gateway,
  keys,
  maxima,
  query,
  serve,
  statuses,
  withBudget,
} from './workers/serving.ts';

// A budget that a reload adds has what was used before it: the ledger knows that.
const worst = maxima(body);

let redis: TestRedis | undefined;
afterAll(() => redis?.stop());

/** Waits for the rows, which nothing else does: a budget must find what was used, not what it may have. */
async function settled(home: string, rows: number): Promise<void> {
  const read = () => query(home, 'select sum(requests) as rows from sums');
  await expect.poll(read, { timeout: 20_000 }).toEqual([{ rows }]);
}

async function decided(gateway: Gateway, count: number): Promise<readonly number[]> {
  const seen: number[] = [];
  while (seen.length < count) {
    const [status = 0] = await statuses(gateway, 1);
    if (status !== 503) seen.push(status); // a disk that takes too long on a busy machine
  }
  return seen;
}

test.each([
  { name: 'one process', workers: 1, isShared: false },
  { name: 'two workers', workers: 2, isShared: false },
  ...(hasRedis ? [{ name: 'Redis', workers: 1, isShared: true }] : []),
])(
  'counted in $name, and again after it was removed',
  async ({ workers, isShared }) => {
    if (isShared) redis ??= await startRedis();
    const { url } = await answering(worst - 100);
    const more = `state: ${isShared ? redis?.url : 'memory'}`;
    const yaml = (limits: string) => withBudget(url, { limits, workers, more });
    const budgetFor = (requests: number) => `tokens_per_day: ${worst * requests}`;
    const gateway = await serve(yaml(''), [], keys);
    const reload = async (limits: string) => {
      const before = gateway.child.text('stderr').split('configuration reloaded').length;
      configure(gateway.home, yaml(limits));
      const count = () => gateway.child.text('stderr').split('configuration reloaded').length;
      await expect.poll(count, { timeout: 20_000 }).toBeGreaterThan(before);
    };
    expect(await statuses(gateway, 4)).toEqual(Array(4).fill(200));
    await settled(gateway.home, 4);

    await reload(budgetFor(6));
    expect(await decided(gateway, 4)).toEqual([200, 200, 429, 429]);
    await settled(gateway.home, 6);
    await reload('');
    expect(await statuses(gateway, 3)).toEqual(Array(3).fill(200));
    await settled(gateway.home, 9);
    await reload(budgetFor(10));

    expect(await decided(gateway, 3)).toEqual([200, 429, 429]);
    if (redis === undefined) return;
    await settled(gateway.home, 10);
    const admin = new Redis(redis.url);
    await admin.flushall(); // and what is read from the ledger then has the budget too
    admin.disconnect();
    expect(await decided(gateway, 1)).toEqual([429]);
  },
  120_000,
);
