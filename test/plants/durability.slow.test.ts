import { Agent, request as openRequest } from 'node:http';
import { afterAll, expect, test } from 'vitest';
import { addUser } from '../../src/plants/store.ts';
import { buildStore, type StoreProcess } from './built-store.ts';
import { describeDatabases } from './databases.ts';
import { logIn, rosa } from './fixture.ts';

const writes = 1_000;
const writers = 8;
const agent = new Agent({ keepAlive: true });

interface Acknowledged {
  readonly id: number;
  readonly name: string;
}

const built = buildStore();
afterAll(() => built.remove());

describeDatabases('what was acknowledged', (databases) => {
  test('is there after kill -9 in the middle of 1,000 writes, four times', async () => {
    const database = await databases.create();
    await addUser(database, rosa);
    let store = await built.start(database);
    const token = await logIn(store);
    const acknowledged: Acknowledged[] = [];

    for (let round = 0; round < 4; round += 1) {
      const killAfter = 40 + round * 110;
      acknowledged.push(...(await writeUntilKilled(store, { token, round, killAfter })));
      store = await built.start(database);
    }
    const stored = await readAll(store);
    await store.kill();

    expect(acknowledged.length).toBeGreaterThanOrEqual(4 * 40 + 6 * 110);
    expect(acknowledged.filter(({ id, name }) => stored.get(id) !== name)).toEqual([]);
  }, 120_000);

  test('is one seeded catalogue where six instances start at once on a new database', async () => {
    const database = await databases.create();

    const stores = await Promise.all(Array.from({ length: 6 }, () => built.start(database)));
    const counts = await Promise.all(stores.map(async (store) => (await readAll(store)).size));
    await Promise.all(stores.map((store) => store.kill()));

    expect(counts).toEqual(Array(6).fill(16));
  }, 60_000);
});

interface Round {
  readonly token: string;
  readonly round: number;
  readonly killAfter: number;
}

/** Writes with several writers until the process is killed under them; gives what was acknowledged. */
async function writeUntilKilled(
  store: StoreProcess,
  { token, round, killAfter }: Round,
): Promise<Acknowledged[]> {
  const acknowledged: Acknowledged[] = [];
  let next = 0;
  let killed: Promise<void> | undefined;
  const write = async () => {
    while (next < writes && killed === undefined) {
      const name = `round ${round} plant ${next}`;
      next += 1;
      const plant = await add(store.url, token, name);
      if (plant === undefined) return;
      acknowledged.push(plant);
      if (acknowledged.length === killAfter) killed = store.kill();
    }
  };
  await Promise.all(Array.from({ length: writers }, write));
  await killed;
  return acknowledged;
}

/** The plant where the whole answer arrived, undefined where the store died before. */
function add(url: string, token: string, name: string): Promise<Acknowledged | undefined> {
  const body = JSON.stringify({ name, tags: ['durable'] });
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
  };
  return new Promise((resolve, reject) => {
    const request = openRequest(`${url}/plant`, { method: 'POST', headers, agent }, (response) => {
      let text = '';
      response.on('data', (chunk) => {
        text += chunk;
      });
      response.on('error', () => resolve(undefined));
      response.on('end', () => {
        if (response.statusCode === 200) return resolve(JSON.parse(text));
        reject(new Error(`a write was answered with ${response.statusCode}: ${text}`));
      });
    });
    request.on('error', () => resolve(undefined));
    request.end(body);
  });
}

async function readAll({ url }: StoreProcess): Promise<ReadonlyMap<number, string>> {
  const names = new Map<number, string>();
  for (let after = 0; ; ) {
    const response = await fetch(`${url}/plant/search/tags?limit=1000&after=${after}`);
    const page = (await response.json()) as Acknowledged[];
    for (const { id, name } of page) names.set(id, name);
    const last = page.at(-1);
    if (last === undefined) return names;
    after = last.id;
  }
}
