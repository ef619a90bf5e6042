import { once } from 'node:events';
import { mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { loadSqlite } from '../../../src/database/sqlite-engine.ts';
import { endLine, segmentHeader } from '../../../src/record/ledger/journal/journal-line.ts';
import type { LedgerEvent, LedgerOptions } from '../../../src/record/ledger/ledger.ts';
import { fileLedger } from '../../../src/record/ledger/ledger-store.ts';
import { openLedger } from '../../../src/record/ledger/open-ledger.ts';
import { readBudgetSums, readLedgerSums, readUsage } from '../../../src/record/ledger/read-ledger.ts';
import { listening } from '../../kit/listening.ts';
import { emptyDirectory } from '../../kit/own-configuration.ts';
import { openFile as openLedgerAt, select } from './opened.ts';
import { intent, retention, row, wanted } from './rows.ts';

const newPath = () => join(emptyDirectory(), 'ledger.sqlite');

/** How many exchanges are in the database. */
async function moved(path: string): Promise<number | undefined> {
  const [found] = await select<{ requests: number }>(path, 'select total(requests) as requests from sums');
  return found?.requests;
}

const rows = (path: string) => select<{ request_id: string }>(path, 'select request_id from exchanges');

const sumsOf = (path: string) => readLedgerSums(fileLedger(path), wanted);
const usage = (path: string) => readUsage(fileLedger(path), { by: 'project', sinceMs: 0, dayOf: String });

describe.each([
  ['with rows', true],
  ['without', false],
])('ledger %s', (_what, keepsRows) => {
  const openFile = (path: string, options: Partial<LedgerOptions> = {}) =>
    openLedgerAt(path, { retention: { ...retention, keepsRows }, ...options });

  test('what was used is known at once, in the database a moment later, and when it is opened again', async () => {
    const path = newPath();
    const { ledger, sums } = await openFile(path);
    expect(sums).toMatchObject([{ tokens: 0, nanoUsd: 0 }]);

    for (let i = 0; i < 100; i += 1) expect(ledger.begin(intent(`req_${i}`))).toBeUndefined();
    for (let i = 0; i < 99; i += 1) void ledger.finish(row(`req_${i}`)).write();

    expect(await sumsOf(path)).toMatchObject([{ tokens: 99 * 8 + 130 }]);
    expect(await usage(path)).toMatchObject([{ name: 'shop', requests: 99 }]);
    await expect.poll(() => moved(path)).toBe(99);
    expect(await sumsOf(path)).toMatchObject([{ tokens: 99 * 8 + 130 }]);
    expect(await usage(path)).toMatchObject([{ name: 'shop', requests: 99 }]);
    void ledger.finish(row('req_99')).write();
    await ledger.close();
    const next = await openFile(path);
    expect(next.sums).toMatchObject([{ tokens: 800, nanoUsd: 8_000 }]);
    expect(await moved(path)).toBe(100);
    expect(await rows(path)).toHaveLength(keepsRows ? 100 : 0);
  });

  test('what ends together is written by the first that must be, and what ends later by itself', async () => {
    const path = newPath();
    const { ledger } = await openFile(path);
    const ends = ['a', 'b', 'c'].map((id) => ledger.finish(row(id)));
    const before = await sumsOf(path);

    expect(ends[1]?.write()).toBeUndefined();
    const after = await sumsOf(path);
    expect(ends.map((end) => end.write())).toEqual([undefined, undefined, undefined]);
    const late = ledger.finish(row('d'));
    expect(await sumsOf(path)).toEqual(after);
    void late.write();

    expect([before, after, await sumsOf(path)]).toMatchObject([
      [{ tokens: 0 }],
      [{ tokens: 3 * 8 }],
      [{ tokens: 4 * 8 }],
    ]);
    ledger.finish(row('e'));
    await ledger.close();
    expect(await moved(path)).toBe(5);
  });

  test('usage that is still in the journal has the fields of usage, and no others', async () => {
    const place = fileLedger(newPath());
    mkdirSync(place.journal);
    const owner = '11111111-1111-4111-8111-111111111111';
    const lines = ['req_1', 'req_2'].map((id) => endLine(row(id)));
    writeFileSync(join(place.journal, `${owner}-00000001.journal`), segmentHeader + lines.join(''));

    const found = await readUsage(place, { by: 'model', sinceMs: 0, dayOf: String });

    const tokens = { input_tokens: 10, output_tokens: 6, cache_read_tokens: 2, cache_write_tokens: 0 };
    const more = { reasoning_tokens: 4, cost_usd: 160 / 1e9, estimated: 0, unpriced: 0 };
    expect(found).toEqual([{ name: 'm', requests: 2, ...tokens, ...more }]);
  });

  test('a thread that the first segment starts moves it once, and reports nothing', async () => {
    const path = newPath();
    const events: LedgerEvent[] = [];
    const onEvent = (event: LedgerEvent) => events.push(event);
    const { ledger } = await openLedger({ place: fileLedger(path), retention, onEvent }, []);
    onTestFinished(() => ledger.close());

    void ledger.finish(row('req_1')).write();
    await ledger.close(); // sooner than a thread is started where there are no budgets

    expect(await moved(path)).toBe(1);
    expect(events).toEqual([]);
  });

  test('what is always synced is on the disk when it has begun', async () => {
    const path = newPath();
    const { ledger } = await openFile(path, { isSynced: true });

    const begun = Array.from({ length: 50 }, (_, i) => ledger.begin(intent(`req_${i}`)));

    expect(begun.every((each) => each instanceof Promise)).toBe(true);
    await Promise.all(begun);
    expect(await sumsOf(path)).toMatchObject([{ tokens: 50 * 130 }]);
  });

  test('what is open when a segment ends is in the next one too', async () => {
    const path = newPath();
    const { ledger } = await openFile(path);
    expect(ledger.begin(intent('req_open'))).toBeUndefined();

    for (let i = 0; i < 3; i += 1) {
      void ledger.finish(row(`req_${i}`)).write();
      await expect.poll(() => moved(path)).toBe(i + 1);
    }

    expect(await sumsOf(path)).toMatchObject([{ tokens: 3 * 8 + 130 }]);
    void ledger.finish(row('req_open')).write();
    await ledger.close();
    expect((await openFile(path)).sums).toMatchObject([{ tokens: 4 * 8 }]);
  });

  test('whatever a provider says that it used, the ledger can be read', async () => {
    const path = newPath();
    const { ledger } = await openFile(path);
    const most = Number.MAX_SAFE_INTEGER;
    for (const id of ['req_1', 'req_2']) {
      void ledger
        .finish({ ...row(id), input_tokens: most, output_tokens: most, nano_usd: most * 1e6 })
        .write();
    }
    await ledger.close();
    const engine = new (await loadSqlite()).DatabaseSync(path); // as an older version wrote it
    engine.exec('update sums set cache_read_tokens = 9223372036854775807');
    engine.exec(
      "insert into sums select quarter + 1, project, key_id, 'other', requests, input_tokens, output_tokens, cache_read_tokens, 0, 0, nano_usd, 0, 0 from sums",
    );
    engine.close();

    const { sums } = await openFile(path);

    expect(sums).toMatchObject([{ tokens: 8e13, nanoUsd: 4e13 }]);
    expect(await usage(path)).toMatchObject([
      { name: 'shop', requests: 4, input_tokens: 4e13, cost_usd: 40_000 },
    ]);
  });

  test('its files are for their owner alone, and none remain but the database', async () => {
    const folder = emptyDirectory();
    const path = join(folder, 'ledger.sqlite');
    const { ledger } = await openFile(path);
    void ledger.finish(row('req_1')).write();
    await expect.poll(() => ledger.gauges.pending).toBe(0);
    const names = () => readdirSync(folder, { recursive: true, encoding: 'utf8' });
    await expect.poll(() => names().some((name) => name.endsWith('.lock'))).toBe(true);
    const files = readdirSync(folder, { recursive: true, withFileTypes: true });
    const modes = files.map((file) => [
      file.name.replace(/^[0-9a-f-]{36}/, 'owner'),
      statSync(join(file.parentPath, file.name)).mode & 0o777,
    ]);

    expect(Object.fromEntries(modes)).toMatchObject({
      'ledger.sqlite.journal': 0o700,
      'ledger.sqlite': 0o600,
      'owner.lock': 0o600,
    });
    expect(new Set(modes.map(([, mode]) => mode))).toEqual(new Set([0o700, 0o600]));
    await ledger.close();
    expect(names()).toEqual(['ledger.sqlite', 'ledger.sqlite.journal']);
  });

  test('what could not be moved by the end is said', async () => {
    const path = newPath();
    writeFileSync(path, 'this is not a database, but it is long enough to look at', { mode: 0o600 });
    const { ledger, events } = await openFile(path);
    for (const id of ['req_1', 'req_2']) void ledger.finish(row(id)).write();

    await ledger.close();

    expect(events.at(-1)).toEqual({ kind: 'left', lines: 2 });
  });

  test('a file that is not a database lets the journal wait, and is filled once it is one', async () => {
    const path = newPath();
    writeFileSync(path, 'this is not a database, but it is long enough to look at', { mode: 0o600 });

    const { ledger, sums, problem, events } = await openFile(path);
    void ledger.finish(row('req_1')).write();
    expect(sums).toBeUndefined();
    expect(problem?.message).toContain('is not a SQLite database');
    await expect(sumsOf(path)).rejects.toThrow('file is not a database');

    await expect.poll(() => events).toMatchObject([{ kind: 'waiting' }]);
    rmSync(path);
    await expect.poll(() => events.map(({ kind }) => kind)).toEqual(['waiting', 'moving']);
    await expect.poll(() => moved(path)).toBe(1);
  });
});

test('what is open is reserved, and what has ended is used', async () => {
  const path = newPath();
  const { ledger } = await openLedgerAt(path);
  await ledger.begin(intent('req_1'));
  await ledger.begin(intent('req_2'));
  await ledger.finish(row('req_1')).write();

  const sums = await readBudgetSums(fileLedger(path), wanted);

  expect(sums.used).toMatchObject([{ tokens: 8, nanoUsd: 80 }]);
  expect(sums.reserved).toMatchObject([{ tokens: 130, nanoUsd: 1_000 }]);
});

test('a database that takes a connection and says nothing is away, so that a start does not fail', async () => {
  const server = createServer();
  const url = `postgres://gateway@127.0.0.1:${(await listening(server)).port}/ledger`;
  onTestFinished(() => void vi.useRealTimers());
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });

  const reading = readLedgerSums({ url, journal: join(emptyDirectory(), 'journal') }, wanted);
  const refused = expect(reading).rejects.toMatchObject({ isAway: true, message: 'timeout expired' });
  await once(server, 'connection');
  vi.advanceTimersByTime(5_000);

  await refused;
});
