import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { fileLedger } from '../../../src/record/ledger/ledger-store.ts';
import { openStore } from '../../../src/record/ledger/open-store.ts';
import { chromiumPath, useBrowser } from '../../kit/browser.ts';
import { enter, housePolicy, type ServedPage, say, servePage } from '../../kit/served-page.ts';
import { row } from '../../record/ledger/rows.ts';

const openPage = useBrowser();
let gateway: ServedPage;

/** 10,000 sessions of three requests, and one with a subagent whose cache is missed once. */
async function fill(home: string): Promise<void> {
  const store = await openStore(fileLedger(join(home, '.local/state/gateway/ledger.sqlite')));
  const nowMs = Date.now();
  const sender = { key_id: 'shop-web', agent: 'claude' };
  const many = Array.from({ length: 30_000 }, (_, i) => ({
    ...row(`req_many_${i}`),
    ...sender,
    session: `many-${i % 10_000}`,
    started_ms: nowMs - 3_600_000 - (i % 10_000) * 60_000,
  }));
  const turns = [
    [20_000, 0, null],
    [21_000, 20_000, null],
    [8_000, 0, 'agent-tests'],
    [23_500, 21_000, null],
    [9_000, 8_000, 'agent-tests'],
    [24_000, 300, null],
    [26_000, 24_000, null],
  ] as const;
  const one = turns.map(([input_tokens, cache_read_tokens, subagent], i) => ({
    ...row(`req_turn_${i}`),
    ...sender,
    ...{ session: '7143c744', subagent, input_tokens, cache_read_tokens, output_tokens: 400 },
    nano_usd: 3_000 * (input_tokens - cache_read_tokens) + 300 * cache_read_tokens,
    started_ms: nowMs - 600_000 + i * 20_000,
  }));
  const rows = [...many, ...one];
  for (let from = 0; from < rows.length; from += 5_000)
    await store.add({ rows: rows.slice(from, from + 5_000) });
  await store.close();
}

beforeAll(async () => {
  gateway = await servePage(housePolicy);
  await gateway.ask(say('the first makes the ledger'));
  await fill(gateway.home);
}, 60_000);

describe.skipIf(chromiumPath === undefined)('the sessions', { timeout: 60_000 }, () => {
  test('are listed, filtered by the address, and one shows its agents, turns and the cache that was missed', async () => {
    const { page, complaints } = await enter(gateway, openPage());

    await page.getByRole('button', { name: 'Sessions', exact: true }).click();
    const rows = page.locator('.sessions tbody tr');
    await rows.nth(299).waitFor();
    await page.getByRole('searchbox').fill('7143');
    await expect.poll(() => rows.count()).toBe(1);
    expect(new URL(page.url()).search).toBe('?text=7143');
    if (process.env.SCREENSHOTS)
      await page.screenshot({ path: join(process.env.SCREENSHOTS, 'sessions.png') });
    await page.getByRole('link', { name: '7143c744' }).click();
    await rows.nth(6).waitFor();
    if (process.env.SCREENSHOTS)
      await page.screenshot({ path: join(process.env.SCREENSHOTS, 'session.png') });

    expect(new URL(page.url()).hash).toBe('#/session/shop-web/7143c744');
    expect(await page.locator('tr.missed').allInnerTexts()).toEqual([
      expect.stringMatching(/\+500\s.*1 %.*missed the cache/s),
    ]);
    expect(await page.getByText('One turn missed the cache.').count()).toBe(1);
    await page.getByRole('button', { name: 'agent-tests' }).click();
    await expect.poll(() => rows.count()).toBe(2);
    expect(complaints).toEqual([]);
  });

  test('a link opens one, and a request that names it appears without a reload', async () => {
    const { page } = await enter(gateway, openPage());
    await gateway.ask(say('one'), { headers: { 'x-gateway-session': 'live/one' } });
    await page.goto(`${gateway.url}/_/#/session/shop-web/live%2Fone`);
    const rows = page.locator('.turns tbody tr');
    await expect.poll(() => rows.count()).toBe(1);

    await gateway.ask(say('two'), { headers: { 'x-gateway-session': 'live/one' } });
    await expect.poll(() => rows.count()).toBe(2);

    await page.goto(`${gateway.url}/_/#/session/shop-web/nobody`);
    await page.getByText('There is no such session in the ledger').waitFor();
  });

  test('open soon, though there are 10,000', async () => {
    const { page } = await enter(gateway, openPage());
    const timesMs: number[] = [];
    for (let i = 0; i < 5; i += 1) {
      await page.getByRole('button', { name: 'Now', exact: true }).click();
      await page.locator('.now-view').waitFor();
      timesMs.push(
        // A text, since the tests know no browser's names.
        await page.evaluate<number>(`(async () => {
          const startedAt = performance.now();
          location.hash = '#/sessions';
          while (document.querySelectorAll('.sessions tbody tr').length < 300)
            await new Promise((resolve) => requestAnimationFrame(resolve));
          return performance.now() - startedAt;
        })()`),
      );
    }

    console.log(`sessions open in ${timesMs.map(Math.round).join(', ')} ms`);
    expect(timesMs).toHaveLength(5);
  });
});
