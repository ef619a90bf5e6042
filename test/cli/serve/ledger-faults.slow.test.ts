import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { emptyDirectory } from '../../kit/command.ts';
import { canMount, fill, mountDisk } from '../../kit/small-disk.ts';
import {
  answering,
  ask,
  body,
  configure,
  keys,
  serve,
  serveIn,
  statuses,
  stop,
  withBudget,
} from './workers/serving.ts';

test.each([1, 2])(
  'a second gateway with a budget in the same file is warned of the first, while that runs (workers: %i)',
  async (workers) => {
    const [{ url }, ledger] = [await answering(), join(emptyDirectory(), 'ledger.sqlite')];
    const warning = `another gateway writes the ledger ${ledger} too`;
    const homes = [emptyDirectory(), emptyDirectory()] as const;
    const more = `records: { ledger_file: ${ledger} }`;
    for (const home of homes) configure(home, withBudget(url, { limits: 'usd_per_day: 1', workers, more }));
    const first = await serveIn(homes[0]);
    expect(await statuses(first, 1)).toEqual([200]);

    // The first one locks its journal a moment after it has begun to serve.
    await expect
      .poll(() => readdirSync(`${ledger}.journal`).some((name) => name.endsWith('.lock')))
      .toBe(true);
    const second = await serveIn(homes[1]);
    await second.child.wrote(warning);
    expect(await statuses(second, 1)).toEqual([200]);
    for (const each of [first, second]) await stop(each, 'SIGKILL');

    const third = await serveIn(homes[0]);
    expect(await statuses(third, 1)).toEqual([200]);
    await stop(third);
    for (const { child } of [first, third]) expect((await child.ended).stderr).not.toContain(warning);
  },
  60_000,
);

test.skipIf(!canMount)(
  'on a full disk requests under a budget are 503, the others go on',
  async () => {
    const mounted = mountDisk('600k');
    const more = `records: { ledger_file: ${mounted}/ledger.sqlite }`;
    const gateway = await serve(
      withBudget((await answering()).url, { limits: 'usd_per_day: 100', more }),
      [],
      keys,
    );
    expect(await statuses(gateway, 1)).toEqual([200]);
    fill(mounted);

    // What the log of SQLite has left over is used up first.
    let last: Response | undefined;
    const status = async () => {
      last = await ask(gateway, body);
      return last.status;
    };
    await expect.poll(status, { timeout: 20_000, interval: 1 }).toBe(503);
    expect(last?.headers.get('retry-after')).toBe('5');
    expect(await last?.text()).toContain('the ledger cannot be written');
    expect(await statuses({ ...gateway, key: keys.FREE_KEY }, 1)).toEqual([200]);

    rmSync(join(mounted, 'filler'));
    await expect.poll(status).toBe(200);
    await gateway.child.wrote('can be written again');
    await stop(gateway);
  },
  60_000,
);

test.skipIf(!canMount).each([1, 2])(
  'what a stop could not write is an error, with %i processes',
  async (workers) => {
    const mounted = mountDisk('4m');
    const { url } = await answering();
    const home = emptyDirectory();
    const ledger = join(mounted, 'ledger.sqlite');
    configure(home, withBudget(url, { workers, more: `records: { ledger_file: "${ledger}" }` }));
    const gateway = await serveIn(home);
    fill(mounted);
    expect(await statuses({ ...gateway, key: keys.FREE_KEY }, 120)).toEqual(Array(120).fill(200));

    expect(await stop(gateway)).toBe(1);
    const { stderr } = await gateway.child.ended;
    expect(stderr).toMatch(/\d changes of the ledger are not on the disk/);
    expect(stderr).toMatch(/^gateway: not all /m);
  },
  60_000,
);
