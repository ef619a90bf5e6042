import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { command, emptyDirectory } from '../../kit/command.ts';
import { type Postgres, postgresPrograms, startPostgres } from '../../plants/postgres.ts';
import {
  answering,
  ask,
  body,
  configure,
  type Gateway,
  keys,
  lines,
  maxima,
  serveIn,
  statuses,
  stop,
  withBudget,
} from './workers/serving.ts';

const password = 'S3cret-of-the-ledger!';
const limits = `tokens_per_day: ${120 * 50 + 100}`;
const config = (hostUrl: string, ledger: string, workers = 1) =>
  withBudget(hostUrl, { limits, workers, more: `records: { ${ledger} }` });

async function start(home: string, env: Record<string, string> = {}) {
  const gateway = { ...(await serveIn(home, { env: { ...keys, ...env } })), key: keys.SHOP_KEY };
  return { gateway, free: { ...gateway, key: keys.FREE_KEY } };
}

const status = async (gateway: Gateway) => (await ask(gateway, body)).status;

async function rowsIn(database: string): Promise<number> {
  const client = new pg.Client({ connectionString: database });
  await client.connect();
  try {
    return (await client.query('select from ledger_exchanges')).rows.length;
  } catch {
    return 0; // no table yet
  } finally {
    await client.end();
  }
}

describe.skipIf(postgresPrograms === undefined)('a ledger in PostgreSQL', () => {
  let postgres: Postgres;
  beforeAll(async () => {
    postgres = await startPostgres();
  }, 60_000);
  afterAll(() => postgres?.stop());

  test.each([1, 2])(
    'away at the start: budgets wait for it, the others do not; then they go on where they were (workers: %i)',
    async (workers) => {
      const { url } = await answering();
      const database = await postgres.createDatabase();
      const [one, two] = [emptyDirectory(), emptyDirectory()];
      for (const home of [one, two]) configure(home, config(url, `ledger_database: "${database}"`, workers));
      const first = await start(one);
      expect(new Set(await statuses(first.gateway, 40))).toEqual(new Set([200]));
      const moved = (count: number) => expect.poll(() => rowsIn(database), { timeout: 30_000 }).toBe(count);
      await moved(40); // on a busy machine a stop may leave some to the next start, which is not known elsewhere
      expect(await stop(first.gateway)).toBe(0);
      await postgres.kill();

      // Another machine: what it knows it has from the ledger.
      const second = await start(two);
      const away = [await status(second.gateway), await status(second.free)];
      await postgres.resume();
      const seen: number[] = [];
      const next = async () => {
        const got = await status(second.gateway);
        if (got !== 503) seen.push(got); // one worker may have its sums before the other
        return seen.length;
      };
      await expect.poll(next, { timeout: 30_000 }).toBe(13);

      expect(away).toEqual([503, 200]);
      expect(seen).toEqual([...Array(10).fill(200), ...Array(3).fill(429)]);
      await moved(51);
      expect(await stop(second.gateway)).toBe(0);
      const report = await command(['usage', '--by', 'project', '-o', 'json'], { cwd: one, env: keys });
      expect(JSON.parse(report.stdout)).toMatchObject([
        { project: 'free', requests: 1 },
        { project: 'shop', requests: 50, input_tokens: 1_000, output_tokens: 5_000 },
      ]);
    },
    60_000,
  );

  test('its password is in no log, no error and no answer', async () => {
    const { url } = await answering(20, { content: `it is ${password}` });
    const home = emptyDirectory();
    const ledger = `ledger_database: "postgres://me:\${LEDGER_PASSWORD}@127.0.0.1:1/none"`;
    configure(home, `${config(url, ledger)}\nstate: "redis://:\${LEDGER_PASSWORD}@127.0.0.1:1/0"`);
    const { gateway, free } = await start(home, { LEDGER_PASSWORD: password });

    const answers = [await ask(gateway, body), await ask(free, body)];
    const texts = await Promise.all(answers.map((response) => response.text()));
    const options = { cwd: home, env: { ...keys, LEDGER_PASSWORD: password } };
    const commands = [await command(['usage'], options), await command(['config', 'show'], options)];
    const log = () => lines(gateway.child).join();
    const failing = 'the ledger postgres://127.0.0.1:1/none cannot be written';
    await expect.poll(log, { timeout: 20_000 }).toContain(failing);
    await stop(gateway);

    expect(answers.map((response) => response.status)).toEqual([503, 200]);
    expect(texts[1]).toContain('it is [secret]');
    expect(commands[0]?.stderr).toContain("the ledger postgres://127.0.0.1:1/none can't be read");
    const state = join(home, '.local/state/gateway');
    const files = readdirSync(state, { recursive: true, withFileTypes: true })
      .filter((file) => file.isFile())
      .map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'utf8'));
    const seen = [
      ...texts,
      ...commands.flatMap((each) => [each.stdout, each.stderr]),
      ...lines(gateway.child),
      ...files,
    ];
    expect(seen.filter((text) => text.includes(password))).toEqual([]);
  }, 60_000);
});

test('two gateways with one SQLite file: each writes for itself, and the next start sums up both', async () => {
  const { url } = await answering();
  const [one, two] = [emptyDirectory(), emptyDirectory()];
  const ledger = `ledger_file: ${join(one, 'ledger.sqlite')}`;
  for (const home of [one, two]) configure(home, config(url, ledger));
  const gateways = [await start(one), await start(two)];

  const seen = await Promise.all(
    Array.from({ length: 40 }, (_, i) => status((gateways[i % 2] as (typeof gateways)[number]).gateway)),
  );
  for (const { gateway } of gateways) expect(await stop(gateway)).toBe(0);
  const next = await start(one);

  expect(new Set(seen)).toEqual(new Set([200]));
  expect(await statuses(next.gateway, 12)).toEqual([...Array(10).fill(200), ...Array(2).fill(429)]);
  await stop(next.gateway);
}, 60_000);

test('SIGKILL of a worker: what it had open stays counted by its worst case, and is settled when it is replaced', async () => {
  // Until its worker dies.
  const scripted = await answering(20, { isSilent: (received) => received.includes('"slow"') });
  const home = emptyDirectory();
  configure(home, config(scripted.url, 'ledger: true', 2));
  const { gateway } = await start(home);
  const slow = Array.from({ length: 10 }, () =>
    ask(gateway, { ...body, user: 'slow' }).catch(() => undefined),
  );
  const worst = maxima({ ...body, user: 'slow' });
  await expect.poll(() => scripted.requests.length).toBe(10);
  for (const pid of gateway.workers) process.kill(pid, 'SIGKILL');
  await Promise.all(slow);
  const replaced = () => lines(gateway.child).filter((line) => line.includes('serves in its place')).length;
  await expect.poll(replaced).toBe(2);

  const seen: number[] = [];
  while (seen.at(-1) !== 429 && seen.length < 60) seen.push(await status(gateway));
  const report = async () =>
    JSON.parse((await command(['usage', '-o', 'json'], { cwd: home, env: keys })).stdout) as object[];
  const served = seen.filter((got) => got === 200).length;
  const fits = Math.floor((120 * 50 + 100 - 10 * worst) / 120);
  expect(served).toBeGreaterThanOrEqual(fits - 1);
  expect(served).toBeLessThanOrEqual(fits);
  await expect.poll(report).toMatchObject([{ requests: 10 + served, estimated: 10 }]);
  await stop(gateway);
}, 60_000);
