import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { chromiumPath, useBrowser } from '../../kit/browser.ts';
import { isExhaustive } from '../../kit/scale.ts';
import { housePolicy, say, servePage } from '../../kit/served-page.ts';
import { type Postgres, postgresPrograms, startPostgres } from '../../plants/postgres.ts';

const openPage = useBrowser();
const usesPostgres = isExhaustive && postgresPrograms !== undefined;

describe.skipIf(chromiumPath === undefined)('what a ledger has', { timeout: 60_000 }, () => {
  let postgres: Postgres | undefined;
  beforeAll(async () => {
    if (usesPostgres) postgres = await startPostgres();
  }, 60_000);
  afterAll(() => postgres?.stop());

  test.each(usesPostgres ? ['a file', 'PostgreSQL'] : ['a file'])(
    'in %s is shown by hours and days, after a restart too',
    async (where) => {
      const database = where === 'PostgreSQL' ? await postgres?.createDatabase() : undefined;
      const records = database === undefined ? 'ledger: true' : `ledger_database: "${database}"`;
      const gateway = await servePage(`records: { ${records} }\n${housePolicy}`);
      for (let count = 0; count < 3; count += 1) await gateway.ask(say(`number ${count}`));
      await gateway.stop(); // everything is written then
      await gateway.start();
      const { page, complaints } = await openPage();
      await page.goto(await gateway.link());
      await page.getByRole('grid').waitFor();
      await page.keyboard.press('2');

      await page.getByRole('button', { name: '24 hours' }).click();
      await page.getByRole('img', { name: 'Requests per hour: 3 in 24 hours' }).waitFor();
      await page.getByRole('button', { name: '30 days' }).click();
      await page.getByRole('img', { name: 'Requests per day: 3 in 30 days' }).waitFor();

      expect(await page.locator('.figures', { hasText: 'requests' }).innerText()).toMatch(/requests\s+3/);
      expect(complaints).toEqual([]);
    },
  );
});
