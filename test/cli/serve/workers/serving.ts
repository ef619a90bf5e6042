import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach } from 'vitest';
import { requestFor } from '../../../kit/answers.ts';
import { type Child, startProgram } from '../../../kit/child.ts';
import { emptyDirectory } from '../../../kit/command.ts';
import { type ScriptedHost, startHost } from '../../../kit/host.ts';

export interface Gateway {
  readonly child: Child;
  readonly home: string;
  readonly url: string;
  readonly key: string;
  readonly workers: readonly number[];
}

const ending: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ending.splice(0)) await end();
});

export const withHost = ({ url }: ScriptedHost, server = 'workers: 2') => `
server: { ${server} }
providers: { gpt: { dialect: openai, base_url: "${url}/v1" } }
models: [{ match: "gpt-*", provider: gpt }]
`;

export async function host(...args: Parameters<typeof startHost>): Promise<ScriptedHost> {
  const started = await startHost(...args);
  ending.push(() => started.close());
  return started;
}

export function configure(home: string, yaml: string): void {
  replaceFile(join(home, 'gateway.yaml'), `${yaml}\nplants: { store: { enabled: false } }\n`);
}

/** In one step, so that nobody who follows the file reads half of it. */
export function replaceFile(path: string, text: string): void {
  writeFileSync(`${path}.new`, text, { mode: 0o600 });
  renameSync(`${path}.new`, path);
}

/** The real program with workers, ready for requests. */
export async function serve(
  yaml: string,
  argv: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<Gateway> {
  const home = emptyDirectory();
  configure(home, yaml);
  const child = startProgram(['serve', '-p', '0', ...argv], home, env);
  ending.push(() => child.process.kill('SIGKILL'));
  await child.wrote('"listening"');
  const state = JSON.parse(readFileSync(join(home, '.local/state/gateway/running.json'), 'utf8'));
  const { workers } = JSON.parse(lines(child).find((line) => line.includes('"listening"')) ?? '');
  return { child, home, url: state.url, key: state.key, workers };
}

export function lines(child: Child): string[] {
  return child.text('stderr').split('\n').slice(0, -1);
}

export function ask(
  { url, key }: Gateway,
  body: object,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': key, ...headers },
    body: JSON.stringify(body),
  });
}

const mostAttempts = 100;
const againMs = 100;

/**
 * Asks again while the gateway can't decide (503): its disk or its Redis may take too long on a busy machine. Counts
 * those in `undecided`.
 */
export async function askUntilDecided(
  gateway: Gateway,
  body: object,
  undecided: { count: number },
): Promise<Response> {
  for (let attempt = 1; ; attempt += 1) {
    const response = await ask(gateway, body);
    if (response.status !== 503 || attempt === mostAttempts) return response;
    undecided.count += 1;
    await response.text();
    await new Promise((resume) => setTimeout(resume, againMs));
  }
}

/** On a connection of its own, so that another worker gets it than the one before. */
export function askAlone(gateway: Gateway, model = 'gpt-test'): Promise<Response> {
  return ask(gateway, requestFor('chat', model), { connection: 'close' });
}
