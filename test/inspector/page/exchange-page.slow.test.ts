import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { axeFindings } from '../../kit/axe.ts';
import { chromiumPath, useBrowser } from '../../kit/browser.ts';
import { asksForLink, enter, housePolicy, type ServedPage, say, servePage } from '../../kit/served-page.ts';

const openPage = useBrowser();
let gateway: ServedPage;
beforeAll(async () => {
  gateway = await servePage(housePolicy);
});

/** An exchange whose bodies are kept, opened from the list. */
async function openExchange(body: object, options: Parameters<typeof openPage>[0] = {}, at = gateway) {
  const opened = await enter(at, openPage(options));
  const { page } = opened;
  const keep = page.getByRole('button', { name: 'Keep bodies 10 min' });
  const kept = page.getByRole('button', { name: /^Bodies kept until/ });
  await keep.or(kept).waitFor();
  if (await keep.isVisible()) await keep.click();
  await kept.waitFor();
  const before = await rowCount(page);
  await at.ask(body);
  await expect.poll(() => rowCount(page)).toBeGreaterThan(before);
  await page.locator('.row:not(.head)').first().click();
  await page.getByRole('button', { name: 'Make a test' }).waitFor();
  return opened;
}

const rowCount = async (page: Page) => Number(await page.getByRole('grid').getAttribute('aria-rowcount')) - 1;

