import { beforeAll, describe, expect, test } from 'vitest';
import { version } from '../../../src/version.ts';
import { chromiumPath, useBrowser } from '../../kit/browser.ts';
import { enter, housePolicy, type ServedPage, say, servePage } from '../../kit/served-page.ts';
import { row } from '../traced.ts';

const openPage = useBrowser();
let gateway: ServedPage;
beforeAll(async () => {
  gateway = await servePage(housePolicy);
});

const open = () => enter(gateway, openPage());

describe.skipIf(chromiumPath === undefined)('the traffic', { timeout: 60_000 }, () => {
  test('shows a blocked request with its rule as it happens, and what it matched', async () => {
    const { page, rows, complaints, requested } = await open();

    const status = await gateway.ask(say('tell me of the Blue  Heron'));
    const row = rows.first();
    await row.getByText('no-codename').waitFor();
    const text = await row.innerText();
    await row.click();
    const rule = page.locator('.rules .matched');
    await rule.getByText('/messages/0/content').waitFor();
    const place = await rule.locator('.rule-place').innerText();

    expect(status).toBe(403);
    expect(text).toContain('403');
    expect(text).toContain('blocked');
    expect(await rule.locator('.verdict').innerText()).toBe('block');
    expect(place).toMatch(/gateway\.yaml:\d+/);
    expect(new URL(page.url()).hash).toMatch(/^#\/exchange\/req_/);
    expect(requested.filter((url) => !url.startsWith(gateway.url))).toEqual([]);
    expect(complaints).toEqual([]);
  });

  test('is narrowed by filters that stand in the address, and by an address that has them', async () => {
    await gateway.ask(say('a blue heron'));
    await gateway.ask(say('hello'), { headers: { 'user-agent': 'shared-client/1.0' } });
    const { page, rows } = await open();
    await rows.getByText('shared-client/1.0').first().waitFor();

    await page.getByRole('button', { name: /^blocked/ }).click();
    await expect
      .poll(async () => new Set(await rows.locator('.status-cell').allInnerTexts()))
      .toEqual(new Set(['403']));
    const shared = page.url();
    await page.getByRole('button', { name: 'Clear' }).click();
    await page.getByRole('searchbox').fill('shared-client');
    await expect.poll(() => rows.count()).toBe(1);
    await page.goto('about:blank');
    await page.goto(shared);
    await rows.first().waitFor();

    expect(new URL(shared).search).toBe('?show=blocked');
    expect(new Set(await rows.locator('.status-cell').allInnerTexts())).toEqual(new Set(['403']));
    expect(await page.getByRole('button', { name: /^blocked/ }).getAttribute('aria-pressed')).toBe('true');
  });

  test('goes back by a choice and forward again, and not by a letter', async () => {
    await gateway.ask(say('a blue heron'));
    await gateway.ask(say('hello'));
    const { page, rows } = await open();
    await rows.first().waitFor();
    const search = () => new URL(page.url()).search;
    const pressed = () => page.getByRole('button', { name: /^blocked/ }).getAttribute('aria-pressed');

    await page.getByRole('button', { name: /^blocked/ }).click();
    await page.getByRole('searchbox').pressSequentially('codename');
    await expect.poll(search).toBe('?show=blocked&text=codename');
    await page.goBack();
    await expect.poll(search).toBe('?show=blocked');
    const afterOne = [await pressed(), await page.getByRole('searchbox').inputValue()];
    await page.goBack();
    await expect.poll(pressed).toBe('false');
    const afterTwo = search();
    await page.goForward();
    await expect.poll(pressed).toBe('true');

    expect(afterOne).toEqual(['true', '']);
    expect(afterTwo).toBe('');
  });

  test('goes back to the exchange that was open, and on from there', async () => {
    for (const text of ['one', 'two', 'three']) await gateway.ask(say(text));
    const { page, rows } = await open();
    await rows.nth(2).waitFor();
    const ids = () => page.locator('.row[aria-selected=true]').getAttribute('aria-rowindex');

    await rows.nth(2).click();
    await page.getByRole('button', { name: 'Close the exchange' }).click();
    await rows.nth(0).click();
    await page.getByRole('tab').first().waitFor();
    await page.goBack();
    await page.getByRole('tab').first().waitFor({ state: 'detached' });
    await page.goBack();
    await page.getByRole('tab').first().waitFor();

    await expect.poll(ids).toBe('4');
  });

  test('stands still while it is paused', async () => {
    const { page, rows } = await open();
    await gateway.ask(say('before the pause'), { headers: { 'user-agent': 'before-pause/1.0' } });
    await rows.getByText('before-pause/1.0').waitFor();
    await page.getByRole('button', { name: 'Pause' }).click();
    const before = await rows.count();

    await gateway.ask(say('while it is paused'));
    await page.getByRole('button', { name: 'Resume (1 new)' }).waitFor();
    const paused = await rows.count();
    await page.getByRole('button', { name: /Resume/ }).click();

    expect(paused).toBe(before);
    await expect.poll(() => rows.count()).toBe(before + 1);
  });

  test('is worked with keys alone', async () => {
    await gateway.ask(say('first'));
    await gateway.ask(say('a blue heron'));
    const { page, rows } = await open();
    await rows.nth(1).waitFor();
    const press = (key: string) => page.keyboard.press(key);

    await press('j');
    await press('j');
    const selected = () => page.locator('.row[aria-selected=true]').getAttribute('aria-rowindex');
    const second = await selected();
    await page.getByRole('grid').focus();
    await press('Home');
    const newest = await selected();
    await press('End');
    const oldest = await selected();
    const count = await page.getByRole('grid').getAttribute('aria-rowcount');
    await press('PageUp');
    await press('Enter');
    await page.getByRole('tab', { name: 'Overview' }).waitFor();
    await page.getByRole('tab', { name: 'Overview' }).focus();
    await press('ArrowRight');
    const tab = await page.getByRole('tab', { selected: true }).innerText();
    await press('Escape');
    await page.getByRole('tab').first().waitFor({ state: 'detached' });
    await press('/');
    await page.keyboard.type('no-codename');
    await page
      .getByRole('status')
      .filter({ hasText: / of \d+ exchanges match$/ })
      .waitFor();
    await press('Escape');
    await press('?');
    await page.getByRole('dialog', { name: 'Keys' }).waitFor();
    await press('Escape');
    await press('2');
    await page.getByText('Requests per minute').waitFor();
    await press('3');
    await page.getByText('a scratch copy').waitFor();
    await press('1');

    expect([second, newest, oldest]).toEqual(['3', '2', count]);
    await expect.poll(() => page.title()).toBe('Traffic – gateway');
    expect(tab).toBe('Headers');
    expect(new URL(page.url()).search).toBe('?text=no-codename');
  });

  test('continues when the gateway is restarted', async () => {
    const { page, rows } = await open();
    await gateway.ask(say('before the restart', { model: 'before-restart' }));
    await rows.getByText('before-restart').waitFor();
    const before = await rows.count();

    await gateway.stop();
    await page.getByText('disconnected, retrying').waitFor();
    await page.getByRole('button', { name: 'Keep bodies 10 min' }).click();
    const failure = await page.getByRole('alert').innerText();
    await gateway.start();
    await page.getByText('gateway open', { exact: true }).waitFor({ timeout: 20_000 });
    await page.goto(await gateway.link());
    await page.getByText('live', { exact: true }).waitFor();
    await gateway.ask(say('after the restart, of the blue heron'));
    await rows.getByText('no-codename').first().waitFor();

    // What was before is read from the records.
    await rows.nth(before).waitFor();
    await rows.getByText('before-restart').click();
    await page.getByRole('tab', { name: 'Headers' }).click();
    await page.getByText('known from its record').waitFor();
    expect(failure).toBe('The gateway does not answer. Is it running?');
  });

  test('a view that was opened while the gateway could not be reached is filled when it can', async () => {
    const { page } = await openPage();
    await gateway.ask(say('for the ledger'));
    const calls = /\/_\/api\/(?:events|history)/;
    await page.route(calls, (route) => route.abort());
    await page.goto(await gateway.link());
    await page.getByText('disconnected, retrying').waitFor();

    await page.keyboard.press('2');
    await page.getByRole('button', { name: '24 hours' }).click();
    await page.getByText('The gateway does not answer. Is it running?').waitFor();
    await page.unroute(calls);
    await page
      .getByRole('img', { name: /^Requests per hour: [1-9]\d* in 24 hours$/ })
      .waitFor({ timeout: 20_000 });
    await page.getByRole('button', { name: '30 days' }).click();
    await page.getByRole('img', { name: /^Requests per day: [1-9]\d* in 30 days$/ }).waitFor();
  });

  test('begins with commands to copy, and with charts that have no axes', async () => {
    const fresh = await servePage(housePolicy);
    const { page, context } = await enter(fresh, openPage());
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByText('gateway send "hello"').waitFor();

    await page.locator('.command-line').first().getByRole('button', { name: 'Copy' }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    const copied = await page.evaluate('navigator.clipboard.readText()');
    await page.keyboard.press('2');
    await page.getByText('None in this time.').first().waitFor();
    const drawn = await page.locator('.plot svg').count();
    await fresh.ask(say('hello'));
    await page.getByRole('img', { name: /^Requests per minute: 1 / }).waitFor();
    await page.locator('.plot svg').first().waitFor();

    expect(copied).toBe('gateway send "hello"');
    expect(drawn).toBe(0);
  });
});

describe.skipIf(chromiumPath === undefined)('the list', { timeout: 60_000 }, () => {
  test.each([1280, 1000, 400])(
    '%i px wide: a filter does not move it, and the provider is whole',
    async (width) => {
      await gateway.ask(say('hello'), { headers: { 'user-agent': 'a-client-with-a-long-name/1.0.0' } });
      const { page, rows } = await enter(gateway, openPage({ viewport: { width, height: 720 } }));
      await rows.first().waitFor();
      const top = () => page.getByRole('grid').evaluate((grid) => grid.getBoundingClientRect().top);
      const before = await top();

      await page.getByRole('button', { name: /^blocked/ }).click();
      await page.getByRole('button', { name: 'Clear' }).waitFor();
      const filtered = await top();
      await page.getByRole('button', { name: 'Clear' }).click();
      await page.getByRole('searchbox').fill('nothing has this text');
      await page.getByRole('button', { name: 'Show all exchanges' }).click();
      const cut = await rows
        .locator('.provider')
        .evaluateAll(
          (providers) => providers.filter((name) => name.scrollWidth > name.clientWidth + 1).length,
        );

      expect(filtered).toBe(before);
      expect(cut).toBe(0);
    },
  );

  test('has one line for each exchange beside an open one', async () => {
    await gateway.ask(say('hello'));
    const { page, rows } = await enter(gateway, openPage({ viewport: { width: 1280, height: 720 } }));

    await rows.first().click();
    await page.getByRole('tab', { name: 'Overview' }).waitFor();

    await expect.poll(async () => (await rows.first().boundingBox())?.height).toBe(28);
  });

  test('names gateway send, and what refused a request if no rule did', async () => {
    const limited = await servePage(
      housePolicy.replace('  shop:', '  shop:\n    limits: { tokens_per_day: 5500 }'),
      { GATEWAY_KEY: gateway.key },
    );
    await limited.command('send', '-m', 'sandbox-mini', 'hello');
    await limited.ask(say('a long answer', { max_tokens: 6000 }));
    const { rows } = await enter(limited, openPage());
    await rows.nth(1).waitFor();

    expect(await rows.nth(1).locator('.client').innerText()).toBe(`gateway/${version}`);
    expect(await rows.nth(0).locator('.status-cell').innerText()).toBe('429');
    expect(await rows.nth(0).locator('.decision-cell').innerText()).toMatch(/^refused\s*limit\.budget$/);
  });
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
    for (let number = 0; number < 40; number += 1) await gateway.ask(say(`number ${number}`));
    const { page } = await enter(gateway, openPage({ viewport: { width: 1200, height: 500 } }));
    const grid = page.getByRole('grid');
    const count = async () => Number(await grid.getAttribute('aria-rowcount'));
    await expect.poll(count).toBeGreaterThan(40);
    const shown = await count();
    await page.evaluate(`document.querySelector('[role=grid]').scrollTop = 300`);
    const read = page.locator('.row:not(.head)').nth(15);
    const id = await read.getAttribute('id');
    const before = await page.locator(`#${id}`).boundingBox();

    await gateway.ask(say('another one'));
    await expect.poll(count).toBe(shown + 1);
    const after = await page.locator(`#${id}`).boundingBox();

    expect(Math.abs((after?.y ?? 0) - (before?.y ?? 0))).toBeLessThan(2);
  });
});
