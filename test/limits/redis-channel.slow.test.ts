import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { openRedisChannel } from '../../src/limits/redis/redis-channel.ts';
import { hasRedis, startRedis, type TestRedis } from '../kit/redis.ts';

describe.skipIf(!hasRedis)('channels of the databases of one Redis', () => {
  let redis: TestRedis;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.stop());

  async function open(database: number) {
    const heard: string[] = [];
    const url = redis.url.replace(/\d*$/, String(database));
    const channel = await openRedisChannel(url, 'news', (text) => heard.push(text));
    onTestFinished(() => channel.close());
    return { ...channel, heard };
  }

  test('what is sent in one is heard and stored in that one alone', async () => {
    const [zero, one, other] = [await open(0), await open(1), await open(1)];

    one.publish('of 1', { id: 'a', forMs: 60_000 });
    await expect.poll(() => other.heard).toEqual(['of 1']);
    zero.publish('of 0', { id: 'b', forMs: 60_000 });
    await expect.poll(() => zero.heard).toEqual(['of 0']);

    expect(other.heard).toEqual(['of 1']);
    expect((await open(1)).heard).toEqual(['of 1']);
    expect((await open(0)).heard).toEqual(['of 0']);
  });

  test('one with a number that does not exist hears, sends and stores nothing in number 0', async () => {
    const client = new Redis(redis.url);
    onTestFinished(() => client.disconnect());
    const zero = await open(0);
    zero.publish('begin', { id: 'c', forMs: 60_000 });
    await expect.poll(() => zero.heard).toContain('begin');
    const keys = await client.keys('*');

    const missing = await open(99);
    missing.publish('of 99', { id: 'd', forMs: 60_000 });
    missing.retract('of 99', 'c');
    zero.publish('end', { id: 'c', forMs: 60_000 });
    await expect.poll(() => zero.heard).toContain('end');

    expect(missing.heard).toEqual([]);
    expect(zero.heard).not.toContain('of 99');
    expect((await client.keys('*')).toSorted()).toEqual(keys.toSorted());
  });
});
