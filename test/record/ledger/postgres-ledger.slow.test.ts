import { chownSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { openPostgresLedger } from '../../../src/record/ledger/postgres-ledger.ts';
import { readLedgerSums, readSessions, readUsage } from '../../../src/record/ledger/read-ledger.ts';
import { emptyDirectory } from '../../kit/own-configuration.ts';
import { canMount, fill, mountDisk } from '../../kit/small-disk.ts';
import { type Postgres, postgresPrograms, startPostgres } from '../../plants/postgres.ts';
import { openAt } from './opened.ts';
import { dayMs, intent, retention, row, startedMs, wanted } from './rows.ts';
import { testStore } from './store-contract.ts';

describe.skipIf(postgresPrograms === undefined)('ledger in PostgreSQL', () => {
  let postgres: Postgres;
  let url: string;
  beforeAll(async () => {
    postgres = await startPostgres();
  }, 60_000);
  afterAll(() => postgres?.stop());

  const newJournal = () => join(emptyDirectory(), 'journal');

  async function newDatabase(): Promise<string> {
    url = await postgres.createDatabase();
    return url;
  }

  async function open({ keepsRows }: Pick<typeof retention, 'keepsRows'> = retention) {
    const place = { url, journal: newJournal() };
    return {
      ...(await openAt(place, { retention: { ...retention, keepsRows } })),
      sumsNow: () => readLedgerSums(place, wanted),
    };
  }

  async function query<Row>(sql: string): Promise<readonly Row[]> {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    try {
      return (await client.query(sql)).rows as Row[];
    } finally {
      await client.end();
    }
  }

  const count = async () =>
    (await query<{ rows: number }>('select count(*)::int as rows from ledger_exchanges'))[0]?.rows;

  const countSums = async () =>
    (
      await query<{ requests: number }>('select coalesce(sum(requests), 0)::int as requests from ledger_sums')
    )[0]?.requests;

  /** As a server that was demoted to a standby; open connections see it too. */
  async function setReadOnly(value: 'on' | 'off'): Promise<void> {
    await postgres.run(`alter system set default_transaction_read_only = ${value}`);
    await postgres.run('select pg_reload_conf()');
  }

  /** Holds the table, so that whoever writes to it hangs. */
  const locker = {
    client: undefined as pg.Client | undefined,
    begin: async () => {
      locker.client = new pg.Client({ connectionString: url });
      await locker.client.connect();
      await locker.client.query('begin; lock table ledger_exchanges, ledger_sums in access exclusive mode');
    },
    end: () => locker.client?.end(),
  };

  test('gateways that start together make the tables once', async () => {
    await newDatabase();

    const opened = await Promise.all([open(), open(), open()]);

    expect(opened.map(({ problem }) => problem)).toEqual([undefined, undefined, undefined]);
    await expect.poll(() => query('select * from ledger_version')).toEqual([{ version: 1 }]);
  });

  testStore(async () => {
    await newDatabase();
    const stores = [await openPostgresLedger(url), await openPostgresLedger(url)] as const;
    for (const store of stores) onTestFinished(() => store.close());
    return { stores, place: { url, journal: newJournal() } };
  });

  test('texts and numbers that clients and providers make up neither stop it nor get into each other', async () => {
    await newDatabase();
    const { ledger } = await open();
    const long = 'x'.repeat(100_000);
    const sent = ['nul\0', 'half \ud800', "'; drop table ledger_sums; --", long, '🌵', '\u001b[2J', '$1'];
    const kept = sent
      .with(0, 'nul\ufffd')
      .with(1, 'half \ufffd')
      .with(3, long.slice(0, 200))
      .with(5, '\ufffd[2J');
    const numbers = { input_tokens: 1e300, output_tokens: Number.NaN, nano_usd: -5 };

    for (const [i, model] of sent.entries())
      void ledger.finish({ ...row(`req_${i}`), model, ...numbers }).write();
    await ledger.close();

    const found = await query('select model, input_tokens, output_tokens from ledger_exchanges order by id');
    expect(found).toEqual(
      kept.map((model) => ({ model, input_tokens: '10000000000000', output_tokens: '0' })),
    );
    // As an older version added them up, or a month of such answers.
    await query('update ledger_sums set input_tokens = 9223372036854775807, nano_usd = 9223372036854775807');
    const { sums } = await open();
    expect(sums).toMatchObject([{ tokens: Number.MAX_SAFE_INTEGER, nanoUsd: Number.MAX_SAFE_INTEGER }]);
  });

  test('a ledger of a build before moved segments goes on with what its rows say', async () => {
    await newDatabase();
    const store = await openPostgresLedger(url);
    await store.add({ rows: [row('a'), row('b')].map((each) => ({ ...each, session: 's1' })) });
    await store.close();
    await query(`drop table ledger_provider_sums; drop table ledger_moved_segments;
      alter table ledger_session_sums drop column first_ms, drop column last_ms`);
    const place = { url, journal: newJournal() };
    const provider = async () => readUsage(place, { by: 'provider-key', sinceMs: 0, dayOf: String });
    expect(await provider()).toMatchObject([{ name: 'host', requests: 2 }]);
    expect(await readSessions(place, { sinceMs: 0, limit: 1 })).toMatchObject([{ requests: 2 }]);

    const stores = await Promise.all([openPostgresLedger(url), openPostgresLedger(url)]);

    for (const each of stores) await each.close();
    expect(await provider()).toMatchObject([{ name: 'host', requests: 2, input_tokens: 10 }]);
    expect(await readSessions(place, { sinceMs: 0, limit: 1 })).toMatchObject([
      { requests: 2, started_ms: startedMs, last_ms: startedMs },
    ]);
  });

  test('old rows go by age and by number; the sums stay', async () => {
    await newDatabase();
    const store = await openPostgresLedger(url);
    await store.add({ rows: Array.from({ length: 6_000 }, (_, i) => row(`req_${i}`)) });

    expect(await store.maintain(retention, startedMs + 89 * dayMs)).toBe(false);
    expect(await count()).toBe(6_000);
    expect(await store.maintain({ keepsRows: true, days: 90, bytes: 400 * 500 }, startedMs + dayMs)).toBe(
      true,
    );
    expect(await store.maintain({ keepsRows: true, days: 90, bytes: 400 * 500 }, startedMs + dayMs)).toBe(
      false,
    );
    expect(await count()).toBe(501);
    await store.maintain(retention, startedMs + 91 * dayMs);
    expect(await count()).toBe(0);
    expect(await readLedgerSums({ url, journal: newJournal() }, wanted)).toMatchObject([{ tokens: 48_000 }]);
    await store.close();
  });

  test('away at the start: what was used is known once the server comes, and the journal takes what begins', async () => {
    await newDatabase();
    const first = await open();
    void first.ledger.finish(row('req_1')).write();
    await first.ledger.close();
    await postgres.kill();

    const { ledger, sums, sumsNow, problem, events } = await open();
    expect(ledger.begin(intent('req_2'))).toBeUndefined();
    void ledger.finish(row('req_3')).write();
    // The thread begins a second after the ledger.
    await expect.poll(() => events.map(({ kind }) => kind), { timeout: 20_000 }).toContain('waiting');
    await postgres.resume();

    expect({ sums, isAway: problem?.isAway }).toEqual({ sums: undefined, isAway: true });
    const known = () => sumsNow().catch(() => undefined);
    await expect.poll(known, { timeout: 20_000 }).toMatchObject([{ tokens: 8 + 130 + 8 }]);
    // A server that starts up gives several causes.
    await expect
      .poll(() => events.map(({ kind }) => kind).join(' '), { timeout: 40_000 })
      .toMatch(/^(?:waiting )+moving$/);
  }, 60_000);

  const outages = [
    ['killed', () => postgres.kill(), () => postgres.resume()],
    ['restarted', () => postgres.restart(), () => Promise.resolve()],
    ['read-only', () => setReadOnly('on'), () => setReadOnly('off')],
    ['locked by another', () => locker.begin(), () => locker.end()],
  ] as const;

  test.each(outages.flatMap((outage) => [[...outage, true] as const, [...outage, false] as const]))(
    '%s in mid-run: the journal waits, and all of it is there afterwards, once (%#)',
    async (_what, end, mend, keepsRows) => {
      await newDatabase();
      const { ledger } = await open({ keepsRows });
      for (let i = 0; i < 10; i += 1) void ledger.finish(row(`req_${i}`)).write();
      await expect.poll(countSums).toBe(10);
      await end();
      for (let i = 10; i < 20; i += 1) {
        expect(ledger.begin(intent(`req_${i}`))).toBeUndefined();
        void ledger.finish(row(`req_${i}`)).write();
      }
      await mend();

      await expect.poll(countSums, { timeout: 20_000 }).toBe(20);
      await ledger.close();
      expect([await countSums(), await count()]).toEqual([20, keepsRows ? 20 : 0]);
    },
    60_000,
  );

  test('settings that can never work say so: no such database, a newer ledger', async () => {
    await newDatabase();
    const wrong = await openAt({ url: url.replace('/plants_', '/none_'), journal: newJournal() });
    await open();
    await expect.poll(() => query('update ledger_version set version = 99 returning 1')).toHaveLength(1);
    const newer = await open();

    expect(wrong.problem).toMatchObject({
      isAway: false,
      message: expect.stringContaining('does not exist'),
    });
    expect(newer.problem).toMatchObject({
      isAway: false,
      message: expect.stringContaining('newer version'),
    });
  });

  // The last one: a server that was killed later would look for the tablespace.
  test.skipIf(!canMount)(
    'its disk full: the journal waits, and all of it is written once when there is room again',
    async () => {
      const mounted = mountDisk('24m');
      const name = new URL(await newDatabase()).pathname.slice(1);
      const { uid, gid } = statSync(dirname(postgres.socket));
      chownSync(mounted, uid, gid);
      await postgres.run(`create tablespace small location '${mounted}'`);
      await postgres.run(`alter database ${name} set tablespace small`);
      onTestFinished(async () => {
        await postgres.run(`drop database ${name} with (force)`);
        await postgres.run('drop tablespace small');
      });
      const { ledger, events } = await open();
      fill(mounted);

      let finished = 0;
      const serve = () => {
        for (let i = 0; i < 1_000; i += 1) {
          finished += 1;
          void ledger.finish({ ...row(`req_${finished}`), model: `${i}`.padStart(200, 'm') }).write();
        }
        return events.map(({ kind }) => kind);
      };
      await expect.poll(serve, { timeout: 20_000 }).toContain('waiting');
      rmSync(join(mounted, 'filler'));

      // The table and each index of it are causes of their own.
      await expect
        .poll(() => events.map(({ kind }) => kind).join(' '), { timeout: 40_000 })
        .toMatch(/^(?:waiting )+moving$/);
      await ledger.close();
      expect(
        await query("select count(*)::int as rows from ledger_exchanges where outcome = 'answered'"),
      ).toEqual([{ rows: finished }]);
    },
    60_000,
  );
});
