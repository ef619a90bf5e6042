import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { readHistory } from '../../../../src/inspector/tasks/read-history.ts';
import { fileLedger } from '../../../../src/record/ledger/ledger-store.ts';
import { emptyDirectory } from '../../../kit/command.ts';

const zone = process.env.TZ;
afterEach(() => {
  if (zone === undefined) delete process.env.TZ;
  else process.env.TZ = zone;
});

test('the hour that comes twice at the end of summer time is two hours', async () => {
  process.env.TZ = 'Europe/Berlin';
  const place = fileLedger(join(emptyDirectory(), 'none.sqlite'));

  const { steps } = await readHistory({
    place,
    by: 'hour',
    sinceMs: Date.parse('2026-10-25T01:30:00Z'),
    nowMs: Date.parse('2026-10-25T03:10:00Z'),
  });

  expect(steps.map(({ time }) => time)).toEqual([
    '2026-10-25T01:00:00.000Z',
    '2026-10-25T02:00:00.000Z',
    '2026-10-25T03:00:00.000Z',
  ]);
});
