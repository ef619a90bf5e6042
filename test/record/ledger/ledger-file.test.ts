import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { loadSqlite, openSqliteReader } from '../../../src/database/sqlite-engine.ts';
import { type LedgerFile, openLedgerFile } from '../../../src/record/ledger/ledger-file.ts';
import { intent, row, startedMs } from './rows.ts';
import { testStore } from './store-contract.ts';

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

testStore(async () => {
  const { path, file } = await open();
  return [file, (await open(path)).file];
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
