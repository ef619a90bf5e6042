import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { command, directoryWith, emptyDirectory, startCommand } from '../../kit/command.ts';

const ending: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ending.splice(0)) await end();
});

const homeWith = (yaml = '') => directoryWith(`${yaml}plants: { store: { enabled: false } }\n`);

async function detach(cwd: string, ...argv: string[]) {
  const ended = await command(['serve', '--detach', '-p', '0', '-o', 'json', ...argv], { cwd });
  ending.push(() => command(['stop', '--now'], { cwd }));
  return { ...ended, gateway: JSON.parse(ended.stdout || '{}') };
}

/** A gateway in this process. */
async function serving(cwd: string) {
  const served = startCommand(['serve', '-p', '0'], { cwd });
  await served.wrote('stderr', '"listening"');
  const stop = () => {
    served.signal('SIGTERM');
    return served.ended;
  };
  return { stop };
}

test('serves in the background until it is stopped', async () => {
  const cwd = homeWith();

  const { exit, gateway } = await detach(cwd);
  const sent = await command(['send', 'hello'], { cwd });
  const status = await command(['status', '-o', 'json'], { cwd });
  const stopped = await command(['stop'], { cwd });
  const after = await command(['status'], { cwd });
  const again = await command(['stop'], { cwd });

  expect([exit, sent.exit, stopped.exit, after.exit, again.exit]).toEqual([0, 0, 0, 8, 8]);
  expect(JSON.parse(status.stdout)).toEqual(gateway);
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

test('starts nothing with --dry-run', async () => {
  const cwd = homeWith();

  const { exit, stderr } = await command(['serve', '--detach', '--dry-run'], { cwd });
  const status = await command(['status'], { cwd });

  expect([exit, stderr, status.exit]).toEqual([0, '', 8]);
});

test('a second time it says where the first one is; open streams are counted, and cut with --now', async () => {
  const cwd = homeWith();
  const { gateway } = await detach(cwd);
  const sending = command(['send', '-m', 'sandbox-slow', 'hello'], { cwd });
  const open = async () => JSON.parse((await command(['status', '-o', 'json'], { cwd })).stdout).open;
  await expect.poll(open).toEqual({ exchanges: 1, streams: 1 });

  const again = [];
  for (const how of [['--detach'], []]) {
    again.push(await command(['serve', ...how, '-p', new URL(gateway.url).port], { cwd }));
  }
  const stopped = await command(['stop', '--now'], { cwd });

  const stderr = `gateway: a gateway is already running at ${gateway.url}; "gateway stop" ends it, -p starts another`;
  expect(again).toEqual(
    Array(2).fill({ exit: 1, stdout: '', stderr: expect.stringContaining(`${stderr}\n`) }),
  );
  expect(stopped.exit).toBe(0);
  expect((await sending).exit).toBe(7);
});

test('reports why it could not start, and where its log is', async () => {
  const cwd = homeWith('server: { prot: 1 }\n');

  const { exit, stderr, stdout } = await command(['serve', '--detach'], { cwd });

  expect([exit, stdout]).toEqual([2, '']);
  expect(stderr).toContain('server.prot: unknown key');
  expect(stderr).toContain('its log is');
});

test('in sandbox mode the key is the same after a restart, and shown to its owner alone', async () => {
  const cwd = homeWith();
  const first = await serving(cwd);
  const shown = await command(['key', 'show', '--yes'], { cwd });
  const onTerminal = await command(['key', 'show'], { cwd, isTerminal: true });
  const inPipe = await command(['key', 'show'], { cwd });
  await first.stop();
  const second = await serving(cwd);

  const later = await command(['key', 'show', '--yes', '-o', 'json'], { cwd });
  await second.stop();

  expect(shown.stdout).toMatch(/^gw_[0-9A-Za-z]{38}\n$/);
  expect([onTerminal.stdout, JSON.parse(later.stdout).key]).toEqual([shown.stdout, shown.stdout.trim()]);
  expect([inPipe.exit, inPipe.stdout]).toEqual([2, '']);
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
  const cwd = homeWith(yaml);
  const { stop } = await serving(cwd);

  expect((await command(['send', '-m', model, 'hello'], { cwd })).exit).toBe(exit);
  await stop();
});

test('without a key of its own there is none to show', async () => {
  expect((await command(['key', 'show', '--yes'], { cwd: emptyDirectory() })).exit).toBe(5);
});
