import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { command, directoryWith, emptyDirectory, startCommand } from '../kit/command.ts';
import { type Script, startHost } from '../kit/host.ts';

const ending: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ending.splice(0)) await end();
});

interface Listener {
  readonly url: string;
  /** All that arrived, heads and bodies. */
  received(): string;
}

async function listen(answer: Script): Promise<Listener> {
  const { url, requests } = await startHost(answer);
  const texts = () =>
    requests.map(({ method, target, headers, body }) => `${method} ${target} ${headers.join(' ')}\n${body}`);
  return { url, received: () => texts().join('') };
}

const key = 'gw_the-key-of-the-dead-gateway';

/** A home whose state file says that a gateway is at an address. */
function homeOf(url: string): string {
  const home = emptyDirectory();
  const state = join(home, '.local/state/gateway');
  mkdirSync(state, { recursive: true });
  const running = {
    url,
    pid: process.pid,
    proof: { challenge: 'the-challenge', answer: 'the-answer' },
    key,
    default_model: 'sandbox-mini',
    plants_url: `${url}/v3`,
  };
  writeFileSync(join(state, 'running.json'), JSON.stringify(running), { mode: 0o600 });
  return home;
}

async function serveSandbox() {
  const home = directoryWith('plants: { store: { enabled: false } }\n');
  const running = startCommand(['serve', '-p', '0', '--log', 'json'], { cwd: home });
  await running.wrote('stderr', '"listening"');
  ending.push(async () => {
    running.signal('SIGTERM');
    await running.ended;
  });
  const file = join(home, '.local/state/gateway/running.json');
  return { home, file, state: JSON.parse(readFileSync(file, 'utf8')), running };
}

const likeAGateway: Script = (response) =>
  response.writeHead(200, { 'x-request-id': 'req_1', 'content-type': 'application/json' }).end('{}');

test.each([
  ['send', ['send', 'a prompt that is nobody else’s business']],
  ['models', ['models']],
])('%s hands neither key nor prompt to whoever has the port of a dead gateway', async (_name, argv) => {
  const other = await listen(likeAGateway);

  const { exit, stderr } = await command(argv, { cwd: homeOf(other.url) });

  expect(exit).toBe(8);
  expect(stderr).toContain('is not the gateway that was started there');
  expect(other.received()).toMatch(/^GET \/healthz [^\n]+\n$/);
  expect(other.received()).not.toContain(key);
});

test.each([
  ['a password', ['login', '-u', 'ada', '--password-stdin'], {}],
  ['a token', ['plants', 'get', '1'], { PLANTS_TOKEN: 'secret-token' }],
])('nor does whoever has the port of its plant store get %s', async (_what, argv, env) => {
  const other = await listen((response) => response.end('{"token":"t","expiresIn":3600}'));

  const { exit, stderr } = await command(argv, { cwd: homeOf(other.url), env, stdin: 'secret-password' });

  expect(exit).toBe(8);
  expect(stderr).toContain('the gateway that started the plant store is gone');
  expect(other.received()).not.toContain('secret');
});

test('nor where the key comes from the environment, unless the address does too', async () => {
  const other = await listen(likeAGateway);
  const cwd = homeOf(other.url);

  const found = await command(['models'], { cwd, env: { GATEWAY_KEY: 'gw_key-of-the-environment' } });
  const receivedUnasked = other.received();
  const env = { GATEWAY_KEY: 'gw_key-of-the-environment', GATEWAY_URL: other.url };
  await command(['models'], { cwd, env });

  expect(found.exit).toBe(8);
  expect(receivedUnasked).not.toContain('gw_key-of-the-environment');
  expect(other.received()).toContain('gw_key-of-the-environment');
});

test('the key follows on the proven connection alone', async () => {
  const { state } = await serveSandbox();
  // It knows the answer, and hangs up after the proof: as if the gateway died in this very moment.
  const dying = await listen((response) => {
    response.writeHead(200, { 'x-gateway-answer': state.proof.answer, connection: 'close' }).end('{}');
  });
  const home = homeOf(dying.url);
  writeFileSync(
    join(home, '.local/state/gateway/running.json'),
    JSON.stringify({ ...state, url: dying.url }),
  );

  const { exit } = await command(['send', 'hello'], { cwd: home });

  expect(exit).toBe(8);
  expect(dying.received()).not.toContain(state.key);
});

test('who listens and is silent gets nothing, and nobody waits for it', async () => {
  const silent = await listen(() => undefined);

  const { exit, stderr } = await command(['send', 'hello'], { cwd: homeOf(silent.url) });

  expect(exit).toBe(8);
  expect(stderr).toContain('no gateway answers');
  expect(silent.received()).not.toContain('hello');
}, 15_000);

test('the gateway itself answers, and records the prompt alone', async () => {
  const { home, running } = await serveSandbox();

  const sent = await command(['send', 'hello'], { cwd: home });
  running.signal('SIGTERM');
  await running.ended;

  const records = readFileSync(join(home, '.local/state/gateway/records.jsonl'), 'utf8').trim().split('\n');
  expect(sent.exit).toBe(0);
  expect(records.map((line) => JSON.parse(line).path)).toEqual(['/v1/chat/completions']);
});

test('a challenge without the secret is recorded, and learns nothing of the gateway', async () => {
  const { home, state, running } = await serveSandbox();

  const answer = await fetch(`${state.url}/healthz`, {
    headers: { 'x-gateway-challenge': 'ab'.repeat(32) },
  });
  const body = await answer.json();
  running.signal('SIGTERM');
  await running.ended;

  expect(answer.headers.get('x-gateway-answer')).toBeNull();
  expect(body).toEqual({ status: 'ok' });
  expect(readFileSync(join(home, '.local/state/gateway/records.jsonl'), 'utf8')).toContain('/healthz');
});
