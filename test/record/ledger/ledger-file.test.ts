import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { loadSqlite, openSqliteReader } from '../../../src/database/sqlite-engine.ts';
import { type LedgerFile, openLedgerFile } from '../../../src/record/ledger/ledger-file.ts';
import type { WantedSum } from '../../../src/record/ledger/ledger-row.ts';
import { intent, row, startedMs } from './rows.ts';

const dayMs = 86_400_000;
const wanted = [{ scope: 'project' as const, name: 'shop', sinceMs: startedMs, untilMs: startedMs + dayMs }];
const nothing = { rows: [], open: [] };

const ending: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ending.splice(0).toReversed()) await end();
});

function newPath(): string {
  const made = mkdtempSync(join(tmpdir(), 'gateway-ledger-file-'));
  ending.push(() => rmSync(made, { recursive: true, force: true }));
  return join(made, 'ledger.sqlite');
}

async function open(path = newPath()): Promise<{ path: string; file: LedgerFile }> {
  const file = await openLedgerFile(path);
  ending.push(() => file.close());
  return { path, file };
}

async function all<Row>(path: string, sql: string): Promise<readonly Row[]> {
  const engine = await openSqliteReader(path);
  const rows = engine.prepare(sql).all();
  engine.close();
  return rows as readonly Row[];
}

test('rows count once, however often they are added, and beside the same rows in the journal', async () => {
  const { file } = await open();

  file.add([row('req_1'), row('req_1'), row('req_2')]);
  file.add([row('req_2')]);
  const journal = { rows: [row('req_2'), row('req_3')], open: [intent('req_3'), intent('req_4')] };

  expect(file.sums(wanted, nothing)).toMatchObject([{ tokens: 16, nanoUsd: 160 }]);
  expect(file.sums(wanted, journal)).toMatchObject([{ tokens: 24 + 130, nanoUsd: 240 + 1_000 }]);
});

test('many sums at once are the same as one by one', async () => {
  const { file } = await open();
  const scopes = Array.from({ length: 12 }, (_, i) => ({ project: `p${i % 4}`, keyId: `k${i}` }));
  file.add(scopes.map((scope, i) => ({ ...row(`req_${i}`), ...scope })));
  const journal = { rows: [], open: scopes.map((scope, i) => ({ ...intent(`open_${i}`), ...scope })) };
  const many = [
    ...scopes.map(({ project }) => ({ scope: 'project' as const, name: project })),
    ...scopes.map(({ keyId }) => ({ scope: 'key' as const, name: keyId })),
    { scope: 'key' as const, name: 'unused' },
  ].flatMap((each) =>
    [
      { sinceMs: 0, untilMs: startedMs + dayMs },
      { sinceMs: 0, untilMs: startedMs - dayMs },
      { sinceMs: startedMs - 60_000, untilMs: startedMs + dayMs },
      { sinceMs: startedMs + 900_000, untilMs: startedMs + dayMs },
    ].map((period) => ({ ...each, ...period })),
  );

  const together = file.sums(many, journal);

  expect(together).toEqual(many.flatMap((each) => file.sums([each], journal)));
  expect(together[0]).toMatchObject({ name: 'p0', tokens: 3 * (8 + 130) });
});

test('what a clock that was ahead has entered counts on its day alone, finished or open', async () => {
  const { file } = await open();
  const ahead = startedMs + 365 * dayMs;
  file.add([{ ...row('req_early'), startedMs: ahead }, row('req_today')]);
  const journal = { rows: [], open: [{ ...intent('req_open'), startedMs: ahead }] };
  const [today] = wanted;
  const later = { ...today, sinceMs: startedMs + 365 * dayMs, untilMs: startedMs + 366 * dayMs };
  const few = [today, later] as WantedSum[];
  const many = Array.from({ length: 20 }, (_, i) => few[i % 2] as WantedSum);

  expect(file.sums(few, journal).map(({ tokens }) => tokens)).toEqual([8, 8 + 130]);
  expect(file.sums(many, journal).map(({ tokens }) => tokens)).toEqual(
    Array(10)
      .fill([8, 8 + 130])
      .flat(),
  );
});

test('old rows go by age and by size; the sums stay', async () => {
  const { path, file } = await open();
  file.add(Array.from({ length: 1_200 }, (_, i) => row(`req_${i}`)));
  const retention = { days: 90, bytes: 1e9 };
  const count = async () =>
    (await all<{ count: number }>(path, 'select count(*) as count from exchanges'))[0]?.count;

  expect(file.maintain(retention, startedMs + 89 * dayMs)).toBe(false);
  expect(await count()).toBe(1_200);
  expect(file.maintain({ days: 90, bytes: 1_000 }, startedMs + dayMs)).toBe(true);
  expect(await count()).toBe(700);
  expect(file.maintain(retention, startedMs + 91 * dayMs)).toBe(true);
  expect(file.maintain(retention, startedMs + 91 * dayMs)).toBe(false);
  expect(await count()).toBe(0);
  expect(file.sums(wanted, nothing)).toMatchObject([{ tokens: 9_600 }]);
});

