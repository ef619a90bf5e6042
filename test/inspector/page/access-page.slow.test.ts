import { mkdtempSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { chromiumPath, useBrowser } from '../../kit/browser.ts';
import { housePolicy, say, servePage } from '../../kit/served-page.ts';

const openPage = useBrowser();

/** Whoever has the gateway's port once it is free: answers what an open page asks, and keeps what it was sent. */
async function squat(url: string) {
  const seen: { readonly path: string; readonly headers: IncomingHttpHeaders }[] = [];
  const server = createServer(({ url: path = '', headers }, response) => {
    seen.push({ path, headers });
    const isAccess = path === '/_/api/access';
    const answer = isAccess ? { nonce: '0'.repeat(32) } : { error: { reason: 'session.required' } };
    response.writeHead(isAccess ? 200 : 401, { 'content-type': 'application/json' });
    response.end(JSON.stringify(answer));
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

/** How many keys the browser stores for the page. */
function keysIn(page: Page): Promise<unknown> {
  return page.evaluate(`new Promise((resolve) => {
    const opening = indexedDB.open('gateway-inspector');
    opening.onsuccess = () => {
      const request = opening.result.transaction('keys').objectStore('keys').count();
      request.onsuccess = () => resolve(request.result);
    };
  })`);
}

describe.skipIf(chromiumPath === undefined)('getting in', { timeout: 60_000 }, () => {
  test('a link that is opened in the tab that asks for one is used there, and so is a second one', async () => {
    const gateway = await servePage(housePolicy);
    const { page } = await openPage();
    await page.goto(`${gateway.url}/_/`);
    await page.getByText('gateway open', { exact: true }).waitFor();

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

  test('a page that stays open sends its key to nobody who takes the port of the gateway', async () => {
    const gateway = await servePage(housePolicy);
    const { page } = await openPage();
    await page.goto(await gateway.link());
    await page.getByText('live', { exact: true }).waitFor();
    const cookies = await page.context().cookies();

    await gateway.stop();
    const squatter = await squat(gateway.url);
    await expect
      .poll(() => squatter.seen.some(({ path, headers }) => path !== '/_/api/access' && headers.cookie), {
        timeout: 20_000,
      })
      .toBeTruthy();
    await expect.poll(() => squatter.seen.map(({ path }) => path)).toContain('/_/api/access');
    await squatter.close();
    await gateway.start();

    const caught = squatter.seen.map(({ headers }) => headers['x-inspector-signature']);
    expect(squatter.seen.filter(({ headers }) => headers['x-inspector-key'] !== undefined)).toEqual([]);
    expect(caught.some((signature) => signature !== undefined)).toBe(true);
    const cookie = cookies.map(({ name, value }) => `${name}=${value}`).join('; ');
    for (const { path, headers } of squatter.seen) {
      const signature = String(headers['x-inspector-signature'] ?? '');
      const again = await fetch(gateway.url + path, {
        headers: { cookie, 'x-inspector-signature': signature },
      });
      if (path !== '/_/api/access') expect(again.status, path).toBe(401);
    }
  });

  test('the key is where no script can read it', async () => {
    const gateway = await servePage(housePolicy);
    const { page } = await openPage();
    await page.goto(await gateway.link());
    await page.getByText('live', { exact: true }).waitFor();

    const [texts, isExtractable] = (await page.evaluate(`new Promise((resolve) => {
      const opening = indexedDB.open('gateway-inspector');
      opening.onsuccess = () => {
        const request = opening.result.transaction('keys').objectStore('keys').getAll();
        request.onsuccess = () => resolve([Object.keys(localStorage).length, request.result[0].extractable]);
      };
    })`)) as [number, boolean];

    expect(texts).toBe(0);
    expect(isExtractable).toBe(false);
  });

  test('a link opens one page, once; a reload of it needs none', async () => {
    const gateway = await servePage(housePolicy);
    const link = await gateway.link();
    const { page } = await openPage();
    await page.goto(link);
    await page.getByText('live', { exact: true }).waitFor();
    expect(page.url()).not.toContain('token');
    await page.reload();
    await page.getByText('live', { exact: true }).waitFor();

    const { page: other } = await openPage();
    await other.goto(link);
    await other.getByText('gateway open', { exact: true }).waitFor();

    expect(await other.getByRole('alert').innerText()).toContain('already used or has expired');
  });

  test('who has no session is asked to sign in, however late the first frame is', async () => {
    const gateway = await servePage(housePolicy);
    const { page } = await openPage();
    // A machine that is short of everything: the gateway answers before the page is drawn for the first time.
    await page.addInitScript(`{
      const [now, wait] = [performance.now.bind(performance), setTimeout];
      performance.now = () => now() + 10_000;
      window.requestAnimationFrame = (run) => wait(run, 3_000);
      window.setTimeout = (run, ms) => wait(run, ms >= 30 && ms <= 100 ? 3_000 : ms);
    }`);

    await page.goto(`${gateway.url}/_/`);

    await page.getByText('gateway open', { exact: true }).waitFor();
  });

  test('a browser whose storage does not respond can use a link, and gets a message after a reload', async () => {
    const gateway = await servePage(housePolicy);
    const { page } = await openPage();
    await page.addInitScript('IDBFactory.prototype.open = () => ({});');
    const patience = { timeout: 25_000 }; // the page itself waits for five seconds

    await page.goto(await gateway.link());
    await page.getByText('live', { exact: true }).waitFor(patience);
    await page.reload();
    await page.getByText('gateway open', { exact: true }).waitFor(patience);

    expect(await page.getByRole('alert').innerText()).toContain('storage does not answer');
  });

  test('sign out ends one session, sign out everywhere all of them', async () => {
    const gateway = await servePage(housePolicy);
    const enter = async () => {
      const { page } = await openPage();
      await page.goto(await gateway.link());
      await page.getByText('live', { exact: true }).waitFor();
      return page;
    };
    const leave = async (page: Page, how: string) => {
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.getByRole('dialog').getByRole('button', { name: how }).click();
      await page.getByText('gateway open', { exact: true }).waitFor();
    };
    const [first, second, third] = [await enter(), await enter(), await enter()];
    const cookies = await first.context().cookies();

    await leave(first, 'Sign out this browser');
    const left = await keysIn(first);
    await first.reload();
    await first.getByText('gateway open', { exact: true }).waitFor();
    await second.reload();
    await second.getByText('live', { exact: true }).waitFor();
    await leave(second, 'Sign out everywhere');
    await third.getByText('gateway open', { exact: true }).waitFor();

    expect(cookies).toHaveLength(1);
    expect(await first.context().cookies()).toEqual([]);
    expect(left).toBe(0);
  });

  test.each([
    { when: 'the gateway is gone', everywhere: false, says: 'its key is gone' },
    { when: 'the gateway answers with an error', everywhere: true, says: 'Only this browser' },
  ])('sign out drops the key from every page of the browser when $when', async ({ everywhere, says }) => {
    const gateway = await servePage(housePolicy);
    const { page } = await openPage();
    await page.goto(await gateway.link());
    await page.getByText('live', { exact: true }).waitFor();
    const other = await page.context().newPage();
    await other.goto(`${gateway.url}/_/`);
    await other.getByText('live', { exact: true }).waitFor();
    if (everywhere) await page.route('**/_/api/sessions', (route) => route.fulfill({ status: 500 }));
    else await gateway.stop();

    const how = everywhere ? 'Sign out everywhere' : 'Sign out this browser';
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('dialog').getByRole('button', { name: how }).click();
    await page.getByText('gateway open', { exact: true }).waitFor();
    await other.getByText('gateway open', { exact: true }).waitFor();
    const left = await keysIn(page);
    const problem = await page.getByRole('alert').innerText();
    if (!everywhere) await gateway.start();
    await other.reload();
    await other.getByText('gateway open', { exact: true }).waitFor();

    expect(left).toBe(0);
    expect(problem).toContain(says);
  });

  test('the password opens the page, a wrong one says so', async () => {
    const password = 'a-password-for-the-page-0123';
    const file = join(mkdtempSync(join(tmpdir(), 'gateway-page-')), 'page.txt');
    writeFileSync(file, `${password}\n`, { mode: 0o600 });
    const gateway = await servePage(`inspector: { enabled: true, password_file: ${file} }\n${housePolicy}`);
    const { page } = await openPage();
    await page.goto(`${gateway.url}/_/`);

    await page.getByLabel('Password').fill('not-the-password-of-this-page');
    await page.getByRole('button', { name: 'Sign in' }).click();
    const problem = await page.getByRole('alert').innerText();
    await page.getByLabel('Password').fill(password);
    await page.keyboard.press('Enter');
    await page.getByText('live', { exact: true }).waitFor();
    await gateway.ask(say('hello'), { headers: { 'user-agent': 'signed-in/1.0' } });
    await page.locator('.row').getByText('signed-in/1.0').waitFor();

    expect(problem).toContain('not the password');
  });
});
