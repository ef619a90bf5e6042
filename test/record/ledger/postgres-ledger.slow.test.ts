import { execFileSync } from 'node:child_process';
import { chownSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Ledger, LedgerEvent } from '../../../src/record/ledger/ledger.ts';
import type { LedgerChange } from '../../../src/record/ledger/ledger-row.ts';
import { openLedger } from '../../../src/record/ledger/open-ledger.ts';
import { openPostgresLedger } from '../../../src/record/ledger/postgres-ledger.ts';
import { type Postgres, postgresPrograms, startPostgres } from '../../plants/postgres.ts';
import { intent, row, startedMs } from './rows.ts';

const begin = (requestId: string): LedgerChange => ({ kind: 'begin', intent: intent(requestId) });
const finish = (requestId: string): LedgerChange => ({ kind: 'finish', row: row(requestId) });
const dayMs = 86_400_000;
const sinceMs = Date.parse('2026-11-22T00:00:00Z');
const wanted = [{ scope: 'project' as const, name: 'shop', sinceMs, untilMs: sinceMs + dayMs }];
const retention = { days: 90, bytes: 1e9 };

describe.skipIf(postgresPrograms === undefined)('ledger in PostgreSQL', () => {
  let postgres: Postgres;
  let url: string;
  const ending: (() => unknown)[] = [];
  beforeAll(async () => {
    postgres = await startPostgres();
  }, 60_000);
  afterEach(async () => {
    for (const end of ending.splice(0).toReversed()) await end();
  });
  afterAll(() => postgres?.stop());

  async function newDatabase(): Promise<string> {
    url = await postgres.createDatabase();
    return url;
  }

  async function open(events: LedgerEvent[] = []): Promise<Awaited<ReturnType<typeof openLedger>>> {
    const opened = await openLedger({ url, retention, wanted, onEvent: (event) => events.push(event) });
    ending.push(() => opened.ledger.close());
    return opened;
  }

  async function query<Row>(sql: string): Promise<readonly Row[]> {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    const { rows } = await client.query(sql);
    await client.end();
    return rows as Row[];
  }

  /** As a server that was demoted to a standby; open connections see it too. */
  async function setReadOnly(value: 'on' | 'off'): Promise<void> {
    await postgres.run(`alter system set default_transaction_read_only = ${value}`);
    await postgres.run('select pg_reload_conf()');
  }

  const beginAll = (ledger: Ledger, count: number) =>
    Promise.all(Array.from({ length: count }, (_, i) => ledger.begin(intent(`req_${i}`))));

  test('what was used is known when it is opened again, from anywhere', async () => {
    await newDatabase();
    const { ledger, sums } = await open();
    expect(sums).toMatchObject([{ tokens: 0, nanoUsd: 0 }]);

    await beginAll(ledger, 100);
    expect(await ledger.sums(wanted)).toMatchObject([{ tokens: 13_000, nanoUsd: 100_000 }]);
    for (let i = 0; i < 100; i += 1) ledger.finish(row(`req_${i}`));
    expect(await ledger.sums(wanted)).toMatchObject([{ tokens: 800, nanoUsd: 8_000 }]);
    await ledger.close();

    expect((await open()).sums).toMatchObject([{ tokens: 800, nanoUsd: 8_000 }]);
    expect(await query('select count(*)::int as rows from ledger_exchanges')).toEqual([{ rows: 100 }]);
    expect(await query('select * from ledger_intents')).toEqual([]);
  });

  test('gateways that start together make the tables once', async () => {
    await newDatabase();

    const opened = await Promise.all([open(), open(), open()]);

    expect(opened.map(({ problem }) => problem)).toEqual([undefined, undefined, undefined]);
    expect(await query('select * from ledger_version')).toEqual([{ version: 1 }]);
  });

  test('whatever is committed twice, in any mixture, counts once', async () => {
    await newDatabase();
    const store = await openPostgresLedger(url);
    const changes = [begin('a'), begin('b'), finish('a'), finish('a'), begin('c'), finish('b')];
    const cancelled: LedgerChange[] = [begin('d'), { kind: 'cancel', requestId: 'd' }];

    await store.commit(changes);
    await store.commit([...changes, ...cancelled]);
    await store.commit([begin('c')]);

    expect(await store.sums(wanted)).toMatchObject([{ tokens: 8 + 8 + 130, nanoUsd: 80 + 80 + 1_000 }]);
    await store.commit([finish('c'), finish('c')]);
    expect(await store.sums(wanted)).toMatchObject([{ tokens: 24, nanoUsd: 240 }]);
    expect(await query('select request_id from ledger_intents')).toEqual([]);
    await store.close();
  });

  test('what a dead gateway had open is settled by its worst case, and corrected where it only seemed dead', async () => {
    await newDatabase();
    const [dead, alive] = [await openPostgresLedger(url), await openPostgresLedger(url)];
    await dead.commit([begin('lost'), begin('late')]);
    await alive.maintain(retention, Date.now());
    expect(await query('select count(*)::int as open from ledger_intents')).toEqual([{ open: 2 }]);

    await query("update ledger_owners set seen_at = now() - interval '2 minutes'");
    await alive.maintain(retention, Date.now());
    const settled = await query('select outcome, nano_usd::int from ledger_exchanges');
    await dead.commit([finish('late')]);

    expect(settled).toEqual([
      { outcome: 'unknown', nano_usd: 1_000 },
      { outcome: 'unknown', nano_usd: 1_000 },
    ]);
    expect(await alive.sums(wanted)).toMatchObject([{ tokens: 130 + 8, nanoUsd: 1_000 + 80 }]);
    expect(
      await query(
        'select sum(requests)::int as requests, sum(estimated)::int as estimated, sum(reasoning_tokens)::int as reasoning from ledger_sums',
      ),
    ).toEqual([{ requests: 2, estimated: 1, reasoning: 2 }]);
    await dead.close();
    await alive.close();
  });

  test('texts and numbers that clients and providers make up neither stop it nor get into each other', async () => {
    await newDatabase();
    const { ledger } = await open();
    const models = [
      'nul\0',
      'half \ud800',
      "'; drop table ledger_sums; --",
      'x'.repeat(100_000),
      '🌵',
      '\u001b[2J',
      '$1',
    ];

    for (const [i, model] of models.entries()) {
      await ledger.begin({ ...intent(`req_${i}`), model });
      ledger.finish({ ...row(`req_${i}`), model, inputTokens: 1e300, outputTokens: Number.NaN, nanoUsd: -5 });
    }
    await ledger.close();

    const found = await query<{ model: string; input_tokens: string; output_tokens: string }>(
      'select model, input_tokens, output_tokens from ledger_exchanges order by id',
    );
    expect(found.map(({ model }) => model)).toEqual([
      'nul\ufffd',
      'half \ufffd',
      "'; drop table ledger_sums; --",
      'x'.repeat(200),
      '🌵',
      '\ufffd[2J',
      '$1',
    ]);
    expect(new Set(found.map((each) => `${each.input_tokens} ${each.output_tokens}`))).toEqual(
      new Set(['10000000000000 0']),
    );
    // As an older version added them up, or a month of such answers.
    await query('update ledger_sums set input_tokens = 9223372036854775807, nano_usd = 9223372036854775807');
    const { sums } = await open();
    expect(sums).toMatchObject([{ tokens: Number.MAX_SAFE_INTEGER, nanoUsd: Number.MAX_SAFE_INTEGER }]);
  });

  test('many sums at once are the same as one by one, with what is open', async () => {
    await newDatabase();
    const store = await openPostgresLedger(url);
    const scopes = Array.from({ length: 12 }, (_, i) => ({ project: `p${i % 4}`, keyId: `k${i}` }));
    await store.commit([
      ...scopes.map((scope, i) => ({ kind: 'finish' as const, row: { ...row(`req_${i}`), ...scope } })),
      ...scopes.map((scope, i) => ({ kind: 'begin' as const, intent: { ...intent(`open_${i}`), ...scope } })),
    ]);
    const many = [
      ...scopes.map(({ project }) => ({ scope: 'project' as const, name: project })),
      ...scopes.map(({ keyId }) => ({ scope: 'key' as const, name: keyId })),
      { scope: 'key' as const, name: 'p0' },
    ].flatMap((each) =>
      [
        { sinceMs: 0, untilMs: startedMs + dayMs },
        { sinceMs: 0, untilMs: startedMs - dayMs },
        { sinceMs: startedMs - 60_000, untilMs: startedMs + dayMs },
        { sinceMs: startedMs + 900_000, untilMs: startedMs + dayMs },
      ].map((period) => ({ ...each, ...period })),
    );

    const together = await store.sums(many);

    const alone: unknown[] = [];
    for (const each of many) alone.push(...(await store.sums([each])));
    expect(together).toEqual(alone);
    expect(together[0]).toMatchObject({ name: 'p0', tokens: 3 * (8 + 130) });
    expect(together.at(-1)).toMatchObject({ name: 'p0', tokens: 0, nanoUsd: 0 });
    await store.close();
  });

  test('what a clock that was ahead has entered counts on its day alone, finished or open', async () => {
    await newDatabase();
    const store = await openPostgresLedger(url);
    const ahead = startedMs + 365 * dayMs;
    await store.commit([
      { kind: 'finish', row: { ...row('req_early'), startedMs: ahead } },
      { kind: 'begin', intent: { ...intent('req_open'), startedMs: ahead } },
      finish('req_today'),
    ]);
    const later = wanted.map((each) => ({
      ...each,
      sinceMs: sinceMs + 365 * dayMs,
      untilMs: sinceMs + 366 * dayMs,
    }));

    const sums = await store.sums([...wanted, ...later]);

    expect(sums.map(({ tokens }) => tokens)).toEqual([8, 8 + 130]);
    await store.close();
  });

  test('old rows go by age and by number; the sums stay', async () => {
    await newDatabase();
    const store = await openPostgresLedger(url);
    await store.commit(Array.from({ length: 6_000 }, (_, i) => finish(`req_${i}`)));
    const dayMs = 86_400_000;
    const count = async () =>
      (await query<{ rows: number }>('select count(*)::int as rows from ledger_exchanges'))[0]?.rows;

    expect(await store.maintain(retention, startedMs + 89 * dayMs)).toBe(false);
    expect(await count()).toBe(6_000);
    expect(await store.maintain({ days: 90, bytes: 400 * 500 }, startedMs + dayMs)).toBe(true);
    expect(await store.maintain({ days: 90, bytes: 400 * 500 }, startedMs + dayMs)).toBe(false);
    expect(await count()).toBe(501);
    await store.maintain(retention, startedMs + 91 * dayMs);
    expect(await count()).toBe(0);
    expect(await store.sums(wanted)).toMatchObject([{ tokens: 48_000 }]);
    await store.close();
  });

  test('sums go after 400 days, but a clock that is years ahead refunds nothing', async () => {
    await newDatabase();
    const store = await openPostgresLedger(url);
    const at = (day: number): LedgerChange => ({
      kind: 'finish',
      row: { ...row(`req_${day}`), startedMs: startedMs + day * dayMs },
    });
    const usedOn = async (day: number) => {
      const [sinceMs, untilMs] = [startedMs + day * dayMs, startedMs + (day + 1) * dayMs];
      return (await store.sums([{ scope: 'project', name: 'shop', sinceMs, untilMs }]))[0]?.tokens;
    };
    await store.commit([...Array.from({ length: 30 }, (_, day) => at(day)), at(900)]);

    await store.maintain(retention, startedMs + 900 * dayMs);
    const afterJump = [await usedOn(0), await usedOn(29), await usedOn(900)];
    await store.commit(Array.from({ length: 40 }, (_, day) => at(1_000 + day)));
    await store.maintain(retention, startedMs + 1_040 * dayMs);
    const afterYears = [await usedOn(8), await usedOn(9), await usedOn(1_039)];
    await store.close();

    expect(afterJump).toEqual([8, 8, 8]);
    expect(afterYears).toEqual([0, 8, 8]);
  });

  test('away at the start: it opens when the server comes, and knows the sums before the first intent', async () => {
    await newDatabase();
    const first = await open();
    await first.ledger.begin(intent('req_1'));
    first.ledger.finish(row('req_1'));
    await first.ledger.close();
    await postgres.kill();
    const events: LedgerEvent[] = [];

    const { ledger, sums, problem } = await open(events);
    const refused = await ledger.begin(intent('req_2')).catch((error: Error) => error.message);
    await postgres.resume();

    expect({ sums, isAway: problem?.isAway, refused }).toEqual({
      sums: undefined,
      isAway: true,
      refused: 'the ledger is not open',
    });
    const known = () => ledger.sums(wanted).catch(() => undefined);
    await expect.poll(known, { timeout: 20_000 }).toMatchObject([{ tokens: 8 }]);
    await ledger.begin(intent('req_3'));
    // A server that starts up gives several causes.
    expect(events.map(({ kind }) => kind).join(' ')).toMatch(/^(?:failing )+working$/);
  }, 60_000);

  test.each([
    ['killed', () => postgres.kill(), () => postgres.resume()],
    ['restarted', () => postgres.restart(), () => Promise.resolve()],
    ['read-only', () => setReadOnly('on'), () => setReadOnly('off')],
  ])(
    '%s in mid-run: intents fail meanwhile, what waited is written afterwards, once',
    async (_what, end, mend) => {
      await newDatabase();
      const events: LedgerEvent[] = [];
      const { ledger } = await open(events);
      await beginAll(ledger, 20);
      await end();
      for (let i = 0; i < 10; i += 1) ledger.finish(row(`req_${i}`));
      const during = ledger.begin(intent('req_during')).catch((error: Error) => error.name);
      await during;
      await mend();

      await expect
        .poll(
          () =>
            ledger.begin(intent(`req_after_${Math.random()}`)).then(
              () => true,
              () => false,
            ),
          { timeout: 15_000 },
        )
        .toBe(true);
      for (let i = 10; i < 20; i += 1) ledger.finish(row(`req_${i}`));
      await ledger.close();
      expect(
        await query(
          "select count(*)::int as rows, count(distinct request_id)::int as ids from ledger_exchanges where outcome = 'answered'",
        ),
      ).toEqual([{ rows: 20, ids: 20 }]);
      expect(
        await query('select sum(requests)::int as requests from ledger_sums where estimated = 0'),
      ).toEqual([{ requests: 20 }]);
    },
    60_000,
  );

  test('settings that can never work say so: no such database, a newer ledger', async () => {
    await newDatabase();
    const wrong = await openLedger({
      url: url.replace('/plants_', '/none_'),
      retention,
      wanted,
      onEvent: () => undefined,
    });
    ending.push(() => wrong.ledger.close());
    await open();
    await query('update ledger_version set version = 99');
    const newer = await open();

    expect(wrong.problem).toMatchObject({ isAway: false, cause: expect.stringContaining('does not exist') });
    expect(newer.problem).toMatchObject({ isAway: false, cause: expect.stringContaining('newer version') });
  });

  // The last one: a server that was killed later would look for the tablespace.
  test.skipIf(process.getuid?.() !== 0)(
    'its disk full: intents fail, and what waited is written once when there is room again',
    async () => {
      const mounted = mkdtempSync(join(tmpdir(), 'gateway-full-'));
      const name = new URL(await newDatabase()).pathname.slice(1);
      try {
        execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=24m', 'tmpfs', mounted], { stdio: 'pipe' });
      } catch {
        return; // a container that may not mount
      }
      ending.push(() => execFileSync('umount', ['-l', mounted]));
      const { uid, gid } = statSync(dirname(postgres.socket));
      chownSync(mounted, uid, gid);
      await postgres.run(`create tablespace small location '${mounted}'`);
      await postgres.run(`alter database ${name} set tablespace small`);
      ending.push(async () => {
        await postgres.run(`drop database ${name} with (force)`);
        await postgres.run('drop tablespace small');
      });
      const events: LedgerEvent[] = [];
      const { ledger } = await open(events);
      await beginAll(ledger, 20);
      for (let size = 65_536; size >= 512; size /= 2) {
        try {
          for (;;) writeFileSync(join(mounted, 'filler'), Buffer.alloc(size), { flag: 'a' });
        } catch {
          // full for this size
        }
      }

      const more = async () => {
        for (let i = 0; i < 5_000; i += 1)
          await ledger.begin({ ...intent(`req_more_${i}`), model: 'm'.repeat(200) });
      };
      await expect(more()).rejects.toThrow('No space left on device');
      for (let i = 0; i < 20; i += 1) ledger.finish(row(`req_${i}`));
      rmSync(join(mounted, 'filler'));

      await expect.poll(() => events.map(({ kind }) => kind)).toEqual(['failing', 'working']);
      await ledger.close();
      expect(
        await query("select count(*)::int as rows from ledger_exchanges where outcome = 'answered'"),
      ).toEqual([{ rows: 20 }]);
    },
    60_000,
  );
});
