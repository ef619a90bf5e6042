import { mkdtempSync, rmSync } from 'node:fs';
import { request as openRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openapi } from '../../../src/plants/contract/openapi.ts';
import { chromium, openPage } from '../browser.ts';
import { rosa, startTestStore, type TestStore } from '../fixture.ts';

const directory = mkdtempSync(join(tmpdir(), 'plants-docs-'));
let store: TestStore;
beforeAll(async () => {
  store = await startTestStore({
    kind: 'sqlite',
    create: async () => `sqlite:${join(directory, 'plants.sqlite')}`,
  });
});
afterAll(async () => {
  await store.drain();
  rmSync(directory, { recursive: true, force: true });
});

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

test.skipIf(chromium === undefined)(
  'in a browser it shows every operation, tries one, logs in and changes something, without a complaint',
  // A browser that does not come up on a busy machine says nothing about the page; one that does takes 3 s.
  { timeout: 30_000, retry: 2 },
  async () => {
    const page = await openPage(`${store.url}/docs`);
    const operations = Object.values(openapi.paths).flatMap((methods) => Object.keys(methods));
    const block = (method: string, path: string) =>
      `[...document.querySelectorAll('.opblock-${method}')].find((block) => block.querySelector('.opblock-summary-path')?.dataset.path === '${path}')`;
    const open = async (method: string, path: string) => {
      await page.evaluate(`${block(method, path)}.querySelector('.opblock-summary-control').click()`);
      await page.until(`${block(method, path)}.querySelector('.execute') !== null`);
    };
    const execute = async (method: string, path: string) => {
      await page.evaluate(`${block(method, path)}.querySelector('.execute').click()`);
      const status = `${block(method, path)}.querySelector('.live-responses-table tbody td.response-col_status')`;
      await page.until(`${status} !== null`);
      return String(await page.evaluate(`${status}.textContent`)).slice(0, 3);
    };
    const fill = (method: string, path: string, text: string) =>
      page.evaluate(`{
        const area = ${block(method, path)}.querySelector('textarea');
        Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, 'value').set.call(area, ${JSON.stringify(text)});
        area.dispatchEvent(new Event('input', { bubbles: true }));
      }`);

    await page.until(`document.querySelectorAll('.opblock').length === ${operations.length}`);
    await open('get', '/plant/{plantId}');
    const found = await execute('get', '/plant/{plantId}');
    await open('post', '/plant');
    const refused = await execute('post', '/plant');
    await open('post', '/user/auth/login');
    await fill('post', '/user/auth/login', JSON.stringify(rosa));
    const loggedIn = await execute('post', '/user/auth/login');
    await page.evaluate(`${block('post', '/plant')}.querySelector('.btn-clear').click()`);
    const added = await execute('post', '/plant');
    const { complaints, requested } = page;
    const unnamed = await page.evaluate(
      `[...document.querySelectorAll('button, input, select, textarea')].filter((control) => !(control.textContent.trim() || control.ariaLabel || control.title || control.placeholder || control.labels?.length)).map((control) => control.outerHTML)`,
    );
    await page.close();

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

function get(url: string, headers: Record<string, string>) {
  return new Promise<{ headers: Record<string, unknown>; body: Buffer }>((resolve, reject) => {
    const request = openRequest(url, { headers, agent: false }, (response) => {
      const pieces: Buffer[] = [];
      response.on('data', (piece) => pieces.push(piece));
      response.on('end', () => resolve({ headers: response.headers, body: Buffer.concat(pieces) }));
    });
    request.on('error', reject);
    request.end();
  });
}
