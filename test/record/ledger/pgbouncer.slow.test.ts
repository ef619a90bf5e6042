import { chownSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  answering,
  configure,
  type Gateway,
  keys,
  lines,
  serveIn,
  statuses,
  stop,
  withBudget,
} from '../../cli/serve/workers/serving.ts';
import { command, emptyDirectory, homeWith, startServing } from '../../kit/command.ts';
import { freePort } from '../../kit/ports.ts';
import { isInstalled, startRealProgram } from '../../kit/real-program.ts';
import { ownerForRoot, type Postgres, postgresPrograms, startPostgres } from '../../plants/postgres.ts';

/** PgBouncer before a PostgreSQL, each transaction on whichever of two connections is free; its URL without a database. */
async function startPgBouncer(postgres: Postgres, settings = ''): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-pgbouncer-'));
  const port = await freePort();
  const file = join(folder, 'pgbouncer.ini');
  const text = `[databases]
* = host=${dirname(postgres.socket)} user=plants
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 2
server_round_robin = 1
${settings}
`;
  writeFileSync(file, text);
  const owner = ownerForRoot();
  if (owner !== undefined) for (const path of [folder, file]) chownSync(path, owner.uid, owner.gid);
  await startRealProgram(['pgbouncer', file], port, { cwd: folder, ...owner });
  return `postgres://plants@127.0.0.1:${port}`;
}

const ignoring = 'ignore_startup_parameters = statement_timeout';
const remedy =
  'let the pooler in between ignore statement_timeout: in PgBouncer, ignore_startup_parameters = statement_timeout';

describe.skipIf(postgresPrograms === undefined || !isInstalled('pgbouncer'))('behind PgBouncer', () => {
  let postgres: Postgres;
  beforeAll(async () => {
    postgres = await startPostgres();
  }, 60_000);
  afterAll(() => postgres?.stop());

  const createDatabase = async () => new URL(await postgres.createDatabase()).pathname;

  test('gateways share a ledger, whichever connection a transaction gets', async () => {
    const { url } = await answering();
    const database = (await startPgBouncer(postgres, ignoring)) + (await createDatabase());
    const homes = [emptyDirectory(), emptyDirectory()];
    const gateways: Gateway[] = [];
    for (const home of homes) {
      configure(home, withBudget(url, { more: `records: { ledger_database: "${database}" }` }));
      gateways.push(await serveIn(home));
    }
    const usage = async () =>
      JSON.parse((await command('usage --by project -o json', { cwd: homes[0] ?? '', env: keys })).stdout);

    const seen: number[] = [];
    for (let count = 4; count <= 40; count += 4) {
      seen.push(...(await statuses(gateways[(count / 4) % 2] as Gateway, 4)));
      await expect.poll(usage, { timeout: 30_000 }).toMatchObject([{ project: 'shop', requests: count }]);
    }

    for (const gateway of gateways) expect(await stop(gateway)).toBe(0);
    expect(seen).toEqual(Array(40).fill(200));
    const log = gateways.flatMap(({ child }) => lines(child));
    expect(log.filter((line) => line.includes('cannot be written'))).toEqual([]);
  });

  test('as it is installed: the ledger waits, and what is to be set there is said', async () => {
    const { url } = await answering();
    const database = (await startPgBouncer(postgres)) + (await createDatabase());
    const home = emptyDirectory();
    configure(home, withBudget(url, { more: `records: { ledger_database: "${database}" }` }));
    const environment = { cwd: home, env: keys };

    const gateway = await serveIn(home);
    const seen = await statuses({ ...gateway, key: keys.FREE_KEY }, 2);
    const log = () => lines(gateway.child).join('\n');
    await expect.poll(log, { timeout: 30_000 }).toContain(remedy);
    const doctor = await command('doctor', environment);
    const usage = await command('usage', environment);
    await stop(gateway);

    expect(seen).toEqual([200, 200]);
    expect(doctor.stdout).toMatch(new RegExp(`error\\s+ledger\\s.*statement_timeout\\s+${remedy}`));
    expect(usage.stderr).toContain(remedy);
    expect(log() + doctor.stdout + usage.stderr).not.toMatch(/check user|password/);
  });

  test('the plant store finds and changes plants', async () => {
    const database = (await startPgBouncer(postgres, ignoring)) + (await createDatabase());
    const cwd = homeWith({ 'gateway.yaml': `plants: { store: { port: 0, database: "${database}" } }\n` });
    const gateway = await startServing({ cwd });

    const reset = await command('plants user reset', { cwd });
    const login = await command('login -u demo --password-stdin', { cwd, stdin: reset.stdout });
    const searches = [];
    for (let i = 0; i < 6; i += 1) searches.push(await command('plants search --limit 1 -o json', { cwd }));
    await gateway.stop();

    expect([reset.exit, login.exit]).toEqual([0, 0]);
    for (const search of searches) expect(search.json).toMatchObject([{ id: expect.any(Number) }]);
  });
});
