import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { startStoreProcess } from '../../../src/plants/process/start-store-process.ts';
import { startProgram } from '../../kit/child.ts';
import { command, failure, homeWith, withoutStore } from '../../kit/command.ts';
import { listening } from '../../kit/listening.ts';
import { freePort } from '../../kit/ports.ts';
import { sampleHealth } from './load.ts';
import { serveStore } from './served-store.ts';

const directory = mkdtempSync(join(tmpdir(), 'plants-process-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const statusOf = (url: string) =>
  fetch(`${url}/plant/1`).then(
    ({ status }) => status,
    () => 0,
  );
let made = 0;
const newDatabase = () => {
  made += 1;
  return `sqlite:${join(directory, `plants-${made}.sqlite`)}`;
};

test('a store that crashes leaves the gateway alone, and is back at its address', async () => {
  const store = await serveStore(newDatabase());
  const health = sampleHealth(store.gatewayUrl);
  const pids = new Set<number>();
  for (let round = 0; round < 3; round += 1) {
    const pid = store.storePid() ?? 0;
    pids.add(pid);
    process.kill(pid, 'SIGKILL');
    while ((await statusOf(store.url)) === 200) await pause(10);
    while ((await statusOf(store.url)) !== 200) await pause(20);
  }
  const me = await fetch(`${store.url}/user/rosa`, { headers: { authorization: `Bearer ${store.token}` } });
  const latencies = await health.stop();
  await store.stop();

  expect(pids.size).toBe(3);
  expect(me.status).toBe(200);
  expect(latencies).toMatchObject({ failures: 0 });
  expect(store.log().match(/plants\.store_ended/g)).toHaveLength(3);
  expect(store.log()).toContain('"cause":"SIGKILL"');
  expect(store.log().match(/plants\.store_restarted/g)).toHaveLength(3);
}, 60_000);

test("the store's process ends with the gateway, also with one that is killed", async () => {
  const store = await serveStore(newDatabase());
  const pid = store.storePid() ?? 0;
  store.kill();
  while (isAlive(pid)) await pause(10);

  expect(await statusOf(store.url)).toBe(0);
});

const settings = (more: object) => ({ host: '127.0.0.1', port: 0, database: newDatabase(), ...more });

test('what keeps it from starting is thrown with its code', async () => {
  const { port } = await listening(createServer());
  const text = join(directory, 'text.txt');
  writeFileSync(text, 'no database');

  const busy = startStoreProcess(settings({ port }), () => undefined);
  await expect(busy).rejects.toMatchObject({ code: 'port.busy' });
  const wrong = startStoreProcess(settings({ database: `sqlite:${text}` }), () => undefined);
  await expect(wrong).rejects.toMatchObject({
    code: 'config.invalid',
    message: `the database ${text} is not a SQLite database`,
  });
});

test('records reach the gateway; its own end is no event', async () => {
  const records: object[] = [];
  const store = await startStoreProcess(settings({}), (record) => records.push(record));
  await statusOf(store.url);
  while (records.length === 0) await pause(10);
  await store.drain();

  expect(records).toMatchObject([{ event: 'plants.request', operation: 'getPlantById', status: 200 }]);
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
  const store = await serveStore(newDatabase(), ['--plants-port', String(port)]);
  const status = await statusOf(`http://127.0.0.1:${port}/v3`);
  await store.stop();
  const files = { 'gateway.yaml': withoutStore };

  expect(status).toBe(200);
  expect(await command('serve -p 0 --plants-port 4999', { files })).toEqual(
    failure(2, '--plants-port: the plant store is off'),
  );
});

test('a database of the default place that cannot be used leaves the gateway running without the store', async () => {
  const database = '.local/state/gateway/plants.sqlite';
  const home = homeWith({ [database]: 'no database' });
  const child = startProgram(['serve', '-p', '0', '--plants-port', '0', '--log', 'json'], home);
  await child.wrote('"listening"');
  child.process.kill('SIGTERM');
  const { exit, stderr } = await child.ended;

  expect(exit).toBe(0);
  expect(stderr).toContain('is not a SQLite database');
  expect(readFileSync(join(home, database), 'utf8')).toBe('no database');
});
