import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import type { OpenPage } from './browser.ts';
import { type Child, startProgram } from './child.ts';
import { directoryWith } from './command.ts';

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
  /** Runs another command of the program in the same home. */
  command(
    ...argv: string[]
  ): Promise<{ readonly exit: number | null; readonly stdout: string; readonly stderr: string }>;
  /** Ends the gateway; the page stays open. */
  stop(): Promise<void>;
  /** Starts it again, on the same port. */
  start(): Promise<void>;
}

const key = 'project-key-0123456789';

/** The real `gateway serve` with a live page, ended after the tests of a file. */
export async function servePage(
  yaml: string,
  more: Readonly<Record<string, string>> = {},
): Promise<ServedPage> {
  const home = directoryWith(`${yaml}\nplants: { store: { enabled: false } }\n`);
  const env = { PROJECT_KEY: key, ...more };
  let child: Child | undefined;
  let port = 0;
  const start = async () => {
    child = startProgram(['serve', '-p', String(port)], home, env);
    await child.wrote('"listening"');
    const { url } = JSON.parse(readFileSync(join(home, '.local/state/gateway/running.json'), 'utf8'));
    port = Number(new URL(url).port);
  };
  const stop = async () => {
    child?.process.kill('SIGTERM');
    await child?.ended;
  };
  await start();
  afterAll(stop);
  const url = `http://127.0.0.1:${port}`;
  const command: ServedPage['command'] = (...argv) => startProgram(argv, home, env).ended;
  return {
    url,
    home,
    key,
    start,
    stop,
    command,
    link: async () => {
      const { stdout, stderr } = await command('open', '--no-browser');
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
