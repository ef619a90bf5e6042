import { beforeAll, describe, expect, test } from 'vitest';
import { chromiumPath, useBrowser } from '../../kit/browser.ts';
import { enter, housePolicy, type ServedPage, say, servePage } from '../../kit/served-page.ts';
import { row } from '../traced.ts';

const openPage = useBrowser();
let gateway: ServedPage;
beforeAll(async () => {
  gateway = await servePage(housePolicy);
});

describe.skipIf(chromiumPath === undefined)('the page is quick', { timeout: 90_000 }, () => {
  test('10,000 rows scroll: only those in sight exist', async () => {
    const { page } = await openPage({ viewport: { width: 1440, height: 900 } });
    // More than the gateway keeps, as after a day.
    await page.route('**/_/api/exchanges', async (route) => {
      const rows = Array.from({ length: 10_000 }, (_, index) =>
        row({ seq: 10_000 - index, id: `req_${10_000 - index}` }),
      );
      await route.fulfill({ json: { rows, cursor: '' } });
    });
    await page.goto(await gateway.link());
    const grid = page.getByRole('grid');
    await expect.poll(() => grid.getAttribute('aria-rowcount'), { timeout: 20_000 }).toBe('10001');

    await grid.evaluate((list: { scrollTop: number }) => {
      list.scrollTop = 12_000;
    });
    const isRowInSight = () =>
      page.evaluate(`(() => {
        const grid = document.querySelector('[role=grid]').getBoundingClientRect();
        return document.elementsFromPoint(grid.left + 200, grid.bottom - 20).some((element) => element.closest('.row'));
      })()`);
    await expect.poll(isRowInSight).toBe(true);
    const elements = await page.locator('.row').count();

    expect(elements).toBeLessThan(120);
  });

  test('rows that come in above leave what is read in its place', async () => {
    for (let count = 0; count < 40; count += 1) await gateway.ask(say(`number ${count}`));
    const { page } = await enter(gateway, openPage({ viewport: { width: 1200, height: 500 } }));
    const grid = page.getByRole('grid');
    await expect.poll(() => grid.getAttribute('aria-rowcount')).toBe('41');
    await page.evaluate(`document.querySelector('[role=grid]').scrollTop = 300`);
    const read = page.locator('.row:not(.head)').nth(15);
    const id = await read.getAttribute('id');
    const before = await page.locator(`#${id}`).boundingBox();

    await gateway.ask(say('another one'));
    await expect.poll(() => grid.getAttribute('aria-rowcount')).toBe('42');
    const after = await page.locator(`#${id}`).boundingBox();

    expect(Math.abs((after?.y ?? 0) - (before?.y ?? 0))).toBeLessThan(2);
  });
});
