import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { DailyFile, earlierFiles } from '../../src/record/daily-file.ts';
import { followRecords, recordsBackwards } from '../../src/record/read-records.ts';
import { openOwnFile } from '../../src/record/recorder.ts';
import { emptyDirectory } from '../kit/own-configuration.ts';

const dayMs = 86_400_000;
const midnight = Date.parse('2026-11-29T00:00:00Z');

/** The file of some processes, whose clock a test sets; `write` appends a line for one of them. */
function places({ days }: { readonly days: number | undefined } = { days: 90 }) {
  vi.useFakeTimers({ toFake: ['Date'], now: midnight - 1 });
  onTestFinished(() => void vi.useRealTimers());
  const folder = emptyDirectory();
  const path = join(folder, 'records.jsonl');
  const failures: string[] = [];
  const opened: DailyFile[] = [];
  const open = () => {
    const file = new DailyFile(path, {
      open: openOwnFile,
      days,
      onFailure: (cause) => failures.push(cause),
    });
    opened.push(file);
    return file;
  };
  onTestFinished(() => {
    for (const file of opened) file.close();
  });
  const contents = () =>
    Object.fromEntries(
      readdirSync(folder)
        .toSorted()
        .map((name) => [name, readFileSync(join(folder, name), 'utf8').match(/req_\w+/g) ?? []]),
    );
  return { folder, path, open, contents, failures };
}

function write(file: DailyFile, id: string): void {
  file.turn();
  const time = new Date().toISOString();
  writeSync(file.descriptor, `${JSON.stringify({ time, request_id: `req_${id}`, total_ms: 1 })}\n`);
}

/** Real files have the real time; a test's have that of its clock. */
function stamp(path: string, ms = Date.now()): void {
  utimesSync(path, ms / 1_000, ms / 1_000);
}

test('the first line of a day begins a file; that of the day before is put aside under its date', () => {
  const { path, open, contents } = places();
  const file = open();
  write(file, 'a');
  write(file, 'b');
  stamp(path);
  vi.setSystemTime(midnight);
  write(file, 'c');
  write(file, 'd');

  expect(contents()).toEqual({
    'records.2026-11-28.jsonl': ['req_a', 'req_b'],
    'records.jsonl': ['req_c', 'req_d'],
  });
});

test('several processes lose no line, whichever comes first, and go over to the same file', () => {
  const { path, open, contents } = places();
  const [one, two, three] = [open(), open(), open()];
  for (const [i, file] of [one, two, three].entries()) write(file, `before${i}`);
  stamp(path);
  vi.setSystemTime(midnight);
  for (const [i, file] of [two, one, three, one].entries()) write(file, `after${i}`);
  stamp(path);
  write(open(), 'later');

  expect(contents()).toEqual({
    'records.2026-11-28.jsonl': ['req_before0', 'req_before1', 'req_before2'],
    'records.jsonl': ['req_after0', 'req_after1', 'req_after2', 'req_after3', 'req_later'],
  });
});

test('a start leaves the file of the day in place, also if its first exchange began before midnight', () => {
  const { path, open, contents } = places();
  vi.setSystemTime(midnight);
  const one = open();
  writeSync(one.descriptor, '{"time":"2026-11-28T23:59:59.999Z","request_id":"req_late"}\n');
  stamp(path);
  write(open(), 'other');
  write(one, 'own');

  expect(contents()).toEqual({ 'records.jsonl': ['req_late', 'req_other', 'req_own'] });
});

test('a start on a later day puts the file aside too, and a name that is taken is left alone', () => {
  const { folder, path, open, contents } = places();
  const first = open();
  write(first, 'a');
  stamp(path);
  writeFileSync(join(folder, 'records.2026-11-28.jsonl'), '{"request_id":"req_other"}\n');
  vi.setSystemTime(midnight + 3 * dayMs);
  write(open(), 'b');

  expect(contents()).toEqual({
    'records.2026-11-28.1.jsonl': ['req_a'],
    'records.2026-11-28.jsonl': ['req_other'],
    'records.jsonl': ['req_b'],
  });
});

test('files of more days ago than are kept are deleted, on a new day and at a start, and nothing else is', () => {
  const { folder, path, open, contents } = places({ days: 2 });
  const others = [
    'records.2020-01-01.txt',
    'other.2020-01-01.jsonl',
    'records.2020.jsonl',
    'records.old.jsonl',
  ];
  for (const name of [...others, 'records.2026-11-25.jsonl', 'records.2026-11-26.3.jsonl']) {
    writeFileSync(join(folder, name), '');
    stamp(join(folder, name), midnight - 4 * dayMs);
  }
  const written = 'records.2020-01-02.jsonl'; // by a process that doesn't go over to new files
  writeFileSync(join(folder, written), '');
  mkdirSync(join(folder, 'records.2020-01-01.jsonl'));
  const file = open();
  expect(existsSync(join(folder, 'records.2026-11-25.jsonl'))).toBe(false);
  expect(existsSync(join(folder, 'records.2026-11-26.3.jsonl'))).toBe(true);
  write(file, 'a');
  stamp(path);
  vi.setSystemTime(midnight);
  file.turn();

  const kept = readdirSync(folder).toSorted();
  expect(kept).toEqual(
    [...others, written, 'records.2020-01-01.jsonl', 'records.2026-11-28.jsonl', 'records.jsonl'].toSorted(),
  );
  expect(contents).toThrow(); // of the folder
});

