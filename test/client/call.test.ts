import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { command, homeWith, startServing } from '../kit/command.ts';
import { type Script, type ScriptedHost, startHost } from '../kit/host.ts';

const key = 'gw_the-key-of-the-dead-gateway';
const stateFile = '.local/state/gateway/running.json';

/** A home whose state file says that a gateway is at an address. */
function homeOf(url: string, state: object = {}): string {
  const proof = { challenge: 'the-challenge', answer: 'the-answer' };
  const running = { pid: process.pid, proof, key, default_model: 'sandbox-mini', plants_url: `${url}/v3` };
  return homeWith({ [stateFile]: { ...running, ...state, url } });
}

/** All that arrived at a host, heads and bodies. */
function received({ requests }: ScriptedHost): string {
  return requests
    .map(({ method, target, headers, body }) => `${method} ${target} ${headers.join(' ')}\n${body}`)
    .join('');
}

async function serveSandbox() {
  const serving = await startServing();
  return { ...serving, state: JSON.parse(readFileSync(join(serving.home, stateFile), 'utf8')) };
}

const likeAGateway: Script = (response) =>
  response.writeHead(200, { 'x-request-id': 'req_1', 'content-type': 'application/json' }).end('{}');

test.each([
  ['send', ['send', 'a prompt that is nobody else’s business']],
  ['models', ['models']],
])('%s hands neither key nor prompt to whoever has the port of a dead gateway', async (_name, argv) => {
  const other = await startHost(likeAGateway);

  const { exit, stderr } = await command(argv, { cwd: homeOf(other.url) });

  expect(exit).toBe(8);
  expect(stderr).toContain('is not the gateway that was started there');
  expect(received(other)).toMatch(/^GET \/healthz [^\n]+\n$/);
  expect(received(other)).not.toContain(key);
});

test.each([
  ['a password', 'login -u ada --password-stdin', {}],
  ['a token', 'plants get 1', { PLANTS_TOKEN: 'secret-token' }],
])('nor does whoever has the port of its plant store get %s', async (_what, line, env) => {
  const other = await startHost((response) => response.end('{"token":"t","expiresIn":3600}'));

  const { exit, stderr } = await command(line, { cwd: homeOf(other.url), env, stdin: 'secret-password' });

  expect(exit).toBe(8);
  expect(stderr).toContain('the gateway that started the plant store is gone');
  expect(received(other)).not.toContain('secret');
});

test('nor where the key comes from the environment, unless the address does too', async () => {
  const other = await startHost(likeAGateway);
  const cwd = homeOf(other.url);
  const env = { GATEWAY_KEY: 'gw_key-of-the-environment' };

  const found = await command('models', { cwd, env });
  const receivedUnasked = received(other);
  await command('models', { cwd, env: { ...env, GATEWAY_URL: other.url } });

  expect(found.exit).toBe(8);
  expect(receivedUnasked).not.toContain(env.GATEWAY_KEY);
  expect(received(other)).toContain(env.GATEWAY_KEY);
});

test('the key follows on the proven connection alone', async () => {
  const { state } = await serveSandbox();
  // It knows the answer, and hangs up after the proof: as if the gateway died in this very moment.
  const dying = await startHost((response) => {
    response.writeHead(200, { 'x-gateway-answer': state.proof.answer, connection: 'close' }).end('{}');
  });

  const { exit } = await command('send hello', { cwd: homeOf(dying.url, state) });

  expect(exit).toBe(8);
  expect(received(dying)).not.toContain(state.key);
});

test('who listens and is silent gets nothing, and nobody waits for it', async () => {
  const silent = await startHost(() => undefined);

  const { exit, stderr } = await command('send hello', { cwd: homeOf(silent.url) });

  expect(exit).toBe(8);
  expect(stderr).toContain('no gateway answers');
  expect(received(silent)).not.toContain('hello');
}, 15_000);

test('the gateway itself answers and records the prompt; a challenge without the secret is recorded, and learns nothing', async () => {
  const { home, state, stop } = await serveSandbox();

  const sent = await command('send hello', { cwd: home });
  const answer = await fetch(`${state.url}/healthz`, {
    headers: { 'x-gateway-challenge': 'ab'.repeat(32) },
  });
  const body = await answer.json();
  await stop();

  const records = readFileSync(join(home, '.local/state/gateway/records.jsonl'), 'utf8').trim().split('\n');
  expect(sent.exit).toBe(0);
  expect(answer.headers.get('x-gateway-answer')).toBeNull();
  expect(body).toEqual({ status: 'ok' });
  expect(records.map((line) => JSON.parse(line).path)).toEqual(['/v1/chat/completions', '/healthz']);
});

test('look-ups of the owner are not recorded, and those of others are', async () => {
  const { home, state } = await serveSandbox();
  const gateway = { url: state.url, key: state.key };

  await command('models', { cwd: home });
  await command('models', { gateway });
  await command('send hello', { cwd: home });
  const logged = async () =>
    (await command('logs -o ndjson', { cwd: home })).lines
      .map(({ path }: { path: string }) => path)
      .toSorted();

  // A record is written after its answer.
  await expect.poll(logged).toEqual(['/v1/chat/completions', '/v1/gateway/models']);
});
