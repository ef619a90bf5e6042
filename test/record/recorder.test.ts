import { existsSync, openSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { ExchangeRecord } from '../../src/record/record.ts';
import { createRecorder, fromLineStart } from '../../src/record/recorder.ts';
import { openRecorder } from '../../src/server/recording.ts';
import { emptyDirectory } from '../kit/own-configuration.ts';

const record: ExchangeRecord = {
  time: '2026-01-01T00:00:00.000Z',
  request_id: 'req_1',
  method: 'POST',
  path: '/v1/messages',
  status: 200,
  outcome: 'answered',
  bytes_in: 1,
  bytes_out: 1,
  total_ms: 1,
  config: 'hash',
};

/** Where records go, and what is written to stderr meanwhile. */
function places() {
  const file = join(emptyDirectory(), 'deep', 'records.jsonl');
  let text = '';
  const write = (more: string) => {
    text += more;
  };
  const written = () =>
    readFileSync(file, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as ExchangeRecord);
  return { file, written, stderr: { write }, lines: () => text.split('\n').filter((line) => line !== '') };
}

test('keeps records in a file that only its owner can read', () => {
  const { file, stderr, written } = places();
  const recorder = createRecorder({ file, stderr });

  recorder.write(record);
  recorder.close();

  expect(written()).toEqual([record]);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test('warns of placeholders that came back broken, by kind', () => {
  const { file, stderr, lines } = places();
  const recorder = createRecorder({ file, stderr });

  recorder.write({ ...record, masked: { EMAIL: 1 }, broken_placeholders: { EMAIL: 2 } });
  recorder.write({ ...record, masked: { EMAIL: 1 } });
  recorder.close();

  const levels = { info: 30, warn: 40 };
  expect(lines().map((line) => JSON.parse(line) as object)).toMatchObject([
    { level: levels.info, msg: 'exchange' },
    {
      level: levels.warn,
      msg: 'placeholders came back broken',
      request_id: 'req_1',
      broken_placeholders: { EMAIL: 2 },
    },
    { level: levels.info, msg: 'exchange' },
  ]);
});

test('a quiet gateway shows of its exchanges only those with broken placeholders', () => {
  const { file, stderr, lines } = places();
  const recorder = openRecorder(
    { file, days: undefined, shown: 'nothing', hasColour: false, isShared: false },
    stderr,
  );

  recorder.write(record);
  recorder.write({ ...record, broken_placeholders: { EMAIL: 1 } });
  recorder.close();

  expect(lines()).toEqual([expect.stringContaining('broken placeholders EMAIL 1')]);
});

test('writes a record that comes alone at once, batches up to 32, except those with a body', () => {
  const time = vi.spyOn(performance, 'now').mockReturnValue(1_000);
  onTestFinished(() => time.mockRestore());
  const { file, stderr, written } = places();
  const recorder = createRecorder({ file, stderr, show: () => undefined });
  const ids = () => written().map(({ request_id }) => request_id);

  recorder.write({ ...record, request_id: 'req_0' });
  const alone = ids();
  for (let i = 0; i < 31; i += 1) recorder.write(record);
  const waiting = ids();
  recorder.write(record);
  const together = ids();
  recorder.write({ ...record, request_id: 'req_2' });
  recorder.write({ ...record, request_id: 'req_3', request_body: 'x'.repeat(4_096) });
  const atOnce = ids();
  recorder.close();

  expect([alone, waiting]).toEqual([['req_0'], ['req_0']]);
  expect(together.slice(1)).toEqual(Array(32).fill('req_1'));
  expect(atOnce.slice(33)).toEqual(['req_2', 'req_3']);
});

test.skipIf(!existsSync('/proc/self'))('says at once where the folder of its file cannot be made', () => {
  const { stderr } = places();

  expect(() => createRecorder({ file: '/proc/nonexistent/x/records.jsonl', stderr })).toThrow(
    "ENOENT: no such file or directory, mkdir '/proc/nonexistent'",
  );
  expect(() => createRecorder({ file: '/dev/null/records.jsonl', stderr })).toThrow('/dev/null');
});

test.skipIf(!existsSync('/dev/full'))('goes on, and says so once, when the disk is full', () => {
  const { stderr, lines } = places();
  const recorder = createRecorder({
    file: '/dev/full',
    stderr,
    show: () => undefined,
    open: (file) => openSync(file, 'a'),
  });

  for (let i = 0; i < 100; i += 1) recorder.write(record);
  recorder.close();

  expect(lines().map((line) => JSON.parse(line) as object)).toMatchObject([
    { msg: 'records wait: their file cannot be written', cause: 'ENOSPC' },
    { msg: 'records were lost: their file could not be written', lines: 100 },
  ]);
});

test.each([
  [
    'when it has been made into a line',
    (file: string) => vi.waitUntil(() => statSync(file).size > 1_000_000),
  ],
  ['at once, where the recorder is closed meanwhile', () => undefined],
])('a record with a long body is in the file once, %s', async (_when, wait) => {
  const { file, stderr, written } = places();
  const recorder = createRecorder({ file, stderr });
  const long = { ...record, request_body: `a${'😀"\n\u0000é'.repeat(300_000)}` };

  recorder.write(long);
  recorder.write({ ...record, request_id: 'req_2' });
  await wait(file);
  recorder.close();

  expect(written()).toHaveLength(2);
  expect(written()).toContainEqual(long);
  expect(written()).toContainEqual({ ...record, request_id: 'req_2' });
});

test.each([
  ['nothing', 0, 'one\ntwo\n'],
  ['whole lines', 4, 'two\n'],
  ['everything', 8, ''],
  ['a part of the first line', 2, '\none\ntwo\n'],
  ['a part of a later line', 6, '\ntwo\n'],
])('after %s was written, what follows begins with a line', (_name, written, left) => {
  expect(fromLineStart(Buffer.from('one\ntwo\n'), written).toString()).toBe(left);
});

test('a line that is cut twice does not grow', () => {
  const once = fromLineStart(Buffer.from('one\n'), 2);

  expect(fromLineStart(once, 3).toString()).toBe('\none\n');
});
