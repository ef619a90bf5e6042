import { connect, createServer } from 'node:net';
import { expect, test } from 'vitest';
import { startStore } from '../../../src/plants/store.ts';
import { listening } from '../../kit/listening.ts';
import { describePostgres } from '../databases.ts';
import { send } from '../http.ts';
import type { Postgres } from '../postgres.ts';
import { watch } from '../watcher.ts';
import { readPlants, sampleHealth, writePlants } from './load.ts';
import { type ServedStore, serveStore } from './served-store.ts';

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Runs the trouble under eight writers, and checks that nothing got lost, and that events come again. */
async function survive(store: ServedStore, trouble: (recovered: () => Promise<void>) => Promise<void>) {
  const health = sampleHealth(store.gatewayUrl);
  const load = writePlants(store.url, store.token);
  await pause(300);
  // It works again by itself: some more writes are acknowledged.
  const recovered = async () => {
    const enough = load.acknowledged.length + 50;
    while (load.acknowledged.length < enough) await pause(20);
  };
  await trouble(recovered);
  await recovered();
  await load.stop();
  const latencies = await health.stop();

  const stored = await readPlants(store.url);
  await seesEvents(store);

  expect(store.isGatewayAlive()).toBe(true);
  expect(load.acknowledged.filter(({ id, name }) => stored.get(id) !== name)).toEqual([]);
  expect(Object.keys(load.statuses).filter((status) => status !== '200' && status !== '503')).toEqual([]);
  expect(load.withoutRetryAfter).toBe(0);
  expect(load.slowestMs).toBeLessThan(15_000);
  expect(latencies).toMatchObject({ failures: 0 });
  expect(latencies.answers).toBeGreaterThan(20);
  expect(store.log()).not.toContain('plants.store_ended');
}

/** A watcher that is accepted by now gets the next plant. */
async function seesEvents({ url, token }: ServedStore) {
  const open = () => watch({ url, token }, { action: 'subscribe' }).catch(() => undefined);
  let watcher = await open();
  for (; watcher === undefined; watcher = await open()) await pause(50);
  const body = { name: 'after the trouble' };
  expect((await send(url, { token, method: 'POST', path: '/plant', body })).status).toBe(200);
  await watcher.received(1);
  await watcher.close();
  expect(watcher.events).toMatchObject([{ data: { name: 'after the trouble' } }]);
}

/** Passes connections on to PostgreSQL until told otherwise. */
async function startWire(postgres: Postgres) {
  let isCut = false;
  const server = createServer((near) => {
    const far = connect(postgres.socket);
    near.on('error', () => undefined).on('close', () => far.destroy());
    far.on('error', () => undefined).on('close', () => near.destroy());
    near.on('data', (data) => isCut || far.write(data));
    far.on('data', (data) => isCut || near.write(data));
  });
  const { port, sockets, close } = await listening(server);
  return {
    through: (database: string) =>
      `postgres://plants@127.0.0.1:${port}/${new URL(database).pathname.slice(1)}`,
    /** Nothing passes any more, and nobody gets to know. */
    cut: () => {
      isCut = true;
    },
    mend: () => {
      isCut = false;
      for (const near of sockets) near.destroy();
    },
    close,
  };
}

describePostgres('the store of gateway serve', (databases, postgres) => {
  const terminateConnections = () =>
    postgres().run(
      "select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'plant store%'",
    );

  test.each([
    ['restarted', () => postgres().restart()],
    [
      'killed',
      async () => {
        await postgres().kill();
        await pause(200);
        await postgres().resume();
      },
    ],
  ])(
    'loses nothing while PostgreSQL is %s five times under eight writers',
    async (_how, end) => {
      const store = await serveStore(await databases.create());
      await survive(store, async (recovered) => {
        for (let round = 0; round < 5; round += 1) {
          await end();
          await recovered();
        }
      });
      await store.stop();
    },
    120_000,
  );

  test('loses nothing while it is cut off from PostgreSQL without a word', async () => {
    const wire = await startWire(postgres());
    const store = await serveStore(wire.through(await databases.create()));
    await survive(store, async () => {
      wire.cut();
      await pause(12_000);
      wire.mend();
    });
    await store.stop();
    await wire.close();
  }, 120_000);

  test('answers 503 while PostgreSQL has no connection left, and continues when it has', async () => {
    const database = await databases.create();
    const name = new URL(database).pathname.slice(1);
    // Limits don't hold for the administrator.
    await postgres().run(`create role gardener login; alter database ${name} owner to gardener`);
    const store = await serveStore(database.replace('plants@', 'gardener@'));
    await survive(store, async () => {
      await postgres().run(`alter database ${name} connection limit 0`);
      await terminateConnections();
      await pause(1_500);
      await postgres().run(`alter database ${name} connection limit -1`);
    });
    await store.stop();
  }, 120_000);

  test('starts before PostgreSQL does, and answers 503 until then', async () => {
    const database = await databases.create();
    const first = await serveStore(database);
    await first.stop();
    await postgres().halt();
    const store = await startStore({ host: '127.0.0.1', port: 0, database, log: () => undefined });
    const early = await fetch(`${store.url}/plant/1`);
    const docs = await fetch(`${store.url}/openapi.json`);
    await postgres().resume();
    let late = await fetch(`${store.url}/plant/1`);
    for (let attempt = 0; attempt < 200 && late.status !== 200; attempt += 1) {
      await pause(50);
      late = await fetch(`${store.url}/plant/1`);
    }
    await store.drain();

    expect(early.status).toBe(503);
    expect(early.headers.get('retry-after')).toBe('1');
    expect(docs.status).toBe(200);
    expect(late.status).toBe(200);
  }, 60_000);
});
