import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { Diagnosis } from '../../src/cli/doctor/finding.ts';
import { createWorkspace } from '../config/workspace.ts';
import { command, withoutStore } from '../kit/command.ts';
import { hasRedis, startRedis, type TestRedis } from '../kit/redis.ts';
import { isExhaustive } from '../kit/scale.ts';
import { type Postgres, postgresPrograms, startPostgres } from '../plants/postgres.ts';

const ports = `server: { port: 0 }\n${withoutStore}`;
const inRedis = (url: string) => `state: "${url}"`;
const inFile = (file: string) => `records: { ledger: true, ledger_file: "${file}" }`;
const inPostgres = (url: string) => `records: { ledger: true, ledger_database: "${url}" }`;

/** What the doctor says of Redis and the ledger, each as one line. */
async function examine(stores: string): Promise<string[]> {
  const cwd = createWorkspace({ 'gateway.yaml': `${ports}${stores}\n` });
  const { stdout } = await command(['doctor', '-o', 'json', '--timeout', '1'], { cwd });
  const { findings } = JSON.parse(stdout) as { findings: Diagnosis[] };
  return findings
    .filter(({ subject }) => subject === 'redis' || subject === 'ledger')
    .map(({ subject, status, message, remedy }) => [status, subject, message, remedy ?? ''].join(' | '));
}

describe.skipIf(!hasRedis)('redis', () => {
  let redis: TestRedis;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis?.stop());

  async function administer(...words: readonly string[]): Promise<void> {
    const client = new Redis(redis.url);
    await client.call(words[0] ?? '', ...words.slice(1)).finally(() => client.disconnect());
  }

  test('one that answers and takes writes', async () => {
    const [finding, ...others] = await examine(inRedis(redis.url));

    expect(finding).toMatch(/^ok \| redis \| 127\.0\.0\.1:\d+ answers in \d+ ms \| $/);
    expect(others.filter((one) => one.includes('redis'))).toEqual([]);
  });

  test('one that nobody runs', async () => {
    expect(await examine(inRedis('redis://127.0.0.1:1/0'))).toContain(
      'error | redis | 127.0.0.1:1: nothing listens there | start it, or check host and port of state',
    );
  });

  test.each([
    [
      'one that evicts counters',
      'config set maxmemory-policy allkeys-lru',
      'config set maxmemory-policy noeviction',
      /^warning \| redis \| it evicts keys .*\(maxmemory-policy allkeys-lru\), and budgets with them \| set maxmemory-policy noeviction$/,
    ],
    ['a replica', 'replicaof 127.0.0.1 1', 'replicaof no one', /^error \| redis.*READONLY/],
    ['one that is full', 'config set maxmemory 1', 'config set maxmemory 0', /^error \| redis.*OOM/],
  ])('%s', async (_what, before, after, finding) => {
    await administer(...before.split(' '));
    onTestFinished(() => administer(...after.split(' ')));

    expect(await examine(inRedis(redis.url))).toContainEqual(expect.stringMatching(finding));
  });

  test('one that hangs', async () => {
    redis.pause();
    onTestFinished(() => redis.resume());

    expect((await examine(inRedis(redis.url)))[0]).toMatch(/^error \| redis \| .*did not answer for 1000 ms/);
  });

  test('a wrong password is not shown', async () => {
    const url = redis.url.replace('redis://', 'redis://default:wrong-secret@');
    await administer('config', 'set', 'requirepass', 'right-secret');
    onTestFinished(async () => {
      const client = new Redis(redis.url.replace('redis://', 'redis://:right-secret@'));
      await client.config('SET', 'requirepass', '');
      client.disconnect();
    });

    const [finding] = await examine(inRedis(url));

    expect(finding).toMatch(/^error \| redis \| 127\.0\.0\.1:\d+: WRONGPASS.*check user, password/);
    expect(finding).not.toContain('secret');
  });
});

describe('ledger', () => {
  test('a file that serve will create', async () => {
    const [finding] = await examine(inFile('new.sqlite'));

    expect(finding).toMatch(/^ok \| ledger \| .*new\.sqlite will be created by serve/);
  });

  test('a file that is none', async () => {
    const file = join(createWorkspace({}), 'ledger.sqlite');
    writeFileSync(file, 'not a database, but long enough to be looked at as one'.repeat(20));

    const [finding] = await examine(inFile(file));

    expect(finding).toMatch(
      /^error \| ledger \| .*ledger\.sqlite: .*not a database.* \| docs\/operations\.md/,
    );
  });

  describe.skipIf(!isExhaustive || postgresPrograms === undefined)('in PostgreSQL', () => {
    let postgres: Postgres;
    beforeAll(async () => {
      postgres = await startPostgres();
    }, 60_000);
    afterAll(() => postgres?.stop());

    test('one that answers', async () => {
      const [finding] = await examine(inPostgres(await postgres.createDatabase()));

      expect(finding).toMatch(/^ok \| ledger \| postgres:\/\/.* answers/);
    });

    test('a standby takes no writes', async () => {
      const database = await postgres.createDatabase();
      const become = async (words: string) => {
        await postgres.run(`alter system ${words}`);
        await postgres.run('select pg_reload_conf()');
      };
      await become('set default_transaction_read_only = on');
      onTestFinished(() => become('reset default_transaction_read_only'));

      expect((await examine(inPostgres(database)))[0]).toMatch(/^error \| ledger \| .*: it is read-only/);
    });

    test('one that does not exist', async () => {
      const database = (await postgres.createDatabase()).replace(/\/[^/?]+(\?|$)/, '/nowhere$1');

      expect((await examine(inPostgres(database)))[0]).toMatch(
        /^error \| ledger \| .*"nowhere" does not exist/,
      );
    });

    test('a server that nobody runs', async () => {
      expect(await examine(inPostgres('postgres://me:secret@127.0.0.1:1/x'))).toEqual([
        'error | ledger | postgres://127.0.0.1:1/x: nothing listens there | start it, or check host and port of records.ledger_database',
      ]);
    });
  });
});