describe.skipIf(chromiumPath === undefined)('an exchange', { timeout: 60_000 }, () => {
  test('shows headers, bodies as received and as sent, and what was masked and restored', async () => {
    const rule = '{ id: mails, action: mask, when: { text: { detect: [email] } } }';
    const masked = await servePage(`
policies: { house: { apply: all, rules: [${rule}] } }
projects: { shop: { keys: [{ id: shop-web, value: "\${PROJECT_KEY}" }] } }
`);
    const { page, complaints } = await openExchange(say('jo@example.org', { stream: true }), {}, masked);
    const markOf = (region: string) =>
      page.getByRole('region', { name: region }).locator('mark').textContent();

    await page.getByRole('tab', { name: 'Headers' }).click();
    const key = await page.locator('.headers tr', { hasText: 'authorization' }).innerText();
    await page.getByRole('tab', { name: 'Request' }).click();
    const matched = await markOf('As received');
    const sent = await markOf('As sent: masked');
    await page.getByRole('tab', { name: 'Answer' }).click();
    await page.getByRole('region', { name: "The answer's text" }).waitFor();
    await page.getByRole('button', { name: 'Event by event' }).click();
    const restored = page.locator('.events mark.restored');

    expect(key).not.toContain(masked.key);
    expect(matched).toBe('jo@example.org');
    expect(sent).toMatch(/^EMAIL_[A-Z]{13}$/);
    expect(await restored.allTextContents()).toEqual(['jo@example.org']);
    expect(await restored.getAttribute('title')).toBe('restored, had been replaced by mails');
    expect(await page.locator('.events tbody tr').count()).toBeGreaterThan(2);
    expect(complaints).toEqual([]);
  });

  test('shows the end of a long request: what was said last', async () => {
    const turn = (i: number) => ({ role: i % 2 === 0 ? 'user' : 'assistant', content: `turn ${i}` });
    const messages = Array.from({ length: 301 }, (_, i) => turn(i));
    const { page } = await openExchange({ model: 'sandbox-mini', messages });
    await page.getByRole('tab', { name: 'Request' }).click();
    const last = page.getByText('"turn 300"', { exact: true });
    const isThere = await last.count();

    await page.getByRole('button', { name: 'Show the end' }).click();
    await last.waitFor();
    const atEnd = await page
      .locator('.lines')
      .first()
      .evaluate(
        (region: { scrollHeight: number; scrollTop: number; clientHeight: number }) =>
          region.scrollHeight - region.scrollTop - region.clientHeight,
      );
    const first = await page.getByText('"turn 0"', { exact: true }).count();
    await page.getByRole('button', { name: 'Show earlier lines' }).click();
    await page.getByText('"turn 0"', { exact: true }).waitFor();

    expect([isThere, first]).toEqual([0, 0]);
    expect(Math.abs(Number(atEnd))).toBeLessThan(2);
  });

  test('that was refused shows every match and the message, and becomes a test for `gateway policy test`', async () => {
    const { page } = await openExchange(say('a blue heron, one more blue heron, and the Blue Heron'));
    const message = await page.locator('.members').innerText();
    const matches = await page.locator('.rules .excerpt mark').count();
    const isOpenAtOnce = await page.getByRole('button', { name: 'Make a test' }).evaluate(async (button) => {
      button.click();
      await Promise.resolve();
      await Promise.resolve();
      return button.ownerDocument.querySelector('dialog')?.open;
    });
    const fixture = await page.locator('.to-copy').innerText();
    await page.keyboard.press('Escape');
    await page.getByRole('tab', { name: 'Request' }).click();
    const marks = page.getByRole('region', { name: 'As received' }).locator('mark');
    const file = join(gateway.home, 'made.yaml');
    writeFileSync(file, fixture);
    const passed = await gateway.command('policy', 'test', file);
    writeFileSync(file, fixture.replaceAll(/blue heron/gi, 'grey goose'));
    const failed = await gateway.command('policy', 'test', file);

    expect(isOpenAtOnce).toBe(true);
    expect(message).toContain('blocked by rule no-codename');
    expect(matches).toBe(3);
    expect(await marks.allTextContents()).toEqual(['blue heron', 'blue heron', 'Blue Heron']);
    expect(passed).toMatchObject({ exit: 0 });
    expect(failed).toMatchObject({ exit: 1 });
  });

  test("links to its session's exchanges", async () => {
    const { page } = await enter(gateway, openPage());
    const session = 'nightly+7=x';
    await gateway.ask(say('hello'), { headers: { 'x-gateway-session': session } });
    await gateway.ask(say('hello'));
    await page.getByLabel('Filter by text').fill(session);
    await expect.poll(() => rowCount(page)).toBe(1);
    await page.locator('.row:not(.head)').first().click();
    const link = page.locator('.members').getByRole('link', { name: 'its exchanges here' });
    await link.waitFor();
    await page.getByLabel('Filter by text').fill('');
    await expect.poll(() => rowCount(page)).toBeGreaterThan(1);

    await link.click();

    await expect.poll(() => new URL(page.url()).searchParams.get('text')).toBe(session);
    await expect.poll(() => rowCount(page)).toBe(1);
  });

  test('is sent again with another model and with an edited body, through the same policy', async () => {
    const { page } = await openExchange(say('hello there'));
    const first = new URL(page.url()).hash;

    await page.getByRole('button', { name: 'Send again …' }).click();
    await page.getByLabel('Model', { exact: true }).last().fill('sandbox-large');
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await expect.poll(() => new URL(page.url()).hash).not.toBe(first);
    await page.locator('.members', { hasText: 'sandbox-large' }).waitFor();
    const second = new URL(page.url()).hash;
    await page.getByRole('button', { name: 'Send again …' }).click();
    await page.getByRole('textbox', { name: 'Body' }).fill(JSON.stringify(say('the blue heron')));
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await expect.poll(() => new URL(page.url()).hash).not.toBe(second);

    await page.locator('.pane-summary').getByText('no-codename').waitFor();
    expect(await page.locator('.pane-title .status').innerText()).toBe('403');
  });

  test('is tried under other rules, which changes nothing in force', async () => {
    const { page } = await openExchange(say('nothing to see'));

    await page.getByRole('button', { name: 'Try a policy' }).last().click();
    await page.getByText('It would be allowed', { exact: true }).waitFor();
    const rules = page.getByRole('textbox', { name: /^Rules/ });
    const inForce = await rules.inputValue();
    await rules.fill(inForce.replace('blue heron', 'nothing to see'));
    await page.getByText('It would be blocked').waitFor();
    await page
      .locator('.rules .matched')
      .getByRole('button', { name: /^line \d+$/ })
      .first()
      .click();
    const line = await page.evaluate(
      'document.activeElement.value.slice(document.activeElement.selectionStart, document.activeElement.selectionEnd)',
    );
    await rules.fill('house: { apply: all, rules: [{ id: a, action: blok }] }');
    await page.getByText("The rules can't be read").waitFor();

    expect(line).toContain('no-codename');
    expect(await gateway.ask(say('nothing to see'))).toBe(200);
  });

  test('wraps long rules, in the editor and in what they decide', async () => {
    const { page } = await openExchange(say('nothing to see'));
    const isWide = (selector: string) =>
      page
        .locator(selector)
        .first()
        .evaluate(
          ({ scrollWidth, clientWidth }: { scrollWidth: number; clientWidth: number }) =>
            scrollWidth > clientWidth,
        );
    await page.getByRole('button', { name: 'Try a policy' }).last().click();
    await page.getByText('It would be allowed', { exact: true }).waitFor();
    const id = `a-rule-with-a-name-of-${'many-words-'.repeat(3)}to-wrap`;
    const words = Array.from({ length: 60 }, (_, i) => `"word number ${i}"`).join(', ');
    await page
      .getByRole('textbox', { name: /^Rules/ })
      .fill(
        `house: { apply: all, rules: [{ id: ${id}, action: block, when: { text: { phrases: [nothing, ${words}] } } }] }`,
      );
    await page.locator('.rules .matched').getByText(id).waitFor();

    expect([await isWide('.editor'), await isWide('.editor textarea'), await isWide('.try-outcome')]).toEqual(
      [false, false, false],
    );
  });

  test('stays a scratch copy while other views are shown, until the browser is signed out', async () => {
    const { page } = await openExchange(say('nothing to see'));
    await page.getByRole('button', { name: 'Try a policy' }).last().click();
    const verdict = page.getByRole('status').getByRole('heading');
    await page.getByText('It would be allowed', { exact: true }).waitFor();
    const rules = page.getByRole('textbox', { name: /^Rules/ });
    const request = page.getByRole('textbox', { name: /^Request/ });
    const inForce = await rules.inputValue();
    await rules.fill(`# mine\n${inForce}`);
    await request.fill(JSON.stringify(say('the blue heron')));

    await page.getByRole('button', { name: 'Now' }).click();
    await page.getByText('Requests per minute').waitFor();
    await page.getByRole('navigation').getByRole('button', { name: 'Try a policy' }).click();
    await page.getByText('It would be blocked').waitFor();
    const kept = [await rules.inputValue(), await request.inputValue()];
    const announced = await verdict.innerText();
    await page.getByRole('button', { name: 'Back to the rules in force' }).click();
    const restored = await rules.inputValue();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('button', { name: 'Sign out this browser' }).click();
    await asksForLink(page);
    await page.goto(await gateway.link());
    await page.getByRole('grid').waitFor();
    await page.keyboard.press('3');
    await page.getByText('It would be sent with redactions').waitFor();

    expect(kept[0]).toContain('# mine');
    expect(kept[1]).toContain('the blue heron');
    expect(announced).toBe('It would be blocked');
    expect(restored).toBe(inForce);
    expect(await request.inputValue()).not.toContain('heron');
  });

  test('that is not kept any more is replaced by an example, and it says so', async () => {
    const { page } = await enter(gateway, openPage());

    await page.goto(`${gateway.url}/_/#/try/req_00000000000000000000000000`);
    await page.getByRole('alert').waitFor();
    await page.getByText(/^It would/).waitFor();

    expect(await page.getByRole('alert').innerText()).toMatch(/this is an example/i);
  });
});

