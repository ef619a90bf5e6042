import type { OpenPage } from './browser.ts';
import { command, directoryWith, type Serving, startServing, withoutStore } from './command.ts';

export interface ServedPage {
  readonly url: string;
  readonly home: string;
  readonly key: string;
  /** A link that works once, by `gateway open`. */
  link(): Promise<string>;
  /** Posts to the gateway; resolves with the status when the whole answer is here. */
  ask(
    body: object,
    options?: { readonly path?: string; readonly headers?: Readonly<Record<string, string>> },
  ): Promise<number>;
  /** Runs another command in the same home. */
  command(...argv: string[]): ReturnType<typeof command>;
  /** Ends the gateway; the page stays open. */
  stop(): Promise<unknown>;
  /** Starts it again, on the same port. */
  start(): Promise<unknown>;
}

const key = 'project-key-0123456789';

/** `gateway serve` with a live page, ended after the tests of a file. */
export async function servePage(
  yaml: string,
  more: Readonly<Record<string, string>> = {},
): Promise<ServedPage> {
  const home = directoryWith(`${yaml}\n${withoutStore}`);
  const environment = { cwd: home, env: { PROJECT_KEY: key, ...more } };
  let running: Serving = await startServing(environment);
  const { url } = running;
  const page: ServedPage = {
    url,
    home,
    key,
    start: async () => {
      running = await startServing(environment, '-p', new URL(url).port);
    },
    stop: () => running.stop(),
    command: (...argv) => command(argv, environment),
    link: async () => {
      const { stdout, stderr } = await page.command('open', '--no-browser');
      if (!stdout.startsWith(url)) throw new Error(`gateway open printed no link: ${stdout}${stderr}`);
      return stdout.trim();
    },
    ask: async (body, { path = '/v1/chat/completions', headers = {} } = {}) => {
      const response = await fetch(url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${key}`, ...headers },
        body: JSON.stringify(body),
      });
      await response.text();
      return response.status;
    },
  };
  return page;
}

/** Opens the page by a link, and waits until its list is there and live. */
export async function enter<Opened extends Pick<OpenPage, 'page'>>(
  gateway: ServedPage,
  opening: Promise<Opened>,
) {
  const opened = await opening;
  await opened.page.goto(await gateway.link());
  await opened.page.getByRole('grid').waitFor();
  await opened.page.getByText('live', { exact: true }).waitFor();
  return { ...opened, rows: opened.page.locator('.row:not(.head)') };
}

/** Waits until the page asks for a link. */
export const asksForLink = (page: OpenPage['page']) =>
  page.getByText('gateway open', { exact: true }).waitFor();

/** Rules that block, redact and warn, and a model that answers offline. */
export const housePolicy = `
policies:
  house:
    apply: all
    rules:
      - id: no-mail
        action: redact
        reason: data.email
        when: { text: { detect: [email] } }
      - id: no-codename
        action: block
        reason: content.codename
        when: { text: { phrases: ["blue heron"] } }
      - { id: long-answers, action: warn, reason: limits.max_output_tokens, when: { max_output_tokens: { over: 5000 } } }
projects:
  shop:
    keys: [{ id: shop-web, value: "\${PROJECT_KEY}" }]
`;

export const say = (text: string, more: object = {}) => ({
  model: 'sandbox-mini',
  messages: [{ role: 'user', content: text }],
  ...more,
});
