import fs, { readlinkSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import {
  type ClosedSegment,
  Journal,
  type JournalEvent,
} from '../../../../src/record/ledger/journal/journal.ts';
import { beginLine, endLine, segmentHeader } from '../../../../src/record/ledger/journal/journal-line.ts';
import { listSegments, openOf, readJournal, rowsOf } from '../../../../src/record/ledger/journal/segments.ts';
import { sumsOf } from '../../../../src/record/ledger/ledger-columns.ts';
import { emptyDirectory } from '../../../kit/own-configuration.ts';
import { intent, row } from '../rows.ts';

const owner = '11111111-1111-4111-8111-111111111111';
afterEach(() => {
  vi.restoreAllMocks();
});

/** A disk on which the syncs of a process's first segment take as long as a test wants. */
async function openOnSlowDisk(isSynced: boolean) {
  const directory = emptyDirectory();
  const closed: ClosedSegment[] = [];
  const journal = new Journal({
    directory,
    owner,
    isSynced,
    addsUp: true,
    onEvent: () => undefined,
    onClosed: (segment) => closed.push(segment),
  });
  await journal.start();
  const held: (() => void)[] = [];
  let isHolding = true;
  const some = await open(directory);
  const prototype: FileHandle = Object.getPrototypeOf(some);
  await some.close();
  const first = listSegments(directory)[0]?.path;
  const { datasync } = prototype;
  vi.spyOn(prototype, 'datasync').mockImplementation(function (this: FileHandle) {
    const isFirst = readlinkSync(`/proc/self/fd/${this.fd}`) === first;
    const wait = isHolding && isFirst ? new Promise<void>((go) => held.push(go)) : Promise.resolve();
    return wait.then(() => datasync.call(this));
  });
  const release = () => {
    isHolding = false;
    for (const go of held) go();
  };
  onTestFinished(() => {
    release();
    return journal.close();
  });
  const line = (id: string) => journal.begin(id, beginLine(intent(id)));
  return { journal, directory, held, release, line, closed };
}

test('with ledger_sync: always a beginning counts once the segment that it is in is on the disk, also if that is full by then', async () => {
  const { directory, held, release, line } = await openOnSlowDisk(true);
  const one = line('one');
  await expect.poll(() => held.length).toBe(1);
  let isWritten = false;
  const two = line('two')?.then(() => {
    isWritten = true;
  });
  await expect.poll(() => listSegments(directory).length, { timeout: 5_000 }).toBe(2);

  held[0]?.();
  await one;
  // The full segment is closed, and the second beginning synced: both wait for the disk.
  await expect.poll(() => held.length).toBe(3);
  expect(isWritten).toBe(false);
  release();
  await two;
  expect(isWritten).toBe(true);
});

test('at the end a segment is left open where the one before it is not on the disk, because they count in their order', async () => {
  const { journal, held, release, line, closed } = await openOnSlowDisk(false);
  expect(line('one')).toBeUndefined();
  await expect.poll(() => held.length, { timeout: 5_000, interval: 10 }).toBe(1);
  expect(line('two')).toBeUndefined();
  await journal.close();
  expect(held).toHaveLength(1);
  expect(closed).toEqual([]);
  expect(journal.written.map(({ number, lines }) => [number, lines])).toEqual([
    [1, 1],
    [2, 2],
  ]);

  release();
  await journal.close();
  expect(closed.map(({ number }) => number)).toEqual([1, 2]);
}, 20_000);

/** A journal of which the next segment is being made, as long as a test wants. */
async function makingNext() {
  const directory = emptyDirectory();
  const events: JournalEvent[] = [];
  const closed: ClosedSegment[] = [];
  const journal = new Journal({
    directory,
    owner,
    isSynced: false,
    addsUp: true,
    onEvent: (event) => events.push(event),
    onClosed: (segment) => closed.push(segment),
  });
  await journal.start();
  const some = await open(directory);
  const prototype: FileHandle = Object.getPrototypeOf(some);
  await some.close();
  const { sync } = prototype;
  let go: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    go = resolve;
  });
  let isHeld = false;
  vi.spyOn(prototype, 'sync').mockImplementation(function (this: FileHandle) {
    isHeld = true; // of the folder, with the next segment in it
    return held.then(() => sync.call(this));
  });
  const first = journal.end([row('one')]);
  await expect.poll(() => isHeld, { timeout: 5_000 }).toBe(true);
  return { journal, directory, events, closed, first, go };
}

