import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { loadSqlite } from '../../../../src/database/sqlite-engine.ts';
import { beginLine, endLine, segmentHeader } from '../../../../src/record/ledger/journal/journal-line.ts';
import { listSegments, moveSegment, settleOwner } from '../../../../src/record/ledger/journal/segments.ts';
import { openLedgerFile } from '../../../../src/record/ledger/ledger-file.ts';
import { fileLedger } from '../../../../src/record/ledger/ledger-store.ts';
import { readLedgerSums } from '../../../../src/record/ledger/read-ledger.ts';
import { emptyDirectory } from '../../../kit/own-configuration.ts';
import { canMount, fill, mountDisk } from '../../../kit/small-disk.ts';
import { openFile, select } from '../opened.ts';
import { dayMs, intent, retention, row, startedMs, wanted } from '../rows.ts';

const owner = '11111111-1111-4111-8111-111111111111';

const sumsOf = (path: string) => readLedgerSums(fileLedger(path), wanted);

const newPath = () => join(emptyDirectory(), 'ledger.sqlite');

const segmentPath = (journal: string, number: string) =>
  join(journal, `${owner}-${number.padStart(8, '0')}.journal`);

/** A folder as a process that is gone left it; an old lock file says so. */
function leftBehind(segments: Readonly<Record<number, string>>): { path: string; journal: string } {
  const path = newPath();
  const { journal } = fileLedger(path);
  execFileSync('mkdir', [journal]);
  writeFileSync(join(journal, `${owner}.lock`), '');
  for (const [number, text] of Object.entries(segments)) {
    writeFileSync(segmentPath(journal, number), text);
  }
  return { path, journal };
}

async function outcomes(path: string, { requests = 0 } = {}): Promise<Record<string, string>> {
  const rows = await select<{ request_id: string; outcome: string }>(
    path,
    'select request_id, outcome from exchanges order by request_id',
  );
  const [sums] = await select<{ requests: number }>(path, 'select sum(requests) as requests from sums');
  expect(sums?.requests ?? 0).toBe(requests || rows.length);
  return Object.fromEntries(rows.map(({ request_id, outcome }) => [request_id, outcome]));
}

const body = [beginLine(intent('open')), beginLine(intent('a')), endLine(row('a')), endLine(row('b'))];
const whole = segmentHeader + body.join('');
const expected = { a: 'answered', b: 'answered', open: 'unknown' };

describe('bad lines', () => {
  const damaged = whole.replace('"b"', '"c"');
  test.each([
    ['as it is', whole, expected, 0],
    ['with a torn last line', `${whole}${endLine(row('torn')).slice(0, 60)}`, expected, 0],
    ['with a last line that lacks only its end', whole.slice(0, -1), expected, 0],
    ['with doubled lines', whole + whole.slice(segmentHeader.length), expected, 0],
    ['with its lines in reverse', segmentHeader + body.toReversed().join(''), expected, 0],
    ['with a damaged line', damaged, { a: 'answered', open: 'unknown' }, 1],
    ['with foreign lines', `${whole}hello\n{"json":true}\n\n907060870 hello\n`, expected, 4],
    ['without a header', whole.slice(segmentHeader.length), { a: 'answered', b: 'answered' }, 1],
    ['empty', '', {}, 0],
    ['with a header alone', segmentHeader, {}, 0],
    ['with half a header', segmentHeader.slice(0, 9), {}, 0],
  ])('a segment %s', async (_what, text, found, lines) => {
    const { path, journal } = leftBehind({ 1: text });
    const { events, ledger } = await openFile(path);

    await expect
      .poll(() => readdirSync(journal).filter((name) => name.startsWith(owner) && !name.endsWith('.damaged')))
      .toEqual([]);
    await ledger.close();

    expect(await outcomes(path)).toEqual(found);
    const kept = readdirSync(journal);
    expect(kept.map((name) => readFileSync(join(journal, name), 'utf8'))).toEqual(lines > 0 ? [text] : []);
    const notices = events.flatMap((event) => (event.kind === 'notice' ? [event.message] : []));
    expect(notices).toEqual(
      lines > 0
        ? [
            `${lines} lines of the ledger's journal can't be read; the file is kept as ${join(journal, kept[0] ?? '')}`,
          ]
        : [],
    );
  });

  test('a segment of a newer version is left alone, and budgets are not guessed', async () => {
    const { path, journal } = leftBehind({
      1: whole.replace(segmentHeader, segmentHeader.replace(/\d+\n/, '99\n')),
    });

    const { sums, problem, ledger } = await openFile(path);
    await ledger.close();

    expect({ sums, message: problem?.message }).toEqual({
      sums: undefined,
      message: `a newer version of the gateway wrote ${segmentPath(journal, '1')}`,
    });
    expect(listSegments(journal)).toHaveLength(1);
  });
});

