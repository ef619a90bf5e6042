import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import {
  command,
  directoryWith,
  emptyDirectory,
  failure,
  startServing,
  withoutStore,
} from '../../kit/command.ts';

const ending: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ending.splice(0)) await end();
});

const configured = (yaml = '') => directoryWith(yaml + withoutStore);

async function detach(cwd: string, ...argv: string[]) {
  const ended = await command(['serve', '--detach', '-p', '0', '-o', 'json', ...argv], { cwd });
  ending.push(() => command('stop --now', { cwd }));
  return { ...ended, gateway: JSON.parse(ended.stdout || '{}') };
}

test('serves in the background until it is stopped', async () => {
  const cwd = configured();

  const { exit, gateway } = await detach(cwd);
  const sent = await command('send hello', { cwd });
  const status = await command('status -o json', { cwd });
  const stopped = await command('stop', { cwd });
  const after = await command('status', { cwd });
  const again = await command('stop', { cwd });

  expect([exit, sent.exit, stopped.exit, after.exit, again.exit]).toEqual([0, 0, 0, 8, 8]);
  expect(status.json).toEqual(gateway);
  expect(gateway).toMatchObject({
    url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
    config: { path: join(cwd, 'gateway.yaml'), hash: expect.stringMatching(/^[0-9a-f]{64}$/) },
    open: { exchanges: 0, streams: 0 },
    log: join(cwd, '.local/state/gateway/serve.log'),
  });
  expect(statSync(gateway.log).mode & 0o777).toBe(0o600);
  expect(readFileSync(gateway.log, 'utf8')).toContain('"listening"');
  expect(() => process.kill(gateway.pid, 0)).toThrow('ESRCH');
});

test('passes on where the plant store listens, and what its log looks like', async () => {
  const cwd = emptyDirectory();

  const { exit, gateway } = await detach(cwd, '--plants-port', '0', '--log', 'pretty');

  expect(exit).toBe(0);
  expect(gateway.plants_url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/v3$/);
  expect(gateway.plants_url).not.toContain(':4101/');
  expect(readFileSync(gateway.log, 'utf8')).not.toContain('{"level"');
});

test('a second time it says where the first one is; open streams are counted, and cut with --now', async () => {
  const cwd = configured();
  const { gateway } = await detach(cwd);
  const sending = command('send -m sandbox-slow hello', { cwd });
  const open = async () => (await command('status -o json', { cwd })).json.open;
  await expect.poll(open).toEqual({ exchanges: 1, streams: 1 });

  const running = `gateway: a gateway is already running at ${gateway.url}; "gateway stop" ends it, -p starts another\n`;
  for (const how of ['serve --detach', 'serve']) {
    expect(await command(`${how} -p ${new URL(gateway.url).port}`, { cwd })).toEqual(failure(1, running));
  }
  expect((await command('stop --now', { cwd })).exit).toBe(0);
  expect((await sending).exit).toBe(7);
});

test('reports why it could not start, and where its log is', async () => {
  const files = { 'gateway.yaml': 'server: { prot: 1 }\n' };

  expect(await command('serve --detach', { files })).toEqual(
    failure(2, /server\.prot: unknown key[\s\S]*its log is/),
  );
});

test('in sandbox mode the key is the same after a restart, and shown in a pipe as on a terminal', async () => {
  const { home: cwd, stop } = await startServing();
  const shown = await command('key show', { cwd });
  const onTerminal = await command('key show', { cwd, isTerminal: true });
  await stop();
  await startServing({ cwd });

  const later = await command('key show -o json', { cwd });

  expect(shown.stdout).toMatch(/^gw_[0-9A-Za-z]{38}\n$/);
  expect([onTerminal.stdout, later.json.key]).toEqual([shown.stdout, shown.stdout.trim()]);
  expect(statSync(join(cwd, '.local/state/gateway/local-key.json')).mode & 0o777).toBe(0o600);
});

test.each([
  ['sandbox mode serves every name', '', 'claude-opus-9', 0],
  ['but none that looks like its own', '', 'sandbox-typo', 5],
  [
    'a configured gateway serves the names it has',
    'models: [{ match: "gpt-*", provider: sandbox }]\n',
    'claude-opus-9',
    5,
  ],
])('%s', async (_name, yaml, model, exit) => {
  const { home: cwd } = await startServing({ files: { 'gateway.yaml': yaml + withoutStore } });

  expect((await command(`send -m ${model} hello`, { cwd })).exit).toBe(exit);
});
