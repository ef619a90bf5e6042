import { beforeAll, describe, expect, test } from 'vitest';
import { chromiumPath, useBrowser } from '../../kit/browser.ts';
import { type ScriptedHost, startHost } from '../../kit/host.ts';
import { enter, type ServedPage, servePage } from '../../kit/served-page.ts';

// Everything that a browser could take for more than text, in one string.
const hostile = [
  '<script>window.ran = 1</script>',
  '<img src=x onerror="window.ran = 1">',
  '<svg onload="window.ran = 1"><animate onbegin="window.ran = 1" attributeName="x"/></svg>',
  '"><iframe srcdoc="<script>parent.ran = 1</script>"></iframe>',
  'javascript:window.ran=1',
  '{{constructor.constructor("window.ran = 1")()}}',
  '</textarea></title></style></script><b>bold</b>',
  '\u202egnirts desrever\u2066\u2067',
  '\u001b[2J\u001b]0;owned\u0007\u009b31m\u0000',
  '\ud800',
  '<style>body { display: none }</style>',
].join(' ');

const openPage = useBrowser();
const viewport = { width: 1200, height: 800 };
let gateway: ServedPage;
let host: ScriptedHost;
beforeAll(async () => {
  host = await startHost((response) => {
    response.writeHead(200, {
      'content-type': 'text/event-stream',
      'x-note': '<img src=x onerror=alert(1)>',
    });
    const chunk = (delta: object) =>
      `data: ${JSON.stringify({ id: hostile, object: 'chat.completion.chunk', created: 1, model: hostile, choices: [{ index: 0, delta, finish_reason: null }] })}\n\n`;
    response.write(chunk({ role: 'assistant', content: hostile }));
    response.write(Buffer.from([0x3a, 0x20, 0xff, 0xfe, 0xc0, 0x0a, 0x0a])); // a comment that is no UTF-8
    response.end(`${chunk({ content: '<b>end</b>' })}data: [DONE]\n\n`);
  });
  gateway = await servePage(`
providers: { gpt: { dialect: openai, base_url: "${host.url}/v1" } }
models: [{ match: "*", provider: gpt }]
records: { bodies: true }
projects:
  shop:
    keys: [{ id: shop-web, value: "\${PROJECT_KEY}" }]
`);
});
describe.skipIf(chromiumPath === undefined)('hostile content', { timeout: 90_000 }, () => {
  test('is text everywhere: nothing runs, no dialog opens, nothing is requested, the layout holds', async () => {
    const { page, complaints, requested } = await enter(gateway, openPage({ viewport }));
    await page.evaluate(`{
      window.reports = [];
      addEventListener('securitypolicyviolation', (event) => window.reports.push(event.violatedDirective));
    }`);

    await gateway.ask({ model: hostile, messages: [] }); // refused, and in the list all the same
    await gateway.ask(
      { model: 'gpt-test', stream: true, messages: [{ role: 'user', content: hostile }], [hostile]: hostile },
      { headers: { 'user-agent': '<script>window.ran=1</script>/1.0', 'x-note': '<svg onload=alert(1)>' } },
    );
    const row = page.locator('.row:not(.head)', { hasText: 'gpt-test' });
    await row.waitFor();
    const listed = await row.innerText();
    const height = (await row.boundingBox())?.height;
    await row.click();
    const shown: Record<string, string> = {};
    const tabs = {
      Overview: 'Rules',
      Headers: '<script>window.ran=1</script>',
      Request: '<img src=x onerror=',
      Answer: '␛[2J',
      Record: 'request_id',
    };
    for (const [tab, text] of Object.entries(tabs)) {
      await page.getByRole('tab', { name: tab }).click();
      await page.getByRole('tab', { name: tab, selected: true }).waitFor();
      // What it shows is there a moment after the tab.
      await page.locator('.pane-body', { hasText: text }).waitFor();
      shown[tab] = await page.locator('.pane-body').innerText();
    }
    await page.getByRole('tab', { name: 'Answer' }).click();
    for (const way of ['Event by event', 'As it came']) {
      await page.getByRole('button', { name: way }).click();
      await page.getByRole('button', { name: way, pressed: true }).waitFor();
      shown[way] = (await page.locator('.pane-body').textContent()) ?? '';
    }
    await page.getByRole('button', { name: 'Send again …' }).click();
    await page.keyboard.press('Escape');
    await page.keyboard.press('2');
    await page.locator('.plot svg').first().waitFor();
    await page.keyboard.press('3');
    await page.getByText(/^It would/).waitFor();
    const after = await page.evaluate(`({
      ran: window.ran ?? 0,
      reports: window.reports,
      foreign: document.querySelectorAll('#page script, #page style, #page iframe, #page img, #page svg, #page b[onclick]').length,
    })`);

    expect(after).toEqual({ ran: 0, reports: [], foreign: 0 });
    expect(complaints).toEqual([]);
    expect(requested.filter((url) => !url.startsWith(`${gateway.url}/_/`))).toEqual([]);
    expect(height).toBeLessThan(40);
    expect(listed).toContain('<script>window.ran=1</script>/1.0');
    expect(shown.Headers).toContain('<script>window.ran=1</script>');
    expect(shown.Headers).not.toContain('<svg onload=alert(1)>'); // anything may be in a header of such a name
    expect(shown.Request).toContain('<img src=x onerror=');
    expect(shown.Answer).toContain('␛[2J␛]0;owned␇');
    expect(shown.Answer).toContain('⟨U+202E⟩gnirts');
    expect(shown['Event by event']).toContain('<b>end</b>');
    expect(shown['As it came']).toContain('\ufffd');
    expect(Object.values(shown).join('')).not.toMatch(/[\u0000-\u0008\u001b\u009b\u202e\u2066\u2067]/);
  });
});
