import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { startStoreOnDemand } from '../../../src/plants/process/start-store-process.ts';
import { emptyDirectory } from '../../kit/command.ts';

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const statusOf = (url: string) =>
  fetch(`${url}/plant/1`).then(
    ({ status }) => status,
    () => 'reset',
  );

async function startIn(folder: string) {
  const records: { event?: string }[] = [];
  const settings = { host: '127.0.0.1', port: 0, database: `sqlite:${join(folder, 'plants.sqlite')}` };
  const store = await startStoreOnDemand(settings, (record) => void records.push(record), process.env);
  onTestFinished(() => store.drain());
  return { ...store, events: () => records.map(({ event }) => event) };
}

/** Which processes of this one serve plants. */
function storePids(): number[] {
  return readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, 'utf8')
    .split(' ')
    .filter((pid) => pid !== '' && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('plant-store'))
    .map(Number);
}

test('the first connections start one process, which then has the address to itself', async () => {
  const store = await startIn(emptyDirectory());
  const before = storePids();
  const statuses = await Promise.all(Array.from({ length: 8 }, () => statusOf(store.url)));
  const [pid = 0, ...others] = storePids();

  expect(before).toEqual([]);
  expect(statuses).toEqual(Array(8).fill(200));
  expect(others).toEqual([]);

  process.kill(pid, 'SIGKILL');
  while (!store.events().includes('plants.store_restarted')) await pause(10);
  const again = await statusOf(store.url);
  await store.drain();

  expect(again).toBe(200);
  expect(storePids()).toEqual([]);
  expect(await statusOf(store.url)).toBe('reset');
});

test('a connection that the process accepts before its store is there is answered', async () => {
  const child = fork(fileURLToPath(new URL('../../../dist/plant-store.js', import.meta.url)), {
    serialization: 'advanced',
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const server = createServer().listen(0, '127.0.0.1');
  await Promise.all([once(child, 'message'), once(server, 'listening')]);
  const { port } = server.address() as AddressInfo;
  const settings = { host: '127.0.0.1', port, database: `sqlite:${join(emptyDirectory(), 'plants.sqlite')}` };
  child.send({ kind: 'start', settings }, server);
  const first = statusOf(`http://127.0.0.1:${port}/v3`);
  server.close(); // the system has the connection; nobody but the child can accept it

  expect(await first).toBe(200);
});

test('a start that fails is logged, and the next connection tries again', async () => {
  const folder = emptyDirectory();
  const file = join(folder, 'plants.sqlite');
  writeFileSync(file, 'no database, but long enough to be looked at as one'.repeat(20));
  const store = await startIn(folder);
  const damaged = await statusOf(store.url);
  rmSync(file);
  const repaired = await statusOf(store.url);

  expect(damaged).toBe('reset');
  expect(store.events()[0]).toBe('plants.store_failed');
  expect(repaired).toBe(200);
});

test('one that was never asked ends without having started', async () => {
  const store = await startIn(emptyDirectory());
  await store.drain();

  expect(storePids()).toEqual([]);
  expect(await statusOf(store.url)).toBe('reset');
});