describe.skipIf(chromiumPath === undefined)('axe-core finds nothing', { timeout: 90_000 }, () => {
  test.each([
    ['light, wide', { colorScheme: 'light', viewport: { width: 1440, height: 900 } }],
    ['dark, 400 pixels', { colorScheme: 'dark', viewport: { width: 400, height: 800 } }],
  ] as const)('%s', async (_, options) => {
    const { page } = await openExchange(say('write to jo@example.org', { stream: true }), options);
    await gateway.ask(say('a blue heron'));
    const findings: string[] = [];
    const look = async (name: string) =>
      findings.push(...(await axeFindings(page)).map((finding) => `${name}: ${finding}`));

    for (const tab of ['Overview', 'Headers', 'Request', 'Answer', 'Record']) {
      await page.getByRole('tab', { name: tab }).click();
      await page.getByRole('tab', { name: tab, selected: true }).waitFor();
      await look(tab);
    }
    await page.getByRole('button', { name: 'Send again …' }).click();
    await look('send again');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Close the exchange' }).click();
    await look('the list');
    const isScrolledSideways = await page.evaluate('document.documentElement.scrollWidth > innerWidth');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await look('sign out');
    await page.keyboard.press('Escape');
    await page.keyboard.press('2');
    await page.locator('.plot svg').first().waitFor();
    await look('now');
    await page.keyboard.press('3');
    await page.getByText(/^It would/).waitFor();
    await look('try');

    expect(findings).toEqual([]);
    expect(isScrolledSideways).toBe(false);
  });

  test('on the page that asks for a session', async () => {
    const { page } = await openPage();
    await page.goto(`${gateway.url}/_/`);
    await asksForLink(page);

    expect(await axeFindings(page)).toEqual([]);
  });
});
