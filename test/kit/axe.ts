import axe from 'axe-core';
import type { Page } from 'playwright-core';

/** What axe-core finds wrong on the page as it is now: rule and element, one line each. */
export async function axeFindings(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  return page.evaluate(`axe.run().then(({ violations }) =>
    violations.flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => id + ': ' + html.slice(0, 200) + ' ' + failureSummary)))`);
}
