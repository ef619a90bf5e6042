import { describe, expect, onTestFinished, test } from 'vitest';
import { hasRedis, startRedis } from '../../kit/redis.ts';
import { answering, keys, serve, statuses, withBudget } from './workers/serving.ts';

// What a Redis that hangs does to a gateway; what it does to counters: test/limits/redis-counters.slow.test.ts.

describe.skipIf(!hasRedis)('while Redis hangs', () => {
  test.each([
    ['by default budgets are refused, and rates counted here', '', [503, 200]],
    ['with on_state_failure: refuse both are refused', 'on_state_failure: refuse', [503, 503]],
    ['with on_state_failure: local both are counted here', 'on_state_failure: local', [200, 200]],
  ])('%s', { timeout: 60_000 }, async (_how, onFailure, expected) => {
    const redis = await startRedis();
    onTestFinished(() => redis.stop());
    const [limits, free] = ['tokens_per_day: 1000000', 'requests_per_minute: 1000'];
    const more = `state: ${redis.url}\nrecords: { ledger: false }\n${onFailure}`;
    const gateway = await serve(withBudget((await answering()).url, { limits, free, more }), [], keys);
    const budgetAndRate = async () => [
      ...(await statuses(gateway, 1)),
      ...(await statuses({ ...gateway, key: keys.FREE_KEY }, 1)),
    ];
    expect(await budgetAndRate()).toEqual([200, 200]);

    redis.pause();
    onTestFinished(() => redis.resume());
    expect(await budgetAndRate()).toEqual(expected);
    await gateway.child.wrote('limits are not shared');
    redis.resume();
    await gateway.child.wrote('Redis is back');

    expect(await budgetAndRate()).toEqual([200, 200]);
  });
});
