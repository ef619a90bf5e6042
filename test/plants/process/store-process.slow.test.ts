import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startStoreProcess } from '../../../src/plants/process/start-store-process.ts';
import { startProgram } from '../../kit/child.ts';
import { command, emptyDirectory, failure, homeWith, withoutStore } from '../../kit/command.ts';
import { listening } from '../../kit/listening.ts';
import { freePort } from '../../kit/ports.ts';
import { describeDatabases, sqliteFiles } from '../databases.ts';
import { readPlants, sampleHealth, writePlants } from './load.ts';
import { serveStore } from './served-store.ts';

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const statusOf = (url: string) =>
  fetch(`${url}/plant/1`).then(
    ({ status }) => status,
    () => 0,
  );
const files = sqliteFiles();
const settings = (database: string, port = 0) => ({ host: '127.0.0.1', port, database });

describeDatabases('the process of the store', (databases) => {
  test('is killed three times under eight writers: the gateway goes on, nothing acknowledged is lost', async () => {
    const store = await serveStore(await databases.create());
    const health = sampleHealth(store.gatewayUrl);
    const load = writePlants(store.url, store.token);
    const acknowledgeMore = async () => {
      const enough = load.acknowledged.length + 100;
      while (load.acknowledged.length < enough) await pause(2);
    };
    const pids = new Set<number>();
    for (let round = 0; round < 3; round += 1) {
      await acknowledgeMore();
      const pid = store.storePid() ?? 0;
      pids.add(pid);
      process.kill(pid, 'SIGKILL');
    }
    await acknowledgeMore(); // at the same address, in the same session
    await load.stop();
    const latencies = await health.stop();
    const stored = await readPlants(store.url);
    await store.stop();

    expect(pids.size).toBe(3);
    expect(load.acknowledged.filter(({ id, name }) => stored.get(id) !== name)).toEqual([]);
    expect(Object.keys(load.statuses).sort()).toEqual(['200', 'cut']);
    expect(latencies).toMatchObject({ failures: 0 });
    expect(store.log().match(/plants\.store_ended/g)).toHaveLength(3);
    expect(store.log()).toContain('"cause":"SIGKILL"');
    expect(store.log().match(/plants\.store_restarted/g)).toHaveLength(3);
  }, 60_000);

  test('is one of six that start at once on a new database, which is seeded once', async () => {
    const database = await databases.create();

    const starting = Array.from({ length: 6 }, () =>
      startStoreProcess(settings(database), () => undefined, {}),
    );
    const stores = await Promise.all(starting);
    const counts = await Promise.all(stores.map(async ({ url }) => (await readPlants(url)).size));
    await Promise.all(stores.map((store) => store.drain()));

    expect(counts).toEqual(Array(6).fill(16));
  }, 60_000);
});

test("the store's process ends with the gateway, also with one that is killed", async () => {
  const store = await serveStore(await files.create());
  const pid = store.storePid() ?? 0;
  store.kill();
  while (isAlive(pid)) await pause(10);

  expect(await statusOf(store.url)).toBe(0);
});

test('what keeps it from starting is thrown with its code', async () => {
  const { port } = await listening(createServer());
  const text = join(emptyDirectory(), 'text.txt');
  writeFileSync(text, 'no database');

  const busy = startStoreProcess(settings(await files.create(), port), () => undefined, {});
  await expect(busy).rejects.toMatchObject({ code: 'port.busy' });
  const wrong = startStoreProcess(settings(`sqlite:${text}`), () => undefined, {});
  await expect(wrong).rejects.toMatchObject({
    code: 'config.invalid',
    message: `the database ${text} is not a SQLite database`,
  });
});

test('records reach the gateway; its own end is no event', async () => {
  const records: object[] = [];
  const store = await startStoreProcess(settings(await files.create()), (record) => records.push(record), {});
  await statusOf(store.url);
  while (records.length === 0) await pause(10);
  await store.drain();

  expect(records).toMatchObject([{ event: 'plants.request', operation: 'getPlantById', status: 200 }]);
});

test('its environment has no variable of a provider, and those of its database', async () => {
  const env = { ANTHROPIC_API_KEY: 'sk-ant-secret', AWS_SECRET_ACCESS_KEY: 'secret', PGCONNECT_TIMEOUT: '7' };
  const store = await startStoreProcess(settings(await files.create()), () => undefined, {
    ...process.env,
    ...env,
  });
  const children = readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, 'utf8')
    .trim()
    .split(' ');
  const environments = children.map((pid) => readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0'));
  await store.drain();

  const [own] = environments.filter((variables) => variables.includes('PGCONNECT_TIMEOUT=7'));
  expect(own?.filter((variable) => /^(?:ANTHROPIC|AWS)/.test(variable))).toEqual([]);
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

test('serve puts the store on the port of --plants-port, which needs a store', async () => {
  const port = await freePort();
  const store = await serveStore(await files.create(), ['--plants-port', String(port)]);
  const status = await statusOf(`http://127.0.0.1:${port}/v3`);
  await store.stop();

  expect(status).toBe(200);
  expect(await command('serve -p 0 --plants-port 4999', { files: { 'gateway.yaml': withoutStore } })).toEqual(
    failure(2, '--plants-port: the plant store is off'),
  );
});

test('a database of the default place that cannot be used leaves the gateway running without the store', async () => {
  const database = '.local/state/gateway/plants.sqlite';
  const home = homeWith({ [database]: 'no database' });
  const child = startProgram(['serve', '-p', '0', '--plants-port', '0', '--log', 'json'], home);
  await child.wrote('"listening"');
  const url = /http:[^"]+\/v3/.exec(child.text('stderr'))?.[0] ?? '';
  const status = await statusOf(url); // its process starts with the first connection
  await child.wrote('plants.store_failed');
  child.process.kill('SIGTERM');
  const { exit, stderr } = await child.ended;

  expect(status).toBe(0);
  expect(exit).toBe(0);
  expect(stderr).toContain('is not a SQLite database');
  expect(readFileSync(join(home, database), 'utf8')).toBe('no database');
});
