import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { startProgram } from '../../kit/child.ts';
import { type CloudHost, startClouds } from '../../kit/cloud-host.ts';
import { type HostRequest, type ScriptedHost, startHost } from '../../kit/host.ts';

// The real Gemini CLI through the gateway at a scripted AI Studio and Vertex AI. It is no dependency: GEMINI_BIN is a
// directory with `gemini`, such as node_modules/.bin after npm install @google/gemini-cli. Vertex AI needs the packages of
// test/clouds too.
const bin = process.env.GEMINI_BIN;
const modules = join(import.meta.dirname, '../../clouds/node_modules');
const secret = 'x9Kq2mWv8LpR4tYzB7nD';

interface Turn {
  readonly contents: readonly { readonly parts: readonly Readonly<Record<string, unknown>>[] }[];
}

const event = (parts: readonly object[], more: object = {}) =>
  `data: ${JSON.stringify({
    candidates: [{ content: { parts, role: 'model' }, index: 0, ...more }],
    usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 2, totalTokenCount: 11 },
    modelVersion: 'gemini-2.5-pro',
  })}\r\n\r\n`;
const finished = { finishReason: 'STOP' };
const call = (command: string) => ({
  functionCall: { id: 'call_1', name: 'run_shell_command', args: { command, description: 'x' } },
});

/** What each host is in the configuration, and what authorizes requests to it. */
const hosts = [
  ['AI Studio', `base_url: "URL", api_key: "\${KEYED}"`, 'sk-keyed-0123456789abcdef'],
  [
    'Vertex AI',
    'base_url: "URL/v1/projects/p/locations/global/publishers/google", credentials: google',
    'Bearer google-token-0123456789',
  ],
] as const;

let host: ScriptedHost;
let logins: CloudHost;
beforeAll(async () => {
  host = await startHost(() => undefined);
  logins = await startClouds();
});
afterAll(() => Promise.all([host.close(), logins.close()]));

/** What the agent asks in its conversation, and not beside it. */
function turnOf({ target, body }: HostRequest): Turn | undefined {
  if (!target.includes(':streamGenerateContent')) return undefined;
  const turn = JSON.parse(body.toString()) as Turn & { tools?: unknown };
  return turn.tools === undefined ? undefined : turn;
}

async function runAt(
  provider: string,
  prompt: string,
  say: (turn: Turn, at: number) => readonly string[] | 'cut',
) {
  // It reads no settings below a folder that others may write, as /tmp is.
  const home = mkdtempSync(join(homedir(), '.gateway-test-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  writeFileSync(join(home, '.env'), `JWT_SECRET=${secret}\n`);
  writeFileSync(
    join(home, 'gateway.yaml'),
    `
providers:
  google: { dialect: gemini, ${provider.replace('URL', host.url)}, retries: { attempts: 1 } }
models: [{ match: "*", provider: google }]
policies:
  house:
    apply: all
    rules:
      - { id: codename, action: block, when: { text: { phrases: ["nightfall"] } }, reason: content.codename }
      - { id: secrets, action: mask, when: { text: { detect: [{ secrets: possible }] } } }
`,
    { mode: 0o600 },
  );
  const before = host.requests.length;
  let turns = 0;
  host.script((response, request) => {
    const turn = turnOf(request);
    if (turn === undefined) {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(
        JSON.stringify({
          candidates: [{ content: { parts: [{ text: '{}' }], role: 'model' }, ...finished }],
        }),
      );
      return;
    }
    const said = say(turn, turns);
    turns += 1;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    if (said === 'cut') response.write(event([{ text: 'Half an ' }]), () => response.destroy());
    else response.end(said.join(''));
  });
  const child = startProgram(
    ['run', '-m', 'gemini-2.5-pro', 'gemini', '--yolo', '--skip-trust', '-p', prompt],
    home,
    {
      ...logins.envIn(home),
      NODE_PATH: modules,
      PATH: `${bin}:${process.env.PATH}`,
      KEYED: 'sk-keyed-0123456789abcdef',
      GATEWAY_CONFIG: join(home, 'gateway.yaml'),
    },
  );
  child.process.stdin?.end();
  const ended = await child.ended;
  return { ...ended, home, turns, requests: host.requests.slice(before) };
}

const usable = hosts.filter(([name]) => name !== 'Vertex AI' || existsSync(modules));

describe.skipIf(bin === undefined).each(usable)('Gemini CLI at %s', (_name, provider, authorized) => {
  const run = (...asked: [prompt: string, say: Parameters<typeof runAt>[2]]) => runAt(provider, ...asked);

  test('prints an answer', { timeout: 150_000 }, async () => {
    const { exit, stdout, stderr, requests } = await run('say hello', () => [
      event([{ text: 'Hello from ' }]),
      event([{ text: 'Gemini' }], finished),
    ]);

    expect([exit, stdout], stderr).toEqual([0, expect.stringContaining('Hello from Gemini')]);
    expect(requests.every(({ headers }) => headers.some(([, value]) => value === authorized))).toBe(true);
  });

  test('runs a tool on a secret that never leaves', { timeout: 150_000 }, async () => {
    const { exit, stdout, stderr, home, turns, requests } = await run('go on', (turn, at) => {
      const seen = /JWT_SECRET=(\w+)/.exec(JSON.stringify(turn.contents))?.[1] ?? 'unread';
      if (at === 0) return [event([call('cat .env')], finished)];
      if (at === 1) return [event([call(`printf %s ${seen} > seen.txt`)], finished)];
      return [event([{ text: `done with ${seen}` }], finished)];
    });

    expect([exit, stdout], stderr).toEqual([0, expect.stringContaining(`done with ${secret}`)]);
    expect(turns).toBe(3);
    expect(readFileSync(join(home, 'seen.txt'), 'utf8')).toBe(secret);
    expect(requests.filter(({ body }) => body.includes(secret))).toEqual([]);
  });

  test('says what blocks it', { timeout: 150_000 }, async () => {
    const { exit, stdout, stderr, turns } = await run('about nightfall', () => [
      event([{ text: 'no' }], finished),
    ]);

    expect(turns).toBe(0);
    expect(exit).not.toBe(0);
    expect(stdout + stderr).toContain('codename');
  });

  test('does not take half an answer for a whole one', { timeout: 150_000 }, async () => {
    const { exit, turns } = await run('say hello', () => 'cut');

    expect(turns).toBeGreaterThan(0);
    expect(exit).not.toBe(0);
  });
});
