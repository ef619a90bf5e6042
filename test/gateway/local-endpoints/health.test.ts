import { afterEach, expect, test } from 'vitest';
import { startGateway, type TestGateway } from '../../kit/gateway.ts';
import { hasRedis, startRedis } from '../../kit/redis.ts';

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

async function start(yaml = ''): Promise<TestGateway> {
  const gateway = await startGateway(yaml);
  closing.push(() => gateway.stop());
  return gateway;
}

const ready = async ({ url }: TestGateway) => {
  const answer = await fetch(`${url}/readyz`);
  return [answer.status, await answer.json()];
};

test('it is ready with what limits and usage need', async () => {
  expect(await ready(await start())).toEqual([200, { status: 'ready', state: 'ok', ledger: 'off' }]);
});

test.runIf(hasRedis)('it says that Redis is away, and takes work all the same', async () => {
  const redis = await startRedis();
  closing.push(() => redis.stop());
  const gateway = await start(`state: ${redis.url}`);
  expect(await ready(gateway)).toEqual([200, { status: 'ready', state: 'ok', ledger: 'off' }]);

  await redis.kill();
  let now = await ready(gateway);
  while ((now[1] as { status: string }).status === 'ready') now = await ready(gateway);
  expect(now).toEqual([200, { status: 'degraded', state: 'redis away', ledger: 'off' }]);

  await redis.start();
  while ((now[1] as { status: string }).status !== 'ready') {
    await new Promise((resolve) => setTimeout(resolve, 50));
    now = await ready(gateway);
  }
  expect(now).toEqual([200, { status: 'ready', state: 'ok', ledger: 'off' }]);
});
