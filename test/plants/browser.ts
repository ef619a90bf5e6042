import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WebSocket } from 'ws';

export interface Page {
  /** What the browser complained about: blocked by policy, failed to load, thrown. */
  readonly complaints: readonly string[];
  /** Every address that the page asked for. */
  readonly requested: readonly string[];
  /** The value of an expression in the page, awaited there. */
  evaluate(expression: string): Promise<unknown>;
  /** Resolves when the expression is true. */
  until(expression: string): Promise<void>;
  close(): Promise<void>;
}

/** Where Debian's Chromium is, or undefined where it is not installed. */
export const chromium = ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find((path) => existsSync(path));

/** Opens an address in a browser of its own, through the DevTools protocol. */
export async function openPage(url: string): Promise<Page> {
  const profile = mkdtempSync(join(tmpdir(), 'plants-browser-'));
  const flags = [
    '--headless=new',
    '--no-sandbox',
    '--disable-gpu',
    '--disable-dev-shm-usage',
    '--no-first-run',
  ];
  const browser = spawn(
    chromium as string, // callers skip without one
    [...flags, '--remote-debugging-port=0', `--user-data-dir=${profile}`, 'about:blank'],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const port = await new Promise<string>((resolve) => {
    let text = '';
    browser.stderr.on('data', (chunk) => {
      text += chunk;
      const found = /DevTools listening on ws:\/\/127\.0\.0\.1:(\d+)\//.exec(text)?.[1];
      if (found !== undefined) resolve(found);
    });
  });
  const targets = (await (await fetch(`http://127.0.0.1:${port}/json/list`)).json()) as {
    readonly type: string;
    readonly webSocketDebuggerUrl: string;
  }[];
  const socket = new WebSocket(targets.find(({ type }) => type === 'page')?.webSocketDebuggerUrl ?? '');
  await once(socket, 'open');
  const complaints: string[] = [];
  const requested: string[] = [];
  const waiting = new Map<number, (result: never) => void>();
  let count = 0;
  socket.on('message', (data) => {
    const { id, result, method, params } = JSON.parse(String(data));
    if (id !== undefined) waiting.get(id)?.(result as never);
    if (method === 'Network.requestWillBeSent') requested.push(params.request.url);
    if (method === 'Log.entryAdded' && params.entry.level !== 'info') complaints.push(params.entry.text);
    if (method === 'Runtime.exceptionThrown') complaints.push(JSON.stringify(params.exceptionDetails));
  });
  const call = (method: string, params: object = {}) =>
    new Promise<{ readonly result?: { readonly value?: unknown } }>((resolve) => {
      count += 1;
      waiting.set(count, resolve);
      socket.send(JSON.stringify({ id: count, method, params }));
    });
  const evaluate = async (expression: string) =>
    (await call('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true })).result?.value;
  for (const domain of ['Network', 'Log', 'Runtime', 'Page']) await call(`${domain}.enable`);
  await call('Page.navigate', { url });
  return {
    complaints,
    requested,
    evaluate,
    until: async (expression) => {
      while ((await evaluate(expression)) !== true) await new Promise((resolve) => setTimeout(resolve, 50));
    },
    close: async () => {
      socket.close();
      const exited = once(browser, 'exit');
      browser.kill('SIGKILL');
      await exited;
      rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
