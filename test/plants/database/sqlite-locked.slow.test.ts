import { expect, test } from 'vitest';
import { openSqlite } from '../../../src/database/sqlite-engine.ts';
import { sqliteFiles } from '../databases.ts';
import { startTestStore } from '../fixture.ts';
import { readPlants, sampleHealth, writePlants } from '../process/load.ts';
import { serveStore } from '../process/served-store.ts';

const databases = sqliteFiles();
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Another program that writes to the same file. */
async function holdLock(database: string) {
  const { writer, reader } = await openSqlite(database.slice('sqlite:'.length));
  writer.exec('PRAGMA busy_timeout = 5000; begin immediate');
  return () => {
    writer.exec('rollback');
    reader.close();
    writer.close();
  };
}

test('a lock of another process holds up neither the gateway nor reads; writes get 503 in bounded time', async () => {
  const database = await databases.create();
  const store = await serveStore(database);
  const health = sampleHealth(store.gatewayUrl);
  const load = writePlants(store.url, store.token);
  await pause(500);
  const before = load.acknowledged.length;
  const release = await holdLock(database);
  const reads: number[] = [];
  for (const until = performance.now() + 10_000; performance.now() < until; await pause(20)) {
    const startedMs = performance.now();
    const { status } = await fetch(`${store.url}/plant/1`);
    expect(status).toBe(200);
    reads.push(performance.now() - startedMs);
  }
  const during = load.acknowledged.length;
  release();
  while (load.acknowledged.length < during + 20) await pause(20);
  await load.stop();
  const latencies = await health.stop();
  const stored = await readPlants(store.url);
  await store.stop();
  const worstRead = Math.max(...reads);

  // One more may have been under way when the lock was taken.
  expect(during - before).toBeLessThanOrEqual(8);
  expect(load.statuses['503']).toBeGreaterThanOrEqual(8);
  expect(Object.keys(load.statuses).sort()).toEqual(['200', '503']);
  expect(load.withoutRetryAfter).toBe(0);
  expect(load.slowestMs).toBeLessThan(8_000);
  expect(worstRead).toBeLessThan(2_000);
  expect(latencies).toMatchObject({ failures: 0 });
  expect(latencies.worstMs).toBeLessThan(2_000);
  expect(load.acknowledged.filter(({ id, name }) => stored.get(id) !== name)).toEqual([]);
}, 60_000);

test('a lock that is held for a moment costs a write that moment', async () => {
  const store = await startTestStore(databases);
  const release = await holdLock(store.database);
  setTimeout(release, 400);
  const { status } = await store.add({ name: 'Waited' });
  await store.drain();

  expect(status).toBe(200);
});
