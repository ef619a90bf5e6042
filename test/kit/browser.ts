import { existsSync } from 'node:fs';
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
} from 'playwright-core';
import { afterAll, afterEach, beforeAll } from 'vitest';

/**
 * Where Debian's Chromium is, or undefined where it is not installed. The headless shell is the same engine without
 * windows, menus and extensions, which take half of the processor time of a short test.
 */
export const chromiumPath = ['chromium-headless-shell', 'chromium', 'chromium-browser']
  .map((name) => `/usr/bin/${name}`)
  .find((path) => existsSync(path));

export interface OpenPage {
  readonly page: Page;
  readonly context: BrowserContext;
  /** What the browser reported: blocked by the page's policy, failed to load, thrown, dialogs. */
  readonly complaints: readonly string[];
  /** Every address that the page requested. */
  readonly requested: readonly string[];
}

/**
 * One browser for all tests of a file; the result opens a page in a context of its own, which is closed after
 * the test. Every wait in the page is bounded and its error names what was waited for.
 */
export function useBrowser(): (options?: BrowserContextOptions) => Promise<OpenPage> {
  let browser: Browser | undefined;
  const contexts: BrowserContext[] = [];
  beforeAll(async () => {
    if (chromiumPath !== undefined) browser = await launch(chromiumPath);
  }, 65_000);
  afterEach(async () => {
    for (const context of contexts.splice(0)) await context.close();
  });
  afterAll(() => browser?.close());
  return async (options = {}) => {
    if (browser === undefined) throw new Error('no browser: skip this test where chromiumPath is undefined');
    const context = await browser.newContext(options);
    contexts.push(context);
    context.setDefaultTimeout(15_000);
    const page = await context.newPage();
    return { page, context, ...watch(page) };
  };
}

/** A browser that does not come up within 20 s is ended and started again, twice at most. */
async function launch(executablePath: string): Promise<Browser> {
  const failures: unknown[] = [];
  while (failures.length < 3) {
    try {
      return await chromium.launch({
        executablePath,
        timeout: 20_000,
        args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
      });
    } catch (error) {
      failures.push(error);
    }
  }
  throw new AggregateError(failures, `${executablePath} did not come up in three attempts of 20 s`);
}

function watch(page: Page): Pick<OpenPage, 'complaints' | 'requested'> {
  const complaints: string[] = [];
  const requested: string[] = [];
  page.on('request', (request) => requested.push(request.url()));
  page.on('requestfailed', (request) => complaints.push(`${request.url()}: ${request.failure()?.errorText}`));
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('dialog', (dialog) => {
    complaints.push(`a dialog: ${dialog.message()}`);
    void dialog.dismiss(); // a page that waits for its dialog does nothing else
  });
  return { complaints, requested };
}
