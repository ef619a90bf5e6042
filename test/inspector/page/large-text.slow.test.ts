import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { chromiumPath, useBrowser } from '../../kit/browser.ts';
import { enter, housePolicy, type ServedPage, say, servePage } from '../../kit/served-page.ts';

const openPage = useBrowser();
let gateway: ServedPage;
beforeAll(async () => {
  gateway = await servePage(`records: { bodies: true }\n${housePolicy}`);
});

/**
 * What is wrong with how a page is laid out: that it scrolls sideways, texts that lie on other texts, and controls
 * that are cut off.
 */
const problemsOf = (page: Page) =>
  page.evaluate(`(() => {
    const root = document.scrollingElement;
    const problems = [];
    if (root.scrollWidth > root.clientWidth + 1)
      problems.push('scrolls sideways: ' + root.scrollWidth + ' in ' + root.clientWidth);
    const isShown = (element) =>
      element.checkVisibility({ visibilityProperty: true, opacityProperty: true }) &&
      getComputedStyle(element).clipPath === 'none';
    const clips = (element) => {
      const { overflowX, overflowY, clipPath } = getComputedStyle(element);
      return overflowX !== 'visible' || overflowY !== 'visible' || clipPath !== 'none';
    };
    const cut = (box, element) => {
      let { left, top, right, bottom } = box;
      for (let above = element; above !== null; above = above.parentElement) {
        if (getComputedStyle(above).clipPath !== 'none') return undefined;
        if (above !== element || clips(above)) {
          if (!clips(above)) continue;
          const edge = above.getBoundingClientRect();
          left = Math.max(left, edge.left);
          top = Math.max(top, edge.top);
          right = Math.min(right, edge.right);
          bottom = Math.min(bottom, edge.bottom);
        }
      }
      return right - left > 2 && bottom - top > 2 ? { left, top, right, bottom } : undefined;
    };
    const texts = [];
    const walker = document.createTreeWalker(document.querySelector('dialog[open]') ?? document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
      const element = node.parentElement;
      if (node.data.trim() === '' || !isShown(element)) continue;
      if (element.closest('option, svg, canvas')) continue;
      const range = document.createRange();
      range.selectNodeContents(node);
      for (const rect of range.getClientRects()) {
        const box = cut(rect, element);
        if (box !== undefined) texts.push({ ...box, node, name: element.className + ' ' + node.data.trim().slice(0, 30) });
      }
    }
    for (const [index, one] of texts.entries()) {
      for (const other of texts.slice(index + 1)) {
        if (one.node === other.node) continue;
        const width = Math.min(one.right, other.right) - Math.max(one.left, other.left);
        const height = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
        // Lines of text may touch; the sticky head of the list lies on its rows.
        const isHead = (text) => text.node.parentElement.closest('.head') !== null;
        if (width > 3 && height > 5 && isHead(one) === isHead(other)) problems.push(one.name + ' on ' + other.name);
      }
    }
    for (const control of document.querySelectorAll('button, select, input, textarea, [role=tab]')) {
      if (!isShown(control)) continue;
      const box = control.getBoundingClientRect();
      let scrolls = false;
      for (let above = control.parentElement; above !== null; above = above.parentElement)
        scrolls ||= /auto|scroll/.test(getComputedStyle(above).overflow);
      if (!scrolls && (box.left < -1 || box.right > innerWidth + 1))
        problems.push('cut off: ' + (control.ariaLabel ?? control.textContent));
    }
    return [...new Set(problems)].slice(0, 10);
  })()`) as Promise<string[]>;

const sizes = [
  { name: 'wide, 200 % text', width: 1280, height: 800, text: '200%' },
  { name: '400 pixels', width: 400, height: 800, text: '100%' },
  { name: '400 pixels, 200 % text', width: 400, height: 700, text: '200%' },
];

describe.skipIf(chromiumPath === undefined)('the layout holds', { timeout: 90_000 }, () => {
  test.each(sizes)('at $name', async ({ width, height, text }) => {
    const { page, rows } = await enter(gateway, openPage({ viewport: { width, height } }));
    for (const each of ['hello', 'write to jo@example.org, please', 'of the blue heron'])
      await gateway.ask(say(each, { max_tokens: 9_000 }));
    await expect.poll(() => rows.count()).toBeGreaterThan(2);
    await page.evaluate(`document.documentElement.style.fontSize = '${text}'`);
    const problems: Record<string, readonly string[]> = {};
    const look = async (view: string) => {
      // Two frames: sizes are observed after the first.
      await page.evaluate(
        `new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))`,
      );
      const found = await problemsOf(page);
      if (found.length > 0) problems[view] = found;
    };

    await look('traffic');
    const model = await rows.first().locator('.model').boundingBox();
    await rows.first().click();
    await page.getByRole('button', { name: 'Make a test' }).waitFor();
    const focused = await page.evaluate('document.activeElement.textContent');
    for (const tab of ['Overview', 'Headers', 'Request', 'Answer', 'Record']) {
      await page.getByRole('tab', { name: tab }).click();
      await look(tab);
    }
    await page.keyboard.press('Escape');
    await page.locator('.exchange-list:focus').waitFor();
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keys' }).waitFor();
    await look('keys');
    await page.keyboard.press('Escape');
    await page.keyboard.press('2');
    await page.getByText('Requests per minute').waitFor();
    await look('now');
    await page.keyboard.press('3');
    await page.getByText('a scratch copy').waitFor();
    await look('try');

    expect(problems).toEqual({});
    // Where there is no room for the list beside it, the exchange takes the focus.
    expect(focused === 'Overview').toBe(width === 400);
    expect(model?.width).toBeGreaterThan(150);
  });
});
