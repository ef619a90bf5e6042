import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import { loadSqlite } from '../../../src/database/sqlite-engine.ts';
import { endLine } from '../../../src/record/ledger/journal/journal-line.ts';
import { listSegments, settleOwner } from '../../../src/record/ledger/journal/segments.ts';
import { type LedgerFile, openLedgerFile } from '../../../src/record/ledger/ledger-file.ts';
import { fileLedger } from '../../../src/record/ledger/ledger-store.ts';
import { readLedgerSums, readSessions, readUsage } from '../../../src/record/ledger/read-ledger.ts';
import { emptyDirectory } from '../../kit/own-configuration.ts';
import { select } from './opened.ts';
import { dayMs, retention, row, startedMs, wanted } from './rows.ts';
import { testStore } from './store-contract.ts';

function newPath(): string {
  const made = emptyDirectory();
  return join(made, 'ledger.sqlite');
}

async function open(path = newPath()): Promise<{ path: string; file: LedgerFile }> {
  const file = await openLedgerFile(path);
  onTestFinished(() => file.close());
  return { path, file };
}

testStore(async () => {
  const { path, file } = await open();
  return { stores: [file, (await open(path)).file], place: fileLedger(path) };
});

test('old rows go by age and by size; the sums stay', async () => {
  const { path, file } = await open();
  file.add({ rows: Array.from({ length: 1_200 }, (_, i) => row(`req_${i}`)) });
  const count = async () =>
    (await select<{ count: number }>(path, 'select count(*) as count from exchanges'))[0]?.count;

  expect(file.maintain(retention, startedMs + 89 * dayMs)).toBe(false);
  expect(await count()).toBe(1_200);
  expect(file.maintain({ keepsRows: true, days: 90, bytes: 1_000 }, startedMs + dayMs)).toBe(true);
  expect(await count()).toBe(700);
  expect(file.maintain(retention, startedMs + 91 * dayMs)).toBe(true);
  expect(file.maintain(retention, startedMs + 91 * dayMs)).toBe(false);
  expect(await count()).toBe(0);
  expect(await readLedgerSums(fileLedger(path), wanted)).toMatchObject([{ tokens: 9_600 }]);
});

test('a ledger and a journal of a build before sessions are read, and go on with sessions', async () => {
  const { path, file } = await open();
  file.add({ rows: [row('req_old')] });
  const { DatabaseSync } = await loadSqlite();
  const old = new DatabaseSync(path);
  old.exec(`drop table session_sums; drop table session_raises; drop index exchange_sessions;
    ${['session', 'agent', 'subagent', 'new_tokens'].map((name) => `alter table exchanges drop column ${name};`).join('')}`);
  old.close();
  const place = fileLedger(path);
  expect(await readSessions(place, { sinceMs: 0, limit: 10 })).toEqual([]);
  expect(await readLedgerSums(place, wanted)).toMatchObject([{ tokens: 8 }]);

  const again = await open(path);
  again.file.add({ rows: [{ ...row('req_new'), session: 's1', agent: 'codex', subagent: null }] });
  mkdirSync(place.journal);
  const text = JSON.stringify([
    ...['end', 'req_line', startedMs, 'shop', 'shop-web', 'chat', 'm', 5, 3, 80, 'host', 'm', 200],
    ...['answered', 'allow', null, 1, 0, 2, false, 1.5, 2.5],
  ]);
  const name = '11111111-1111-4111-8111-111111111111-00000001.journal';
  writeFileSync(join(place.journal, name), `gateway-ledger-journal 1\n${crc32(text)} ${text}\n`);

  expect(await readLedgerSums(place, wanted)).toMatchObject([{ tokens: 24 }]);
  expect(await readSessions(place, { sinceMs: 0, limit: 10 })).toMatchObject([
    { session: 's1', key: 'shop-web', agent: 'codex', requests: 1, started_ms: startedMs, new_tokens: 8 },
  ]);
});

test('a ledger of a build before moved segments is read, and goes on with what its rows say', async () => {
  const { path, file } = await open();
  const place = fileLedger(path);
  const later = startedMs + 60_000;
  file.add({ rows: [row('a'), row('b')].map((each) => ({ ...each, session: 's1' })) });
  file.add({ rows: [{ ...row('c'), session: 's1', provider: 'host/work', started_ms: later }] });
  const { DatabaseSync } = await loadSqlite();
  const old = new DatabaseSync(path);
  old.exec(`drop table provider_sums; drop table moved_segments;
    alter table session_sums drop column first_ms; alter table session_sums drop column last_ms;`);
  old.close();
  const providers = async () => {
    const sums = await readUsage(place, { by: 'provider-key', sinceMs: 0, dayOf: String });
    return sums.map(({ name, requests, input_tokens }) => [name, requests, input_tokens]);
  };
  const times = async () => {
    const [session] = await readSessions(place, { sinceMs: 0, limit: 1 });
    return [session?.requests, session?.started_ms, session?.last_ms];
  };
  const quarter = Date.parse('2026-11-22T12:30:00Z');

  expect(await providers()).toEqual([
    ['host', 2, 10],
    ['host/work', 1, 5],
  ]);
  expect(await times()).toEqual([3, quarter, quarter]);
  // The rest of a segment of that build, whose first row is in the database.
  mkdirSync(place.journal);
  const name = '11111111-1111-4111-8111-111111111111-00000001.journal';
  const lines = [{ ...row('c'), started_ms: later }, row('d')].map(endLine);
  writeFileSync(join(place.journal, name), `gateway-ledger-journal 2\n${lines.join('')}`);
  expect(await readLedgerSums(place, wanted)).toMatchObject([{ tokens: 32 }]);

  const again = await open(path);
  await settleOwner({ store: again.file, keepsRows: false }, listSegments(place.journal));

  expect(await times()).toEqual([3, startedMs, later]);
  expect(await providers()).toEqual([
    ['host', 3, 15],
    ['host/work', 1, 5],
  ]);
  expect(await readLedgerSums(place, wanted)).toMatchObject([{ tokens: 32 }]);
});

test('a file of a version before the first release is refused, and not touched', async () => {
  const path = newPath();
  const { DatabaseSync } = await loadSqlite();
  const old = new DatabaseSync(path);
  old.exec('create table exchanges (id integer primary key); pragma user_version = 1');
  old.close();

  const opening = openLedgerFile(path);

  await expect(opening).rejects.toMatchObject({ code: 'config.invalid' });
  await expect(opening).rejects.toThrow('move the file away to begin a new one');
  expect(await select(path, 'select name from sqlite_schema')).toEqual([{ name: 'exchanges' }]);
});
