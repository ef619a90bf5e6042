import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { isOldParser } from '../../src/http/strict-head.ts';
import {
  command,
  directoryWith,
  emptyDirectory,
  startCommand,
  startServing,
  withoutStore,
} from '../kit/command.ts';
import { startHost } from '../kit/host.ts';
import { listening } from '../kit/listening.ts';

const stateFile = (home: string) => join(home, '.local/state/gateway/running.json');
const stateOf = (home: string): { url: string; key: string } =>
  JSON.parse(readFileSync(stateFile(home), 'utf8'));

describe('serve in sandbox mode', () => {
  test('leaves its address for this user alone, which the other commands find; and takes it away again', async () => {
    const { home: cwd, stop } = await startServing();
    const state = stateOf(cwd);

    const mode = statSync(stateFile(cwd)).mode & 0o777;
    const directoryMode = statSync(join(cwd, '.local/state/gateway')).mode & 0o777;
    const sent = await command('send hello', { cwd });
    const models = await command('models', { cwd });
    const ended = await stop();

    expect([mode, directoryMode]).toEqual([0o600, 0o700]);
    expect(state.key).toMatch(/^gw_[0-9A-Za-z]{38}$/);
    expect(sent.stdout).toContain('The sandbox read: "hello"');
    expect(models.stdout).toContain('sandbox-mini\t');
    expect(ended).toMatchObject({ exit: 0, stdout: '' });
    expect(() => statSync(stateFile(cwd))).toThrow(/ENOENT/);
    expect((await command('send hello', { cwd })).exit).toBe(8);
  });

  test('a second one is found while it runs, and the first one again after it', async () => {
    const first = await startServing();
    const cwd = first.home;
    const state = stateOf(cwd);
    const second = await startServing({ cwd });
    const whileBoth = stateOf(cwd);

    await second.stop();
    const after = stateOf(cwd);
    await first.stop();

    expect(whileBoth.url).not.toBe(state.url);
    expect(after).toEqual(state);
    expect(() => statSync(stateFile(cwd))).toThrow(/ENOENT/);
  });

  test("whose store's port is taken sends no password there, and finds the store of the one before", async () => {
    const other = await startHost((response) => response.end());
    const cwd = emptyDirectory();
    const serveWithStoreAt = (port: string) => {
      writeFileSync(join(cwd, 'gateway.yaml'), `plants: { store: { port: ${port} } }\n`, { mode: 0o600 });
      return startServing({ cwd }, '--no-watch');
    };
    const taken = new URL(other.url).port;
    const alone = await serveWithStoreAt(taken);

    const login = await command('login -u ada --password-stdin', { cwd, stdin: 'secret\n' });
    await alone.stop();
    const first = await serveWithStoreAt('0');
    const second = await serveWithStoreAt(taken);
    const found = await command('plants search', { cwd });
    await second.stop();
    await first.stop();

    expect(login).toMatchObject({ exit: 8, stderr: expect.stringContaining('PLANTS_URL') });
    expect(other.requests).toEqual([]);
    expect(found.exit).toBe(0);
  });

  test('writes a JSON line for each exchange, without key and content', async () => {
    const { home: cwd, stop } = await startServing();
    const state = stateOf(cwd);

    await command(['send', 'a very private prompt'], { cwd });
    const { stderr } = await stop();

    const lines = stderr
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    const exchange = lines.find(({ msg }) => msg === 'exchange');
    expect(exchange).toMatchObject({
      project: 'local',
      key: 'local',
      endpoint: 'chat',
      model: 'sandbox-mini',
      provider: 'sandbox',
      stream: true,
      status: 200,
      outcome: 'answered',
      decision: 'allow',
    });
    expect(exchange.bytes_in).toBeGreaterThan(50);
    expect(exchange.bytes_out).toBeGreaterThan(500);
    expect(exchange.first_byte_ms).toBeLessThanOrEqual(exchange.total_ms);
    const file = readFileSync(join(cwd, '.local/state/gateway/records.jsonl'), 'utf8');
    expect(JSON.parse(file.trimEnd()).request_id).toBe(exchange.request_id);
    for (const text of [stderr, file]) {
      expect(text).not.toContain(state.key);
      expect(text).not.toContain('private prompt');
    }
  });

  test('on a terminal shows where it is, the key, what to try, and a line for each exchange', async () => {
    const cwd = directoryWith(withoutStore);
    const running = startCommand('serve -p 0 --no-color', { cwd, isTerminal: true });
    await running.wrote('stderr', 'gateway send');
    const state = stateOf(cwd);

    await command('send hello', { cwd });
    running.signal('SIGINT');
    const { exit, stderr } = await running.ended;

    expect(exit).toBe(0);
    expect(stderr).toContain(state.url);
    expect(stderr).toContain('providers  sandbox ✓');
    expect(stderr).toContain(`keys       local  ${state.key}  (saved for this user)`);
    expect(stderr).toContain(`page       ${state.url}/_/  (gateway open)`);
    expect(stderr).toContain('try        gateway send "hello"\n');
    expect(stderr).toMatch(
      /^ {11}gateway send "when does Project Nightfall start\?" {2}\(blocked:\sa\scode\sname\)$/m,
    );
    expect(stderr).toMatch(/^ {11}gateway send "is API_KEY=\w+ right\?" {2}\(the\ssecret\sis\sreplaced\)$/m);
    expect(stderr).toMatch(
      /^\d\d:\d\d:\d\d ✓ 200 local chat sandbox-mini→sandbox \d+ms first \d+ in \d+ out \d+ req_/m,
    );
    expect(stderr).not.toContain('\u001b[');
  });

  test('-q on a terminal says nothing', async () => {
    const cwd = directoryWith(withoutStore);
    const running = startCommand('serve -q -p 0', { cwd, isTerminal: true });
    await expect.poll(() => existsSync(stateFile(cwd)), { timeout: 10_000 }).toBe(true);

    await command('send hello', { cwd });
    running.signal('SIGTERM');

    // Whoever runs an old Node has to know, even then.
    const warning = isOldParser ? expect.stringMatching(/^.*CVE-2025-23167.*\n$/) : '';
    expect(await running.ended).toEqual({ exit: 0, stdout: '', stderr: warning });
  });

  test('--dry-run says what would be started and starts nothing', async () => {
    const { exit, stdout, home } = await command('serve --dry-run -p 4999 --workers 3');

    expect(exit).toBe(0);
    expect(stdout).toContain('http://127.0.0.1:4999');
    expect(stdout).toContain('workers    3\n');
    expect(existsSync(stateFile(home))).toBe(false);
  });
});

describe('serve that cannot start', () => {
  test('names the program on the port and the next free one, exits 1 and leaves nothing running', async () => {
    const { port } = await listening(createServer());

    const { exit, stderr, home } = await command(`serve -p ${port}`);

    expect(exit).toBe(1);
    expect(stderr).toContain(`port ${port} is taken`);
    if (process.platform === 'linux') expect(stderr).toContain(`(pid ${process.pid})`);
    expect(Number(/"gateway serve -p (\d+)"/.exec(stderr)?.[1])).toBeGreaterThan(port);
    expect(existsSync(stateFile(home))).toBe(false);
  });

  test.each([
    ['a format that is none', 'serve --log xml'],
    ['half a worker', 'serve --workers 1.5'],
    ['too many workers', 'serve --workers 257'],
  ])('exits 2 for %s', async (_name, line) => {
    expect((await command(line)).exit).toBe(2);
  });

  test('reports that its state cannot be written, and does not hang', async () => {
    const files = { '.local/state': 'a file where a directory should be' };

    expect(await command('serve -p 0', { files })).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining('.local/state'),
    });
  });
});
