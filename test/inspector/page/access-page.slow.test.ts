import { writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { chromiumPath, useBrowser } from '../../kit/browser.ts';
import { emptyDirectory } from '../../kit/own-configuration.ts';
import { asksForLink, enter, housePolicy, type ServedPage, say, servePage } from '../../kit/served-page.ts';

const openPage = useBrowser();
let gateway: ServedPage;
beforeAll(async () => {
  gateway = await servePage(housePolicy);
});

/** Whoever has the gateway's port once it is free: keeps what an open page sends. */
async function squat(url: string) {
  const seen: { readonly path: string; readonly headers: IncomingHttpHeaders }[] = [];
  const server = createServer(({ url: path = '', headers }, response) => {
    seen.push({ path, headers });
    // Not 401, by which the page would end: it goes on as long as it can be kept going.
    response.writeHead(500, { 'content-type': 'application/json' });
    response.end('{}');
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(Number(new URL(url).port), '127.0.0.1', resolve);
  });
  const close = () =>
    new Promise((resolve) => {
      server.close(resolve);
      server.closeAllConnections();
    });
  return { seen, close };
}

/** How many values the browser stores for the page. */
function storedIn(page: Page): Promise<unknown> {
  return page.evaluate('localStorage.length');
}

async function signOut(page: Page, how: string): Promise<void> {
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('dialog').getByRole('button', { name: how }).click();
  await asksForLink(page);
}

describe.skipIf(chromiumPath === undefined)('getting in', { timeout: 60_000 }, () => {
  test('a link that is opened in the tab that asks for one is used there, and so is a second one', async () => {
    const { page } = await openPage();
    await page.goto(`${gateway.url}/_/`);
    await asksForLink(page);

    // Only the fragment differs, so the browser loads nothing.
    await page.goto(`${gateway.url}/_/#token=${'0'.repeat(32)}`);
    const refused = await page.getByRole('alert').innerText();
    await page.goto(await gateway.link());
    await page.getByRole('grid').waitFor();
    await page.goto(await gateway.link());
    await expect.poll(() => new URL(page.url()).hash).toBe('');
    await page.getByText('live', { exact: true }).waitFor();

    expect(refused).toContain('link');
  });

  test('what a page sends to whoever takes the port of the gateway is worth nothing when it is back', async () => {
    await enter(gateway, openPage());

    await gateway.stop();
    const squatter = await squat(gateway.url);
    const caught = () => squatter.seen.find(({ headers }) => headers['x-inspector-token'] && headers.cookie);
    await expect.poll(caught, { timeout: 20_000 }).toBeTruthy();
    await squatter.close();
    await gateway.start();

    const { cookie = '', 'x-inspector-token': token = '' } = caught()?.headers ?? {};
    for (const path of ['exchanges', 'now', 'policies', 'events']) {
      const headers = { cookie, 'x-inspector-token': String(token) };
      expect((await fetch(`${gateway.url}/_/api/${path}`, { headers })).status, path).toBe(401);
    }
  });

  test('a session ends with the gateway, and one link opens all pages of the browser again', async () => {
    const { page, context } = await enter(gateway, openPage());
    await page.keyboard.press('3');
    await page.getByText(/^It would/).waitFor();
    const rules = page.getByRole('textbox', { name: /^Rules/ });
    await rules.fill(`# mine\n${await rules.inputValue()}`);

    await gateway.stop();
    await gateway.start();
    await page.getByText('gateway open', { exact: true }).waitFor({ timeout: 20_000 });
    const why = await page.getByRole('alert').innerText();
    const other = await context.newPage();
    await other.goto(await gateway.link());
    await other.getByText('live', { exact: true }).waitFor();
    await page.getByText(/^It would/).waitFor();

    expect(why).toContain('The session has ended');
    expect(await rules.inputValue()).toContain('# mine');
  });

  test('a link opens one page, once, whose reload needs none: half of the session is a cookie out of reach', async () => {
    const link = await gateway.link();
    const { page } = await enter({ ...gateway, link: async () => link }, openPage());
    expect(page.url()).not.toContain('token');
    await page.reload();
    await page.getByText('live', { exact: true }).waitFor();
    const [cookie] = await page.context().cookies();
    const readable = await page.evaluate('document.cookie');

    const { page: other } = await openPage();
    await other.goto(link);
    await asksForLink(other);

    expect(await other.getByRole('alert').innerText()).toContain('already used or has expired');
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict', path: '/_/' });
    // The other half is in storage, which no other port can read.
    expect([readable, await storedIn(page)]).toEqual(['', 1]);
  });

  test('sign out ends one session, sign out everywhere all of them', async () => {
    const { page: first } = await enter(gateway, openPage());
    const { page: second } = await enter(gateway, openPage());
    const { page: third } = await enter(gateway, openPage());
    const cookies = await first.context().cookies();

    await signOut(first, 'Sign out this browser');
    const left = await storedIn(first);
    await first.reload();
    await asksForLink(first);
    await second.reload();
    await second.getByText('live', { exact: true }).waitFor();
    await signOut(second, 'Sign out everywhere');
    await asksForLink(third);

    expect(cookies).toHaveLength(1);
    expect(await first.context().cookies()).toEqual([]);
    expect(left).toBe(0);
  });

  test.each([
    { when: 'the gateway is gone', everywhere: false, says: 'could not be ended at the gateway' },
    { when: 'the gateway answers with an error', everywhere: true, says: 'only this browser' },
  ])('sign out drops the session from every page of the browser when $when', async ({ everywhere, says }) => {
    const { page } = await enter(gateway, openPage());
    const other = await page.context().newPage();
    await other.goto(`${gateway.url}/_/`);
    await other.getByText('live', { exact: true }).waitFor();
    if (everywhere) await page.route('**/_/api/sessions', (route) => route.fulfill({ status: 500 }));
    else await gateway.stop();

    const how = everywhere ? 'Sign out everywhere' : 'Sign out this browser';
    await signOut(page, how);
    await asksForLink(other);
    const left = await storedIn(page);
    const problem = await page.getByRole('alert').innerText();
    if (!everywhere) await gateway.start();
    await other.reload();
    await asksForLink(other);

    expect(left).toBe(0);
    expect(problem).toContain(says);
  });

  test('the password opens the page, a wrong one says so', async () => {
    const password = 'a-password-for-the-page-0123';
    const file = join(emptyDirectory(), 'page.txt');
    writeFileSync(file, `${password}\n`, { mode: 0o600 });
    const guarded = await servePage(`inspector: { enabled: true, password_file: ${file} }\n${housePolicy}`);
    const { page } = await openPage();
    await page.goto(`${guarded.url}/_/`);

    await page.getByLabel('Password').fill('not-the-password-of-this-page');
    await page.getByRole('button', { name: 'Sign in' }).click();
    const problem = await page.getByRole('alert').innerText();
    await page.getByLabel('Password').fill(password);
    await page.keyboard.press('Enter');
    await page.getByText('live', { exact: true }).waitFor();
    await guarded.ask(say('hello'), { headers: { 'user-agent': 'signed-in/1.0' } });
    await page.locator('.row').getByText('signed-in/1.0').waitFor();

    expect(problem).toContain('not the password');
  });
});