describe.each([true, false])('a move that ends at any step, rows: %s', (keepsRows) => {
  const segments = {
    1: `${segmentHeader}${beginLine(intent('a'))}${endLine(row('a'))}${beginLine(intent('open'))}`,
    2: `${segmentHeader}${beginLine(intent('open'))}${endLine(row('b'))}`,
    3: segmentHeader,
  };
  const after = { ...(keepsRows && { a: 'answered', b: 'answered' }), open: 'unknown' };

  test.each(['before', 'committed', 'first removed', 'settled', 'all but the last removed'])(
    'is done again with the same result: %s',
    async (step) => {
      const { path, journal } = leftBehind(segments);
      const store = await openLedgerFile(path);
      const move = { store, keepsRows };
      const [first, ...rest] = listSegments(journal);
      if (first === undefined) throw new Error('there are three');
      const copy = join(emptyDirectory(), 'copy');
      if (step === 'committed') {
        cpSync(journal, copy, { recursive: true });
        await moveSegment(move, first);
        rmSync(journal, { recursive: true });
        cpSync(copy, journal, { recursive: true });
      }
      if (step === 'first removed') await moveSegment(move, first);
      if (step === 'settled' || step === 'all but the last removed') {
        cpSync(journal, copy, { recursive: true });
        await settleOwner(move, [first, ...rest]);
        cpSync(copy, journal, { recursive: true });
        if (step !== 'settled') for (const { path: gone } of [first, ...rest].slice(0, -1)) rmSync(gone);
      }
      store.close();

      const { ledger, sums } = await openFile(path, { retention: { ...retention, keepsRows } });

      expect(sums).toMatchObject([{ tokens: 2 * 8 + 130 }]);
      await expect.poll(() => readdirSync(journal).filter((name) => name.startsWith(owner))).toEqual([]);
      expect(await sumsOf(path)).toMatchObject([{ tokens: 2 * 8 + 130 }]);
      await ledger.close();
      expect(await outcomes(path, { requests: 3 })).toEqual(after);
    },
  );
});

test('a folder that is removed is made again, and what is open is in it', async () => {
  const path = newPath();
  const { journal } = fileLedger(path);
  const { ledger } = await openFile(path);
  await expect.poll(() => existsSync(path)).toBe(true);
  expect(ledger.begin(intent('open'))).toBeUndefined();

  rmSync(journal, { recursive: true, force: true });

  await expect.poll(() => sumsOf(path), { timeout: 10_000 }).toMatchObject([{ tokens: 130 }]);
  void ledger.finish(row('open')).write();
  await ledger.close();
  expect(await outcomes(path)).toEqual({ open: 'answered' });
});

test('a SQLite file that is locked for long lets the journal wait, and nothing else', async () => {
  const path = newPath();
  const { ledger, events } = await openFile(path);
  void ledger.finish(row('first')).write();
  await expect.poll(() => ledger.gauges.pending).toBe(0);
  const locker = new (await loadSqlite()).DatabaseSync(path);
  locker.exec('pragma busy_timeout = 5000; begin immediate');

  let count = 0;
  const serve = () => {
    count += 1;
    expect(ledger.begin(intent(`req_${count}`))).toBeUndefined();
    void ledger.finish(row(`req_${count}`)).write();
    return events.map(({ kind }) => kind);
  };
  await expect.poll(serve, { timeout: 20_000 }).toContain('waiting');
  locker.exec('rollback');
  locker.close();

  await expect.poll(() => ledger.gauges.pending, { timeout: 20_000 }).toBe(0);
  await ledger.close();
  expect(Object.keys(await outcomes(path))).toHaveLength(count + 1);
}, 60_000);

