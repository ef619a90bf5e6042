import { gunzipSync } from 'node:zlib';
import { request } from 'undici';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openapi } from '../../../src/plants/contract/openapi.ts';
import { chromiumPath, useBrowser } from '../../kit/browser.ts';
import { sqliteFiles } from '../databases.ts';
import { rosa, startTestStore, type TestStore } from '../fixture.ts';

const openPage = useBrowser();
let store: TestStore;
beforeAll(async () => {
  store = await startTestStore(sqliteFiles());
});
afterAll(() => store.drain());

test('the page loads what it needs from this service, under a policy without exceptions', async () => {
  const { text, headers } = await store.send({ path: '/docs' });

  expect(headers['content-security-policy']).toBe(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  );
  expect(text).not.toMatch(/<script>|<style>|\son\w+=|\sstyle=|https?:/i);
  expect(text).toContain('<html lang="en">');
});

test.each([
  ['swagger-ui-bundle.js', 'text/javascript; charset=utf-8'],
  ['swagger-ui.css', 'text/css; charset=utf-8'],
])('%s is sent compressed to whoever reads that, and as it is to others', async (name, type) => {
  const compressed = await get(`${store.url}/docs/${name}`, { 'accept-encoding': 'br, gzip' });
  const refused = await get(`${store.url}/docs/${name}`, { 'accept-encoding': 'gzip;q=0' });
  const plain = await get(`${store.url}/docs/${name}`, {});

  expect(compressed.headers).toMatchObject({ 'content-encoding': 'gzip', 'content-type': type });
  expect(plain.headers['content-encoding']).toBeUndefined();
  expect(refused.headers['content-encoding']).toBeUndefined();
  expect(gunzipSync(compressed.body).equals(plain.body)).toBe(true);
  expect(plain.headers).toMatchObject({ 'x-content-type-options': 'nosniff', vary: 'accept-encoding' });
});

test.skipIf(chromiumPath === undefined)(
  'in a browser it shows every operation, tries one, logs in and changes something, without a complaint',
  { timeout: 60_000 },
  async () => {
    const { page, complaints, requested } = await openPage();
    const operations = Object.values(openapi.paths).flatMap((methods) => Object.keys(methods));
    const block = (method: string, path: string) =>
      page.locator(`.opblock-${method}`, {
        has: page.locator(`.opblock-summary-path[data-path="${path}"]`),
      });
    const execute = async (method: string, path: string) => {
      await block(method, path).locator('.execute').click();
      const status = block(method, path).locator('.live-responses-table tbody td.response-col_status');
      return ((await status.textContent()) ?? '').slice(0, 3);
    };

    await page.goto(`${store.url}/docs`);
    await page
      .locator('.opblock')
      .nth(operations.length - 1)
      .waitFor();
    const shown = await page.locator('.opblock').count();
    await block('get', '/plant/{plantId}').locator('.opblock-summary-control').click();
    const found = await execute('get', '/plant/{plantId}');
    await block('post', '/plant').locator('.opblock-summary-control').click();
    const refused = await execute('post', '/plant');
    await block('post', '/user/auth/login').locator('.opblock-summary-control').click();
    await block('post', '/user/auth/login').locator('textarea').fill(JSON.stringify(rosa));
    const loggedIn = await execute('post', '/user/auth/login');
    await block('post', '/plant').locator('.btn-clear').click();
    const added = await execute('post', '/plant');
    const unnamed = await page.evaluate(
      `[...document.querySelectorAll('button, input, select, textarea')].filter((control) => !(control.textContent.trim() || control.ariaLabel || control.title || control.placeholder || control.labels?.length)).map((control) => control.outerHTML)`,
    );

    expect(shown).toBe(operations.length);
    expect({ found, refused, loggedIn, added }).toEqual({
      found: '200',
      refused: '401',
      loggedIn: '200',
      added: '200',
    });
    expect(requested.filter((url) => !url.startsWith(store.url) && !url.startsWith('data:'))).toEqual([]);
    expect(complaints.filter((text) => !text.includes('401'))).toEqual([]);
    expect(unnamed).toEqual([]);
    const { json } = await store.send({ path: '/plant/search/tags?name=maidenhair' });
    expect(json).toMatchObject([{ name: 'Maidenhair Fern', tags: ['green', 'shade'] }]);
  },
);

/** The body as it was sent, which `fetch` would decompress. */
async function get(url: string, sent: Record<string, string>) {
  const { headers, body } = await request(url, { headers: sent });
  return { headers, body: Buffer.from(await body.arrayBuffer()) };
}
