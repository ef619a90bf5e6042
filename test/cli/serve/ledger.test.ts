import { expect, test } from 'vitest';
import { command, emptyDirectory } from '../../kit/command.ts';
import { isExhaustive } from '../../kit/scale.ts';
import {
  answering,
  configure,
  keys,
  query,
  segments,
  serveIn,
  statuses,
  stop,
  withBudget,
} from './workers/serving.ts';

test.each(isExhaustive ? [1, 2] : [1])(
  'a restart keeps a budget: 40 of 50 used, 10 are left (workers: %i)',
  async (workers) => {
    const home = emptyDirectory();
    // For exactly 50, whether the one before is settled already or still reserved: its answer comes first.
    const limits = `tokens_per_day: ${120 * 50 + 100}`;
    configure(home, withBudget((await answering()).url, { limits, workers }));
    const first = await serveIn(home);
    expect(new Set(await statuses(first, 40))).toEqual(new Set([200]));
    await stop(first);

    const second = await serveIn(home);
    expect(await statuses(second, 15)).toEqual([...Array(10).fill(200), ...Array(5).fill(429)]);
    await stop(second);
    // What a busy machine did not get into the database before it stopped, the next start does.
    if (segments(home).length > 0) await stop(await serveIn(home));
    expect(await query(home, 'select sum(requests) as count, sum(nano_usd) as usd from sums')).toEqual([
      { count: 50, usd: 50 * 220_000 },
    ]);
  },
  60_000,
);

test('a gateway with a budget does not start without its ledger; one without a budget does', async () => {
  const { url } = await answering();
  const home = emptyDirectory();
  const more = 'records: { ledger_file: /proc/version }';
  configure(home, withBudget(url, { limits: 'usd_per_day: 1', more }));
  expect(await command(['serve', '-p', '0'], { cwd: home, env: keys })).toMatchObject({
    exit: 2,
    stderr: expect.stringContaining('the ledger /proc/version can'),
  });

  configure(home, withBudget(url, { more }));
  const gateway = await serveIn(home);
  expect(await statuses(gateway, 1)).toEqual([200]);
  await gateway.child.wrote('the ledger /proc/version cannot be written');
  await stop(gateway, 'SIGKILL'); // else it tries for ten seconds to save the row
}, 60_000);
