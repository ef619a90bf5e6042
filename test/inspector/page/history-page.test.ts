import { describe, expect, test } from 'vitest';
import { chromiumPath, useBrowser } from '../../kit/browser.ts';
import { enter, housePolicy, say, servePage } from '../../kit/served-page.ts';
import { describePostgres } from '../../plants/databases.ts';

const openPage = useBrowser();

describe.skipIf(chromiumPath === undefined)('a ledger', { timeout: 60_000 }, () => {
  async function showsThree(records: string): Promise<void> {
    const gateway = await servePage(`records: { ${records} }\n${housePolicy}`);
    for (let count = 0; count < 3; count += 1) await gateway.ask(say(`number ${count}`));
    await gateway.stop(); // everything is written then
    await gateway.start();
    const { page, complaints } = await enter(gateway, openPage());
    await page.keyboard.press('2');

    await page.getByRole('button', { name: '24 hours' }).click();
    await page.getByRole('img', { name: 'Requests per hour: 3 in 24 hours' }).waitFor();
    await page.getByRole('button', { name: '30 days' }).click();
    await page.getByRole('img', { name: 'Requests per day: 3 in 30 days' }).waitFor();

    expect(await page.locator('.figures', { hasText: 'requests' }).innerText()).toMatch(/requests\s+3/);
    expect(complaints).toEqual([]);
  }

  test('in a file is shown by hours and days, after a restart too', () => showsThree('ledger: true'));

  describePostgres('of several gateways', (databases) => {
    test('is shown by hours and days, after a restart too', async () =>
      showsThree(`ledger_database: "${await databases.create()}"`));
  });
});
