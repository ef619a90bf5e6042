import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Child } from '../../kit/child.ts';
import { startProgram } from '../../kit/child.ts';
import { command, emptyDirectory } from '../../kit/command.ts';
import { type Postgres, postgresPrograms, startPostgres } from '../../plants/postgres.ts';
import { ask, configure, type Gateway, host, lines } from './workers/serving.ts';

const keys = { SHOP_KEY: 'a-project-key-with-a-budget', FREE_KEY: 'a-project-key-without-a-budget' };
const password = 'S3cret-of-the-ledger!';
const body = { model: 'gpt-test', messages: [{ role: 'user', content: 'hi' }], max_tokens: 100 };
const usage = { prompt_tokens: 20, completion_tokens: 100, total_tokens: 120 };
const answer = JSON.stringify({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'gpt-test',
  choices: [{ index: 0, message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' }],
  usage,
});

const config = (hostUrl: string, ledger: string, workers = 1) => `
server: { workers: ${workers} }
records: { ${ledger} }
providers: { gpt: { dialect: openai, base_url: "${hostUrl}/v1" } }
models: [{ match: "gpt-*", provider: gpt }]
projects:
  shop:
    limits: { tokens_per_day: ${120 * 50 + 100} }
    keys: [{ id: shop-web, value: "\${SHOP_KEY}" }]
  free:
    keys: [{ id: free-web, value: "\${FREE_KEY}" }]
`;

const running: Child[] = [];
afterAll(() => {
  for (const child of running) child.process.kill('SIGKILL');
});

async function start(home: string, env: Record<string, string> = {}) {
  const child = startProgram(['serve', '-p', '0'], home, { ...keys, ...env });
  running.push(child);
  await child.wrote('"listening"');
  const { url, workers = [] } = JSON.parse(lines(child).find((line) => line.includes('"listening"')) ?? '{}');
  const gateway = { child, home, url: url as string, key: keys.SHOP_KEY, workers: workers as number[] };
  return { gateway, free: { ...gateway, key: keys.FREE_KEY } };
}

async function stop({ child }: Gateway): Promise<number | null> {
  child.process.kill('SIGTERM');
  return (await child.ended).exit;
}

const answering = () =>
  host((response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(answer);
  });

const status = async (gateway: Gateway) => (await ask(gateway, body)).status;

describe.skipIf(postgresPrograms === undefined)('a ledger in PostgreSQL', () => {
  let postgres: Postgres;
  beforeAll(async () => {
    postgres = await startPostgres();
  }, 60_000);
  afterAll(() => postgres?.stop());

  async function query<Row>(url: string, sql: string): Promise<readonly Row[]> {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    const { rows } = await client.query(sql);
    await client.end();
    return rows as Row[];
  }

  test.each([1, 2])(
    'away at the start: budgets wait for it, the others do not; then they go on where they were (workers: %i)',
    async (workers) => {
      const { url } = await answering();
      const database = await postgres.createDatabase();
      const [one, two] = [emptyDirectory(), emptyDirectory()];
      for (const home of [one, two]) configure(home, config(url, `ledger_database: "${database}"`, workers));
      const first = await start(one);
      for (let i = 0; i < 40; i += 1) expect(await status(first.gateway)).toBe(200);
      expect(await stop(first.gateway)).toBe(0);
      await postgres.kill();

      // Another machine: what it knows it has from the ledger.
      const second = await start(two);
      const away = [await status(second.gateway), await status(second.free)];
      await postgres.resume();
      const statuses: number[] = [];
      const next = async () => {
        const got = await status(second.gateway);
        if (got !== 503) statuses.push(got); // one worker may have its sums before the other
        return statuses.length;
      };
      await expect.poll(next, { timeout: 30_000 }).toBe(13);

      expect(away).toEqual([503, 200]);
      expect(statuses).toEqual([...Array(10).fill(200), ...Array(3).fill(429)]);
      expect(await stop(second.gateway)).toBe(0);
      const report = await command(['usage', '--by', 'project', '-o', 'json'], { cwd: one, env: keys });
      expect(JSON.parse(report.stdout)).toMatchObject([
        { project: 'free', requests: 1 },
        { project: 'shop', requests: 50, input_tokens: 1_000, output_tokens: 5_000 },
      ]);
    },
    60_000,
  );

  test('gone, and hanging, in mid-run: all requests go on, and once it is back nothing is missing', async () => {
    const { url } = await answering();
    const database = await postgres.createDatabase();
    const home = emptyDirectory();
    configure(home, config(url, `ledger_database: "${database}"`));
    const { gateway, free } = await start(home);
    expect(await status(gateway)).toBe(200);

    const ready = async () => (await (await fetch(`${gateway.url}/readyz`)).json()) as object;
    await postgres.kill();
    expect([await status(gateway), await status(free)]).toEqual([200, 200]);
    await expect.poll(ready).toMatchObject({ status: 'degraded', ledger: 'failing' });
    expect([await status(gateway), await status(free)]).toEqual([200, 200]);
    await postgres.resume();
    await expect.poll(ready).toMatchObject({ status: 'ready', ledger: 'ok' });

    const locker = new pg.Client({ connectionString: database });
    await locker.connect();
    await locker.query('begin; lock table ledger_exchanges in access exclusive mode');
    for (let i = 0; i < 20; i += 1) expect(await status(free)).toBe(200);
    expect(await status(gateway)).toBe(200);
    const usage = ['usage', '--by', 'project', '-o', 'json'];
    await locker.query('rollback');
    await locker.end();
    await stop(gateway);

    expect(JSON.parse((await command(usage, { cwd: home, env: keys })).stdout)).toMatchObject([
      { project: 'free', requests: 22, estimated: 0 },
      { project: 'shop', requests: 4, estimated: 0 },
    ]);
    expect(await query(database, 'select count(*)::int as rows from ledger_exchanges')).toEqual([
      { rows: 26 },
    ]);
  }, 60_000);

  test('read-only: the log has that too, not only the lost connection', async () => {
    const { url } = await answering();
    const database = await postgres.createDatabase();
    const name = new URL(database).pathname.slice(1);
    const disconnect = `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`;
    const home = emptyDirectory();
    configure(home, config(url, `ledger_database: "${database}"`));
    const { gateway } = await start(home);
    expect(await status(gateway)).toBe(200);

    await postgres.run(`alter database ${name} set default_transaction_read_only = on`);
    await postgres.run(disconnect);
    expect(await status(gateway)).toBe(200);
    await gateway.child.wrote('in a read-only transaction');
    await postgres.run(`alter database ${name} set default_transaction_read_only = off`);
    await postgres.run(disconnect);
    await gateway.child.wrote('can be written again');
    await stop(gateway);
  }, 60_000);

  test('its password is in no log, no error and no answer', async () => {
    const { url } = await host((response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(answer.replace('hello', `it is ${password}`));
    });
    const home = emptyDirectory();
    const ledger = `ledger_database: "postgres://me:\${LEDGER_PASSWORD}@127.0.0.1:1/none"`;
    configure(home, `${config(url, ledger)}\nstate: "redis://:\${LEDGER_PASSWORD}@127.0.0.1:1/0"`);
    const { gateway, free } = await start(home, { LEDGER_PASSWORD: password });

    const answers = [await ask(gateway, body), await ask(free, body)];
    const texts = await Promise.all(answers.map((response) => response.text()));
    const options = { cwd: home, env: { ...keys, LEDGER_PASSWORD: password } };
    const commands = [await command(['usage'], options), await command(['config', 'show'], options)];
    await stop(gateway);

    expect(answers.map((response) => response.status)).toEqual([503, 200]);
    expect(texts[1]).toContain('it is [secret]');
    expect(commands[0]?.stderr).toContain("the ledger postgres://127.0.0.1:1/none can't be read");
    expect(lines(gateway.child).join()).toContain('the ledger postgres://127.0.0.1:1/none cannot be written');
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

  test.each(['file', 'database'])(
    'SIGTERM in a burst: what was answered is in the ledger, nothing is left open (%s)',
    async (kind) => {
      const scripted = await host((response) => {
        setTimeout(() => {
          response.writeHead(200, { 'content-type': 'application/json' });
          response.end(answer);
        }, 60);
      });
      const database = await postgres.createDatabase();
      const home = emptyDirectory();
      configure(
        home,
        config(scripted.url, kind === 'file' ? 'ledger: true' : `ledger_database: "${database}"`, 2),
      );
      const { gateway, free } = await start(home);
      const burst = Array.from({ length: 120 }, () =>
        ask(free, body).then(
          (response) => response.text(),
          () => '',
        ),
      );
      await expect.poll(() => scripted.requests.length, { interval: 1 }).toBeGreaterThan(20);
      gateway.child.process.kill('SIGTERM');
      const { exit } = await gateway.child.ended;
      const answered = (await Promise.all(burst)).filter((text) => text.includes('chatcmpl-1')).length;

      const report = await command(['usage', '-o', 'json'], { cwd: home, env: keys });
      expect(exit).toBe(0);
      expect(answered).toBeGreaterThan(0);
      expect(JSON.parse(report.stdout)).toMatchObject([
        { project: 'free', requests: answered, estimated: 0 },
      ]);
    },
    60_000,
  );
});

test('two gateways with one SQLite file: each writes for itself, and the next start sums up both', async () => {
  const { url } = await answering();
  const [one, two] = [emptyDirectory(), emptyDirectory()];
  const ledger = `ledger_file: ${join(one, 'ledger.sqlite')}`;
  for (const home of [one, two]) configure(home, config(url, ledger));
  const gateways = [await start(one), await start(two)];

  const statuses = await Promise.all(
    Array.from({ length: 40 }, (_, i) => status((gateways[i % 2] as (typeof gateways)[number]).gateway)),
  );
  for (const { gateway } of gateways) expect(await stop(gateway)).toBe(0);
  const next = await start(one);
  const after: number[] = [];
  for (let i = 0; i < 12; i += 1) after.push(await status(next.gateway));

  expect(new Set(statuses)).toEqual(new Set([200]));
  expect(after).toEqual([...Array(10).fill(200), ...Array(2).fill(429)]);
  await stop(next.gateway);
}, 60_000);

test('SIGKILL of a worker: what it had open stays counted by its worst case, and is settled when it is replaced', async () => {
  const scripted = await host((response, { body: received }) => {
    if (received.includes('"slow"')) return; // until its worker dies
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(answer);
  });
  const home = emptyDirectory();
  configure(home, config(scripted.url, 'ledger: true', 2));
  const { gateway } = await start(home);
  const slow = Array.from({ length: 10 }, () =>
    ask(gateway, { ...body, user: 'slow' }).catch(() => undefined),
  );
  const worst = Math.ceil(JSON.stringify({ ...body, user: 'slow' }).length / 3) + 100;
  await expect.poll(() => scripted.requests.length).toBe(10);
  for (const pid of gateway.workers) process.kill(pid, 'SIGKILL');
  await Promise.all(slow);
  const replaced = () => lines(gateway.child).filter((line) => line.includes('serves in its place')).length;
  await expect.poll(replaced).toBe(2);

  const statuses: number[] = [];
  while (statuses.at(-1) !== 429 && statuses.length < 60) statuses.push(await status(gateway));
  const report = async () =>
    JSON.parse((await command(['usage', '-o', 'json'], { cwd: home, env: keys })).stdout) as object[];
  const served = statuses.filter((got) => got === 200).length;
  const fits = Math.floor((120 * 50 + 100 - 10 * worst) / 120);
  expect(served).toBeGreaterThanOrEqual(fits - 1);
  expect(served).toBeLessThanOrEqual(fits);
  await expect.poll(report).toMatchObject([{ requests: 10 + served, estimated: 10 }]);
  await stop(gateway);
}, 60_000);
