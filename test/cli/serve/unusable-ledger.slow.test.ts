import { execFileSync } from 'node:child_process';
import { closeSync, openSync, renameSync, rmSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { command, emptyDirectory } from '../../kit/command.ts';
import {
  answering,
  canMount,
  configure,
  fill,
  type Gateway,
  keys,
  onDisk,
  serveIn,
  startIn,
  statuses,
  stop,
  withBudget,
} from './workers/serving.ts';

// A SQLite ledger that is damaged or read-only; test/record/ledger/damaged-file.slow.test.ts has each page of a file.
const free = (gateway: Gateway) => ({ ...gateway, key: keys.FREE_KEY });
const budget = 'tokens_per_day: 1000000';
const more = (ledger: string) => `records: { ledger_file: "${ledger}" }`;

/** Every page but the first, which says that it is a database. */
function damage(path: string): void {
  const file = openSync(path, 'r+');
  const noise = Buffer.from(Array.from({ length: statSync(path).size - 4_096 }, (_, i) => (i * 7_919) % 251));
  writeSync(file, noise, 0, noise.length, 4_096);
  closeSync(file);
}

test('damaged in the middle: a running gateway goes on, the next one refuses budgets, and says what to do', async () => {
  const { url } = await answering();
  const home = emptyDirectory();
  const ledger = join(home, 'ledger.sqlite');
  configure(home, withBudget(url, { limits: budget, more: more(ledger) }));
  const filled = await serveIn(home);
  expect(new Set(await statuses(filled, 20))).toEqual(new Set([200]));
  expect(await stop(filled)).toBe(0);

  const first = await serveIn(home);
  expect(await statuses(first, 1)).toEqual([200]);
  damage(ledger);
  expect(await statuses(free(first), 5)).toEqual([200, 200, 200, 200, 200]);
  // Whether it notices depends on which pages it has in memory.
  expect([200, 503]).toEqual(expect.arrayContaining(await statuses(first, 5)));
  expect([0, 1]).toContain(await stop(first));

  for (const suffix of ['-wal', '-shm']) rmSync(ledger + suffix, { force: true });
  damage(ledger);
  const { exit, stderr } = await startIn(home).ended;
  expect(exit).toBe(2);
  expect(stderr).toContain(`the ledger ${ledger} can't be opened (database disk image is malformed)`);
  expect(stderr).toContain('repair it, move it away, or set records.ledger: false');
  const usage = await command(['usage'], { cwd: home, env: keys });
  expect(usage.exit).toBe(2);
  expect(usage.stderr).toContain(`the ledger ${ledger} can't be read: database disk image is malformed`);

  configure(home, withBudget(url, { more: more(ledger) }));
  const others = await serveIn(home);
  await others.child.wrote(`the ledger ${ledger} cannot be written`);
  expect(await statuses(others, 2)).toEqual([200, 200]);
  renameSync(ledger, `${ledger}.damaged`);
  await others.child.wrote('can be written again');
  expect(await stop(others)).toBe(0);
  const { stdout } = await command(['usage', '-o', 'json'], { cwd: home, env: keys });
  // What the first gateway could not write any more was in its journal.
  const [freely, shop] = JSON.parse(stdout);
  expect(freely).toMatchObject({ project: 'free', requests: 5 });
  expect(shop.requests).toBeGreaterThanOrEqual(5 + 2);
}, 120_000);

test.skipIf(!canMount)(
  'read-only: budgets are refused at the start, others are served, and it is written once it can be',
  () =>
    onDisk('4m', async (mounted) => {
      const { url } = await answering();
      const ledger = join(mounted, 'ledger.sqlite');
      const home = emptyDirectory();
      configure(home, withBudget(url, { limits: budget, more: more(ledger) }));
      const filled = await serveIn(home);
      expect(await statuses(filled, 1)).toEqual([200]);
      expect(await stop(filled)).toBe(0);
      execFileSync('mount', ['-o', 'remount,ro', mounted]);

      expect(await startIn(home).ended).toMatchObject({
        exit: 2,
        stderr: expect.stringContaining(`the ledger ${ledger} can't be opened (EROFS: read-only file system`),
      });

      configure(home, withBudget(url, { more: more(ledger) }));
      const others = await serveIn(home);
      await others.child.wrote(`the ledger ${ledger} cannot be written`);
      expect(await statuses(free(others), 2)).toEqual([200, 200]);
      execFileSync('mount', ['-o', 'remount,rw', mounted]);
      await others.child.wrote('can be written again');
      expect(await stop(others)).toBe(0);
      const { stdout } = await command(['usage', '-o', 'json'], { cwd: home, env: keys });
      expect(JSON.parse(stdout)).toMatchObject([
        { project: 'free', requests: 2 },
        { project: 'shop', requests: 1 },
      ]);
    }),
  120_000,
);

test.skipIf(!canMount).each([1, 2])(
  'what a stop could not write is an error, with %i processes',
  (workers) =>
    onDisk('4m', async (mounted) => {
      const { url } = await answering();
      const home = emptyDirectory();
      const ledger = join(mounted, 'ledger.sqlite');
      configure(home, withBudget(url, { workers, more: more(ledger) }));
      const gateway = await serveIn(home);
      fill(mounted);
      expect(await statuses(free(gateway), 120)).toEqual(Array(120).fill(200));

      expect(await stop(gateway)).toBe(1);
      const { stderr } = await gateway.child.ended;
      expect(stderr).toMatch(/\d changes of the ledger are not on the disk/);
      expect(stderr).toMatch(/^gateway: not all /m);
    }),
  60_000,
);