test('at the end a segment that is being made takes its place first, so that none is closed twice', async () => {
  const { journal, directory, events, closed, first, go } = await makingNext();

  const closing = journal.close();
  go();
  await closing;
  await new Promise((resolve) => setTimeout(resolve, 500)); // longer than it waits before it tries again

  expect(first).toBeUndefined();
  expect(events).toEqual([]);
  expect(closed.map(({ lines }) => lines)).toEqual([1]);
  expect(listSegments(directory)).toHaveLength(1);
});

test('of ends that a disk took a part of, each is in one segment only, also if the next one was being made', async () => {
  const { journal, directory, go } = await makingNext();
  const { writeSync } = fs;
  onTestFinished(() => {
    Object.assign(fs, { writeSync });
    syncBuiltinESMExports();
  });
  // The first of the lines, and the beginning of the second.
  const takesPart = (fd: number, bytes: Buffer) => writeSync(fd, bytes.subarray(0, bytes.indexOf('\n') + 20));
  Object.assign(fs, { writeSync: takesPart });
  syncBuiltinESMExports();

  const waiting = journal.end([row('two'), row('three')]);
  go();
  await waiting;
  await journal.close();

  const read = await readJournal(directory);
  expect(waiting).toBeInstanceOf(Promise);
  expect(read.map(({ entries }) => rowsOf(entries).map((each) => each.request_id))).toEqual([
    ['one'],
    ['two', 'three'],
  ]);
});

test('while a disk stalls, lines wait in memory and hold up nobody', async () => {
  const { journal, held, release, line } = await openOnSlowDisk(false);
  expect(line('one')).toBeUndefined();
  await expect.poll(() => held.length, { timeout: 5_000 }).toBeGreaterThan(0);

  // Another one after each look, until the sync has taken so long that the disk has stalled.
  const waiting: Promise<void>[] = [];
  await expect
    .poll(
      () =>
        waiting.push(
          ...[line(`more ${waiting.length} ${Math.random()}`)].filter((each) => each !== undefined),
        ),
      {
        timeout: 5_000,
      },
    )
    .toBeGreaterThan(3);
  expect(journal.unwritten).toBeGreaterThan(0);

  release();
  await Promise.all(waiting);
  await expect.poll(() => journal.unwritten).toBe(0);
});

test('a segment adds what its lines say, whether they were written at once or had to wait', async () => {
  const { journal, directory, held, release, closed } = await openOnSlowDisk(false);
  let count = 0;
  const end = () => {
    count += 1;
    const ended = { ...row(`req_${count}`), model: `m${count % 3}`, input_tokens: count };
    void journal.end([ended]);
  };
  end();
  await expect.poll(() => held.length, { timeout: 5_000 }).toBeGreaterThan(0);
  await expect
    .poll(
      () => {
        end();
        return journal.unwritten;
      },
      { timeout: 5_000 },
    )
    .toBeGreaterThan(3);
  release();
  await expect.poll(() => journal.unwritten).toBe(0);
  end();
  await journal.close();

  const read = await readJournal(directory);
  expect(closed.map(({ sums }) => sums)).toEqual(read.map(({ entries }) => sumsOf(rowsOf(entries))));
  expect(rowsOf(read.flatMap(({ entries }) => entries))).toHaveLength(count);
  expect(closed.length).toBeGreaterThan(1);
});

test('a journal is read a segment at a time, and what is open in one that leaves meanwhile is found in the next', async () => {
  const directory = emptyDirectory();
  const path = (number: number) => join(directory, `${owner}-0000000${number}.journal`);
  const write = (number: number, ...lines: string[]) =>
    writeFileSync(path(number), segmentHeader + lines.join(''));
  write(1, endLine(row('one')));
  write(2, beginLine(intent('two')));

  const reading = readJournal(directory);
  // The second one was closed and moved, and what is open in it was written again.
  write(3, beginLine(intent('two')));
  rmSync(path(2));
  const entries = (await reading).flatMap((segment) => segment.entries);

  expect(rowsOf(entries).map(({ request_id }) => request_id)).toEqual(['one']);
  expect(openOf(entries).map(({ request_id }) => request_id)).toEqual(['two']);
});

test('a journal with a link to nothing is read too', { timeout: 10_000 }, async () => {
  const directory = emptyDirectory();
  symlinkSync('/nowhere', join(directory, `${owner}-00000001.journal`));
  writeFileSync(join(directory, `${owner}-00000002.journal`), segmentHeader + endLine(row('one')));

  const read = await readJournal(directory);

  expect(rowsOf(read.flatMap(({ entries }) => entries)).map(({ request_id }) => request_id)).toEqual(['one']);
});