test('a file of a version before the journal keeps its rows; what dead processes left open in it is settled', async () => {
  const path = newPath();
  const file = await openLedgerFile(path);
  file.add([row('req_done')]);
  file.close();
  const { DatabaseSync } = await loadSqlite();
  const old = new DatabaseSync(path);
  const add = old.prepare('insert into intents (owner, open) values (?, ?)');
  // A finished one may have stayed in its group.
  add.run('dead', JSON.stringify([intent('req_done'), intent('req_open')]));
  add.run('alive', JSON.stringify([intent('req_running')]));
  old.close();
  new DatabaseSync(`${path}-owner-dead`).close();
  const owner = new DatabaseSync(`${path}-owner-alive`);
  owner.exec('pragma locking_mode = exclusive; begin exclusive');
  ending.push(() => owner.close());

  const next = await open(path);

  expect(next.file.sums(wanted, nothing)).toMatchObject([{ tokens: 8 + 130 + 130 }]);
  expect(await all(path, 'select request_id, outcome from exchanges order by request_id')).toEqual([
    { request_id: 'req_done', outcome: 'answered' },
    { request_id: 'req_open', outcome: 'unknown' },
  ]);
  expect(await all(path, 'select owner from intents')).toEqual([{ owner: 'alive' }]);
});

test('a file of version 1 is taken over with its rows, its sums and what was open', async () => {
  const path = newPath();
  const { DatabaseSync } = await loadSqlite();
  const old = new DatabaseSync(path);
  old.exec(`
create table intents (request_id text primary key, owner text not null, started_ms integer not null,
  project text not null, key_id text not null, endpoint text not null, model text not null,
  input_tokens integer not null, output_tokens integer not null, nano_usd integer) without rowid;
create table exchanges (id integer primary key, request_id text not null unique, started_ms integer not null,
  project text not null, key_id text not null, endpoint text not null, model text not null, provider text,
  target_model text, status integer not null, outcome text not null, decision text, reason text,
  input_tokens integer not null, output_tokens integer not null, cache_read_tokens integer not null,
  cache_write_tokens integer not null, reasoning_tokens integer not null, nano_usd integer,
  is_estimated integer not null, first_byte_ms real, total_ms real);
create table sums (quarter integer not null, project text not null, key_id text not null, model text not null,
  requests integer not null, input_tokens integer not null, output_tokens integer not null,
  cache_read_tokens integer not null, cache_write_tokens integer not null, reasoning_tokens integer not null,
  nano_usd integer not null, estimated integer not null, unpriced integer not null,
  primary key (quarter, project, key_id, model)) without rowid;
insert into intents values ('req_open', 'dead', ${startedMs}, 'shop', 'shop-web', 'chat', 'm', 30, 100, 1000);
insert into exchanges values (7, 'req_done', ${startedMs}, 'shop', 'shop-web', 'chat', 'm', 'host', 'm', 200, 'answered',
  'allow', null, 5, 3, 0, 0, 0, 80, 0, 1.5, 2.5);
insert into sums values (${Math.floor(startedMs / 900_000)}, 'shop', 'shop-web', 'm', 1, 5, 3, 0, 0, 0, 80, 0, 0);
pragma user_version = 1;
`);
  old.close();

  const { file } = await open(path);

  expect(file.sums(wanted, nothing)).toMatchObject([{ tokens: 138, nanoUsd: 1_080 }]);
  expect(await all(path, 'select request_id, outcome, total_ms from exchanges order by request_id')).toEqual([
    { request_id: 'req_done', outcome: 'answered', total_ms: 2.5 },
    { request_id: 'req_open', outcome: 'unknown', total_ms: null },
  ]);
  file.add([row('req_done')]);
  expect(file.sums(wanted, nothing)).toMatchObject([{ tokens: 138 }]);
});

test('sums go after 400 days, but a clock that is years ahead refunds nothing', async () => {
  const { file } = await open();
  const dayMs = 86_400_000;
  const at = (day: number) => ({ ...row(`req_${day}`), startedMs: startedMs + day * dayMs });
  const usedOn = (day: number) =>
    file.sums(
      [
        {
          scope: 'project',
          name: 'shop',
          sinceMs: startedMs + day * dayMs,
          untilMs: startedMs + (day + 1) * dayMs,
        },
      ],
      nothing,
    )[0]?.tokens;
  file.add(Array.from({ length: 30 }, (_, day) => at(day)));
  file.add([at(900)]);

  file.maintain({ days: 90, bytes: 1e9 }, startedMs + 900 * dayMs);
  const afterJump = [usedOn(0), usedOn(29), usedOn(900)];
  file.add(Array.from({ length: 40 }, (_, day) => at(1_000 + day)));
  file.maintain({ days: 90, bytes: 1e9 }, startedMs + 1_040 * dayMs);
  const afterYears = [usedOn(0), usedOn(8), usedOn(9), usedOn(29), usedOn(900), usedOn(1_039)];

  expect(afterJump).toEqual([8, 8, 8]);
  expect(afterYears).toEqual([0, 0, 8, 8, 8, 8]);
});
