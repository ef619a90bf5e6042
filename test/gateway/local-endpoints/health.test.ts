import { expect, onTestFinished, test } from 'vitest';
import { startGateway } from '../../kit/gateway.ts';
import { hasRedis, startRedis } from '../../kit/redis.ts';

const readyz = async (url: string) => {
  const answer = await fetch(`${url}/readyz`);
  return [answer.status, await answer.json()];
};
const whole = [200, { status: 'ready', state: 'ok', ledger: 'off' }];

test('it is ready with what limits and usage need', async () => {
  const { url } = await startGateway();

  expect(await readyz(url)).toEqual(whole);
});

test('checks of health are not recorded, and what else asks is', async () => {
  const { url, records } = await startGateway();

  for (const path of ['/healthz', '/readyz', '/health']) await (await fetch(`${url}${path}`)).text();

  await expect.poll(() => records.map(({ path }) => path)).toEqual(['/health']);
});

test.runIf(hasRedis)('it says that Redis is away, and takes work all the same', async () => {
  const redis = await startRedis();
  const { url, stop } = await startGateway(`state: ${redis.url}`);
  onTestFinished(async () => {
    await stop();
    await redis.stop();
  });
  const ready = () => readyz(url);
  expect(await ready()).toEqual(whole);

  await redis.kill();
  await expect.poll(ready).toEqual([200, { status: 'degraded', state: 'redis away', ledger: 'off' }]);

  await redis.start();
  await expect.poll(ready, { timeout: 10_000 }).toEqual(whole);
});
