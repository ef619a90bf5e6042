import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach } from 'vitest';
import { openSqliteReader } from '../../../../src/database/sqlite-engine.ts';
import { listSegments } from '../../../../src/record/ledger/journal/segments.ts';
import { requestFor } from '../../../kit/answers.ts';
import { type Child, startProgram } from '../../../kit/child.ts';
import { emptyDirectory } from '../../../kit/command.ts';
import { type ScriptedHost, startHost } from '../../../kit/host.ts';

interface Address {
  readonly url: string;
  readonly key: string;
}

export interface Gateway extends Address {
  readonly child: Child;
  readonly home: string;
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

/** The real program in a new home, ready for requests. */
export function serve(
  yaml: string,
  argv: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
  group?: string,
): Promise<Gateway> {
  const home = emptyDirectory();
  configure(home, yaml);
  return serveIn(home, { argv, env, group });
}

/** The real program in a home that has its configuration, ready for requests. */
export async function serveIn(
  home: string,
  {
    argv = [],
    env = keys,
    group,
  }: {
    argv?: readonly string[];
    env?: Readonly<Record<string, string>>;
    /** The control group that it runs in. */
    group?: string | undefined;
  } = {},
): Promise<Gateway> {
  const child = startProgram(['serve', '-p', '0', ...argv], home, env, group);
  ending.push(() => child.process.kill('SIGKILL'));
  await child.wrote('"listening"');
  const state = JSON.parse(readFileSync(join(home, '.local/state/gateway/running.json'), 'utf8'));
  const { url, workers } = JSON.parse(lines(child).find((line) => line.includes('"listening"')) ?? '');
  return { child, home, url, key: env === keys ? keys.SHOP_KEY : state.key, workers };
}

export async function stop({ child }: Gateway, signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
  child.process.kill(signal);
  return (await child.ended).exit;
}

export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

export const keys = {
  SHOP_KEY: 'a-project-key-with-a-budget',
  FREE_KEY: 'a-project-key-without-a-budget',
} as const;

/** Two projects, of which one has a budget. */
export const withBudget = (
  hostUrl: string,
  { limits = '', free = '', workers = 1, more = '' } = {},
) => `${more}
server: { workers: ${workers} }
providers: { gpt: { dialect: openai, base_url: "${hostUrl}/v1" } }
models: [{ match: "gpt-*", provider: gpt, pricing: { input: 1, output: 2 } }]
projects:
  shop: { limits: { ${limits} }, keys: [{ id: shop-web, value: "\${SHOP_KEY}" }] }
  free: { limits: { ${free} }, keys: [{ id: free-web, value: "\${FREE_KEY}" }] }
`;

/** A request for a budget, and what it uses at most by the gateway's estimate. */
export const body = { model: 'gpt-test', messages: [{ role: 'user', content: 'hi' }], max_tokens: 100 };
export const maxima = (request: object) => Math.ceil(JSON.stringify(request).length / 3) + 100;

/** Answers that used so many tokens. */
export function answering(
  input = 20,
  how: { content?: string; afterMs?: number; isSilent?: (body: string) => boolean } = {},
): Promise<ScriptedHost> {
  const usage = { prompt_tokens: input, completion_tokens: 100, total_tokens: input + 100 };
  const answer = { id: 'chatcmpl-1', object: 'chat.completion', created: 1, model: 'gpt-test' };
  return host((response, { body: received }) => {
    if (how.isSilent?.(received.toString())) return;
    const message = { role: 'assistant', content: how.content ?? 'hello' };
    const choices = [{ index: 0, message, finish_reason: 'stop' }];
    const send = () => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ ...answer, choices, usage }));
    };
    if (how.afterMs === undefined) send();
    else setTimeout(send, how.afterMs).unref();
  });
}

/** The status of so many requests, one after the other. */
export async function statuses(gateway: Address, count: number): Promise<number[]> {
  const seen: number[] = [];
  for (let i = 0; i < count; i += 1) {
    const response = await ask(gateway, body);
    await response.text();
    seen.push(response.status);
  }
  return seen;
}

export function lines(child: Child): string[] {
  return child.text('stderr').split('\n').slice(0, -1);
}

export function ask(
  { url, key }: Address,
  body: object,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': key, ...headers },
    body: JSON.stringify(body),
  });
}

/** On a connection of its own, so that another worker gets it than the one before. */
export function askAlone(gateway: Gateway, model = 'gpt-test'): Promise<Response> {
  return ask(gateway, requestFor('chat', model), { connection: 'close' });
}

/** Rows of the ledger in a home directory. */
export async function query<Row>(home: string, sql: string): Promise<readonly Row[]> {
  const engine = await openSqliteReader(join(home, '.local/state/gateway/ledger.sqlite'));
  const rows = engine.prepare(sql).all();
  engine.close();
  return rows as readonly Row[];
}

/** Segments of its journal that are not in the database yet. */
export function segments(home: string) {
  return listSegments(join(home, '.local/state/gateway/ledger.sqlite.journal'));
}
