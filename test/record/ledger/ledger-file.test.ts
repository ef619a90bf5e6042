import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { loadSqlite, openSqliteReader } from '../../../src/database/sqlite-engine.ts';
import { type LedgerFile, openLedgerFile } from '../../../src/record/ledger/ledger-file.ts';
import type { LedgerChange } from '../../../src/record/ledger/ledger-row.ts';
import { intent, startedMs } from './rows.ts';

const begin = (requestId: string): LedgerChange => ({ kind: 'begin', intent: intent(requestId) });
const cancel = (requestId: string): LedgerChange => ({ kind: 'cancel', requestId });
const finish = (requestId: string): LedgerChange => ({
  kind: 'finish',
  row: {
    ...intent(requestId),
    provider: 'host',
    targetModel: 'm',
    status: 200,
    outcome: 'answered',
    decision: 'allow',
    reason: null,
    inputTokens: 5,
    outputTokens: 3,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
    reasoningTokens: 0,
    nanoUsd: 80,
    isEstimated: false,
    firstByteMs: 1,
    totalMs: 2,
  },
});
const wanted = [
  { scope: 'project' as const, name: 'shop', sinceMs: startedMs, untilMs: startedMs + 86_400_000 },
];

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

/** The file as the next process finds it where this one was killed: with its log, without its locks. */
async function afterKill(path: string): Promise<{ path: string; file: LedgerFile }> {
  const copy = newPath();
  for (const ending_ of ['', '-wal']) {
    if (existsSync(path + ending_)) copyFileSync(path + ending_, copy + ending_);
  }
  return open(copy);
}

async function all<Row>(path: string, sql: string): Promise<readonly Row[]> {
  const engine = await openSqliteReader(path);
  const rows = engine.prepare(sql).all();
  engine.close();
  return rows as readonly Row[];
}

test('after a crash what was finished or cancelled is neither settled nor counted again, wherever it stood', async () => {
  const { path, file } = await open();
  const ids = Array.from({ length: 20 }, (_, i) => `req_${i}`);
  file.commit(ids.map(begin));
  file.commit([...ids.slice(0, 3).map(finish), cancel('req_3')]);
  file.commit([begin('req_quick'), finish('req_quick'), begin('req_refused'), cancel('req_refused')]);
  file.commit([finish('req_4')]);

  const worst = 15 * 130 + 5 * 8;
  expect(file.sums(wanted)).toMatchObject([{ tokens: worst, nanoUsd: 15 * 1_000 + 5 * 80 }]);
  const next = await afterKill(path);

  expect(next.file.sums(wanted)).toMatchObject([{ tokens: worst }]);
  const count = 'select outcome, count(*) as count from exchanges group by outcome order by outcome';
  expect(await all(next.path, count)).toEqual([
    { outcome: 'answered', count: 5 },
    { outcome: 'unknown', count: 15 },
  ]);
  expect(
    await all(next.path, "select * from exchanges where request_id in ('req_3', 'req_refused')"),
  ).toEqual([]);
  expect(await all(next.path, 'select * from intents')).toEqual([]);
});

test('the row of a group shrinks with what is open in it, and goes with the last', async () => {
  const { path, file } = await open();
  const ids = Array.from({ length: 64 }, (_, i) => `req_${i}`);
  file.commit(ids.map(begin));
  const stored = async () => {
    const [row] = await all<{ count: number }>(path, 'select json_array_length(open) as count from intents');
    return row?.count;
  };

  const sizes: (number | undefined)[] = [];
  for (const id of ids) {
    file.commit([finish(id), finish(id)]);
    sizes.push(await stored());
  }

  expect([...new Set(sizes)]).toEqual([64, 16, 4, 1, undefined]);
  expect(file.sums(wanted)).toMatchObject([{ tokens: 64 * 8 }]);
});

test('random changes, some of them twice, end as a plain list of them says, before and after a crash', async () => {
  let seed = 7;
  const random = (below: number) => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % below;
  };
  for (let round = 0; round < 10; round += 1) {
    const { path, file } = await open();
    const open_ = new Set<string>();
    const finished = new Set<string>();
    for (let commit = 0; commit < 30; commit += 1) {
      const changes: LedgerChange[] = [];
      for (let i = random(12); i >= 0; i -= 1) {
        const id = `req_${commit}_${i}`;
        changes.push(begin(id));
        open_.add(id);
      }
      for (const id of [...open_].filter(() => random(3) === 0)) {
        open_.delete(id);
        if (random(4) === 0) changes.push(cancel(id));
        else {
          changes.push(finish(id));
          finished.add(id);
        }
      }
      file.commit(changes);
      if (random(5) === 0) file.commit(changes.filter(({ kind }) => kind !== 'begin'));
    }
    const expected = [{ tokens: open_.size * 130 + finished.size * 8 }];
    expect(file.sums(wanted)).toMatchObject(expected);

    const next = await afterKill(path);
    expect(next.file.sums(wanted)).toMatchObject(expected);
    const rows = await all<{ request_id: string }>(next.path, 'select request_id from exchanges');
    expect(rows.map((row) => row.request_id).toSorted()).toEqual([...open_, ...finished].toSorted());
  }
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

  expect(file.sums(wanted)).toMatchObject([{ tokens: 138, nanoUsd: 1_080 }]);
  expect(await all(path, 'select request_id, outcome, total_ms from exchanges order by request_id')).toEqual([
    { request_id: 'req_done', outcome: 'answered', total_ms: 2.5 },
    { request_id: 'req_open', outcome: 'unknown', total_ms: null },
  ]);
  file.commit([finish('req_done')]);
  expect(file.sums(wanted)).toMatchObject([{ tokens: 138 }]);
});

test('sums go after 400 days, but a clock that is years ahead refunds nothing', async () => {
  const { file } = await open();
  const dayMs = 86_400_000;
  const at = (day: number): LedgerChange => {
    const change = finish(`req_${day}`);
    if (change.kind !== 'finish') throw new Error('it is a final row');
    return { ...change, row: { ...change.row, startedMs: startedMs + day * dayMs } };
  };
  const usedOn = (day: number) =>
    file.sums([
      {
        scope: 'project',
        name: 'shop',
        sinceMs: startedMs + day * dayMs,
        untilMs: startedMs + (day + 1) * dayMs,
      },
    ])[0]?.tokens;
  file.commit(Array.from({ length: 30 }, (_, day) => at(day)));
  file.commit([at(900)]);

  file.maintain({ days: 90, bytes: 1e9 }, startedMs + 900 * dayMs);
  const afterJump = [usedOn(0), usedOn(29), usedOn(900)];
  file.commit(Array.from({ length: 40 }, (_, day) => at(1_000 + day)));
  file.maintain({ days: 90, bytes: 1e9 }, startedMs + 1_040 * dayMs);
  const afterYears = [usedOn(0), usedOn(8), usedOn(9), usedOn(29), usedOn(900), usedOn(1_039)];

  expect(afterJump).toEqual([8, 8, 8]);
  expect(afterYears).toEqual([0, 0, 8, 8, 8, 8]);
});