test('a clock that is far ahead deletes nothing, until a file of its own days is put aside', () => {
  const { folder, path, open } = places({ days: 2 });
  const earlier = ['records.2026-11-26.jsonl', 'records.2026-11-27.jsonl'];
  for (const name of earlier) {
    writeFileSync(join(folder, name), '');
    stamp(join(folder, name), midnight - 3 * dayMs);
  }
  const file = open();
  write(file, 'a');
  stamp(path, midnight - 2 * dayMs);
  vi.setSystemTime(midnight + 400 * dayMs);
  write(file, 'b');
  stamp(path);
  expect(readdirSync(folder)).toEqual(expect.arrayContaining(earlier));

  vi.setSystemTime(midnight + 401 * dayMs);
  write(file, 'c');
  expect(readdirSync(folder).toSorted()).toEqual(['records.2028-01-03.jsonl', 'records.jsonl']);
});

test("a file of an old day that isn't the gateway's stays", () => {
  const { folder, open } = places({ days: 2 });
  for (const name of ['records.2026-11-20.jsonl', 'records.2026-11-27.jsonl'])
    writeFileSync(join(folder, name), '{"another":"program"}\n');
  stamp(join(folder, 'records.2026-11-20.jsonl'), midnight - 9 * dayMs);
  open();

  expect(existsSync(join(folder, 'records.2026-11-20.jsonl'))).toBe(true);
});

test("whoever may read one day's file may read the next day's", () => {
  const { path, open } = places();
  const file = open();
  write(file, 'a');
  stamp(path);
  chmodSync(path, 0o640);
  vi.setSystemTime(midnight);
  write(file, 'b');

  expect(statSync(path).mode & 0o777).toBe(0o640);
});

test('without a number of days all lines are in one file', () => {
  const { open, contents } = places({ days: undefined });
  const file = open();
  for (let day = 0; day < 3; day += 1) {
    vi.setSystemTime(midnight + day * dayMs);
    write(file, `${day}`);
  }

  expect(contents()).toEqual({ 'records.jsonl': ['req_0', 'req_1', 'req_2'] });
});

test('where a file cannot be put aside, lines go on into it, and that is said once a day', () => {
  const { folder, path, open, contents, failures } = places();
  const file = open();
  write(file, 'a');
  stamp(path);
  for (let i = 0; i <= 100; i += 1)
    mkdirSync(join(folder, `records.2026-11-28${i === 0 ? '' : `.${i}`}.jsonl`));
  vi.setSystemTime(midnight);
  write(file, 'b');
  write(file, 'c');

  expect(failures).toEqual(['EEXIST']);
  expect(readFileSync(path, 'utf8').match(/req_\w+/g)).toEqual(['req_a', 'req_b', 'req_c']);
  expect(contents).toThrow(); // of the folders
});

test('records of all days are read, the newest first, each once even if the file is put aside meanwhile', async () => {
  const { path, open } = places();
  const file = open();
  for (let day = 0; day < 3; day += 1) {
    vi.setSystemTime(midnight + day * dayMs);
    write(file, `${day}a`);
    write(file, `${day}b`);
    stamp(path);
  }
  const found: string[] = [];
  for await (const { request_id: id } of recordsBackwards(path)) {
    found.push(id);
    if (found.length > 1) continue;
    vi.setSystemTime(midnight + 3 * dayMs);
    write(file, '3a');
  }

  expect(found).toEqual(['req_2b', 'req_2a', 'req_1b', 'req_1a', 'req_0b', 'req_0a']);
  expect(earlierFiles(path)).toHaveLength(3);
});

test('who follows records gets those of the day before and of the next one, also from a process that is late', async () => {
  const { path, open } = places();
  const [one, two] = [open(), open()];
  write(one, 'before');
  const end = new AbortController();
  const following = await followRecords(path, end.signal);
  const found: string[] = [];
  const reading = (async () => {
    for await (const { request_id: id } of following) found.push(id);
  })();
  write(one, 'a');
  stamp(path);
  const late = two.descriptor;
  vi.setSystemTime(midnight);
  write(one, 'c');
  writeSync(late, '{"time":"2026-11-28T23:59:59.999Z","request_id":"req_b"}\n');

  await expect.poll(() => found).toEqual(['req_a', 'req_b', 'req_c']);
  end.abort();
  await reading;
});