test('a clock that jumps moves nothing to another day and loses nothing', async () => {
  const path = newPath();
  const { ledger } = await openFile(path);
  const jump = vi.spyOn(Date, 'now');
  onTestFinished(() => jump.mockRestore());
  for (const [i, ms] of [0, 400 * dayMs, -400 * dayMs, 3_600_000].entries()) {
    jump.mockReturnValue(startedMs + ms);
    void ledger.finish(row(`req_${i}`)).write();
    await expect.poll(() => ledger.gauges.pending).toBe(0);
  }
  jump.mockRestore();

  expect(await sumsOf(path)).toMatchObject([{ tokens: 4 * 8 }]);
  await ledger.close();
  expect(Object.keys(await outcomes(path))).toHaveLength(4);
}, 30_000);

test.skipIf(!canMount)(
  'ends that a disk takes only a part of all wait until there is room, and count once each',
  async () => {
    const mounted = mountDisk('400k');
    const path = join(mounted, 'ledger.sqlite');
    const { ledger, events } = await openFile(path);
    await expect.poll(() => existsSync(path)).toBe(true);
    const together = (name: string) =>
      Array.from({ length: 40 }, (_, i) =>
        ledger.finish({ ...row(`${name}_${i}`), model: 'm'.repeat(200) }),
      ).map((end) => end.write());
    const atOnce = together('before');
    fill(mounted);
    // Room for less than half of what 40 lines take.
    truncateSync(join(mounted, 'filler'), statSync(join(mounted, 'filler')).size - 4_096);

    const waiting = together('full');
    await Promise.all(waiting);
    rmSync(join(mounted, 'filler'));
    await expect.poll(() => ledger.gauges.unwritten, { timeout: 10_000 }).toBe(0);
    await ledger.close();

    expect(atOnce.filter((each) => each !== undefined)).toEqual([]);
    expect(waiting.filter((each) => each === undefined)).toEqual([]);
    expect(events.filter(({ kind }) => kind === 'lost' || kind === 'notice')).toEqual([]);
    const found = await outcomes(path);
    expect(Object.keys(found)).toHaveLength(80);
    expect(new Set(Object.values(found))).toEqual(new Set(['answered']));
  },
  30_000,
);

test.skipIf(!canMount)(
  'a full disk refuses beginnings at once and keeps what ends, until there is room again',
  async () => {
    const mounted = mountDisk('400k');
    const path = join(mounted, 'ledger.sqlite');
    const { ledger, events } = await openFile(path);
    expect(ledger.begin(intent('open'))).toBeUndefined();
    await expect.poll(() => existsSync(path)).toBe(true);
    fill(mounted);

    let count = 0;
    const serve = () => {
      count += 1;
      void ledger.finish({ ...row(`req_${count}`), model: 'm'.repeat(200) }).write();
      return ledger.gauges.isWritable;
    };
    await expect.poll(serve, { interval: 1 }).toBe(false);
    const startedMs = performance.now();
    await expect(ledger.begin(intent('refused'))).rejects.toThrow(/ENOSPC|part of a line/);
    expect(performance.now() - startedMs).toBeLessThan(1_000);
    void ledger.finish(row('open')).write();
    rmSync(join(mounted, 'filler'));

    await expect.poll(() => ledger.gauges.isWritable).toBe(true);
    await ledger.begin(intent('again'));
    void ledger.finish(row('again')).write();
    await ledger.close();
    expect(events.filter(({ kind }) => kind === 'lost')).toEqual([]);
    const found = await outcomes(path);
    expect(Object.keys(found)).toHaveLength(count + 2);
    expect(new Set(Object.values(found))).toEqual(new Set(['answered']));
  },
  30_000,
);
