import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { isOldParser } from '../../src/http/strict-head.ts';
import { command, directoryWith, emptyDirectory, startCommand } from '../kit/command.ts';

const withoutStore = 'plants: { store: { enabled: false } }\n';
const stateFile = (home: string) => join(home, '.local/state/gateway/running.json');

interface State {
  readonly url: string;
  readonly key: string;
}

/** `gateway serve` in an empty home, ready for requests. */
async function startServe(argv: readonly string[] = [], isTerminal = false) {
  const cwd = directoryWith(withoutStore);
  const running = startCommand(['serve', '-p', '0', ...argv], { cwd, isTerminal });
  await Promise.race([
    running.wrote('stderr', isTerminal ? 'gateway send' : '"listening"'),
    running.ended.then(({ stderr }) => Promise.reject(new Error(stderr))),
  ]);
  const state = JSON.parse(readFileSync(stateFile(cwd), 'utf8')) as State;
  return { running, cwd, state };
}

describe('serve in sandbox mode', () => {
  test('leaves its address for this user alone, which the other commands find; and takes it away again', async () => {
    const { running, cwd, state } = await startServe();

    const mode = statSync(stateFile(cwd)).mode & 0o777;
    const directoryMode = statSync(join(cwd, '.local/state/gateway')).mode & 0o777;
    const sent = await command(['send', 'hello'], { cwd });
    const models = await command(['models'], { cwd });
    running.signal('SIGTERM');
    const ended = await running.ended;

    expect([mode, directoryMode]).toEqual([0o600, 0o700]);
    expect(state.key).toMatch(/^gw_[0-9A-Za-z]{38}$/);
    expect(sent.stdout).toContain('The sandbox read: "hello"');
    expect(models.stdout).toContain('sandbox-mini\t');
    expect(ended).toMatchObject({ exit: 0, stdout: '' });
    expect(() => statSync(stateFile(cwd))).toThrow(/ENOENT/);
    expect((await command(['send', 'hello'], { cwd })).exit).toBe(8);
  });

  test('a second one is found while it runs, and the first one again after it', async () => {
    const { running, cwd, state } = await startServe();
    const second = startCommand(['serve', '-p', '0'], { cwd });
    await second.wrote('stderr', '"listening"');
    const whileBoth = JSON.parse(readFileSync(stateFile(cwd), 'utf8')) as State;

    second.signal('SIGTERM');
    await second.ended;
    const after = JSON.parse(readFileSync(stateFile(cwd), 'utf8')) as State;
    running.signal('SIGTERM');
    await running.ended;

    expect(whileBoth.url).not.toBe(state.url);
    expect(after).toEqual(state);
    expect(() => statSync(stateFile(cwd))).toThrow(/ENOENT/);
  });

  test("whose store's port is taken sends no password there, and finds the store of the one before", async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const taken = (other.address() as AddressInfo).port;
    const asked: string[] = [];
    other.on('request', ({ url }, response) => response.end(asked.push(String(url))));
    const cwd = emptyDirectory();
    const yaml = (port: number) =>
      writeFileSync(join(cwd, 'gateway.yaml'), `plants: { store: { port: ${port} } }\n`, { mode: 0o600 });
    yaml(taken);
    const alone = startCommand(['serve', '-p', '0', '--no-watch'], { cwd });
    await alone.wrote('stderr', '"listening"');

    const login = await command(['login', '-u', 'ada', '--password-stdin'], { cwd, stdin: 'secret\n' });
    alone.signal('SIGTERM');
    await alone.ended;
    yaml(0);
    const first = startCommand(['serve', '-p', '0', '--no-watch'], { cwd });
    await first.wrote('stderr', '"listening"');
    yaml(taken);
    const second = startCommand(['serve', '-p', '0', '--no-watch'], { cwd });
    await second.wrote('stderr', '"listening"');
    const found = await command(['plants', 'search'], { cwd });
    for (const each of [second, first]) {
      each.signal('SIGTERM');
      await each.ended;
    }
    other.close();

    expect(login).toMatchObject({ exit: 8, stderr: expect.stringContaining('PLANTS_URL') });
    expect(asked).toEqual([]);
    expect(found.exit).toBe(0);
  });

  test('writes a JSON line for each exchange, without key and content', async () => {
    const { running, cwd, state } = await startServe();

    await command(['send', 'a very private prompt'], { cwd });
    running.signal('SIGTERM');
    const { stderr } = await running.ended;

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
    const { running, cwd, state } = await startServe(['--no-color'], true);

    await command(['send', 'hello'], { cwd });
    running.signal('SIGINT');
    const { exit, stderr } = await running.ended;

    expect(exit).toBe(0);
    expect(stderr).toContain(state.url);
    expect(stderr).toContain('providers  sandbox ✓');
    expect(stderr).toContain(`keys       local  ${state.key}  (saved for this user)`);
    expect(stderr).toContain(`page       ${state.url}/_/  (gateway open)`);
    expect(stderr).toContain('try        gateway send "hello"\n');
    expect(stderr).toMatch(
      /^ {11}gateway send "when does Project Nightfall start\?" +\(blocked: a code name\)$/m,
    );
    expect(stderr).toMatch(/^ {11}gateway send "is API_KEY=\w+ right\?" +\(the secret is replaced\)$/m);
    expect(stderr).toMatch(
      /^\d\d:\d\d:\d\d ✓ 200 local chat sandbox-mini→sandbox \d+ms first \d+ in \d+ out \d+ req_/m,
    );
    expect(stderr).not.toContain('\u001b[');
  });

  test('-q on a terminal says nothing', async () => {
    const cwd = directoryWith(withoutStore);
    const running = startCommand(['serve', '-q', '-p', '0'], { cwd, isTerminal: true });
    await expect.poll(() => existsSync(stateFile(cwd)), { timeout: 10_000 }).toBe(true);

    await command(['send', 'hello'], { cwd });
    running.signal('SIGTERM');

    // Whoever runs an old Node has to know, even then.
    const warning = isOldParser ? expect.stringMatching(/^.*CVE-2025-23167.*\n$/) : '';
    expect(await running.ended).toEqual({ exit: 0, stdout: '', stderr: warning });
  });

  test('--dry-run says what would be started and starts nothing', async () => {
    const cwd = emptyDirectory();

    const { exit, stdout } = await command(['serve', '--dry-run', '-p', '4999', '--workers', '3'], { cwd });

    expect(exit).toBe(0);
    expect(stdout).toContain('http://127.0.0.1:4999');
    expect(stdout).toContain('workers    3\n');
    expect(() => statSync(stateFile(cwd))).toThrow(/ENOENT/);
  });
});

describe('serve that cannot start', () => {
  test('names the program on the port and the next free one, exits 1 and leaves nothing running', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const cwd = emptyDirectory();

    const { exit, stderr } = await command(['serve', '-p', String(port)], { cwd });

    server.close();
    expect(exit).toBe(1);
    expect(stderr).toContain(`port ${port} is taken`);
    if (process.platform === 'linux') expect(stderr).toContain(`(pid ${process.pid})`);
    expect(Number(/"gateway serve -p (\d+)"/.exec(stderr)?.[1])).toBeGreaterThan(port);
    expect(() => statSync(stateFile(cwd))).toThrow(/ENOENT/);
  });

  test('does not suggest the port of its store', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const cwd = emptyDirectory();
    const yaml = `plants: { store: { port: ${port + 1} } }\n`;
    writeFileSync(join(cwd, 'gateway.yaml'), yaml, { mode: 0o600 });

    const { stderr } = await command(['serve', '-p', String(port)], { cwd });

    server.close();
    expect(stderr).toMatch(/gateway serve -p \d/);
    expect(stderr).not.toContain(`gateway serve -p ${port + 1}"`);
  });

  test('lists all problems of its configuration and exits 2', async () => {
    const cwd = directoryWith('server: { prot: 1, port: nine }\nmodels: [{ match: a, provider: nobody }]\n');

    const { exit, stdout, stderr } = await command(['serve'], { cwd });

    expect([exit, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/gateway\.yaml:1:\d+ {2}server\.prot/);
    expect(stderr).toMatch(/gateway\.yaml:1:\d+ {2}server\.port/);
    expect(stderr).toMatch(/did you mean "port"/);
  });

  test.each([
    ['a format that is none', ['serve', '--log', 'xml']],
    ['a file that is not there', ['serve', '-c', 'nowhere.yaml']],
    ['an argument that nobody takes', ['serve', 'now']],
    ['no workers', ['serve', '--workers', '0']],
    ['half a worker', ['serve', '--workers', '1.5']],
    ['too many workers', ['serve', '--workers', '257']],
  ])('exits 2 for %s', async (_name, argv) => {
    expect((await command(argv)).exit).toBe(2);
  });

  test('reports that its state cannot be written, and does not hang', async () => {
    const cwd = emptyDirectory();
    mkdirSync(join(cwd, '.local'));
    writeFileSync(join(cwd, '.local/state'), 'a file where a directory should be');

    const { exit, stderr } = await command(['serve', '-p', '0'], { cwd });

    expect(exit).toBe(2);
    expect(stderr).toContain('.local/state');
  });
});

describe('serve that stops', () => {
  test('stops even if its address cannot be taken away', async () => {
    const home = emptyDirectory();
    let isReadOnly = false;
    const env = {
      get XDG_STATE_HOME() {
        if (isReadOnly) throw new Error('EROFS: read-only file system');
        return join(home, 'state');
      },
    };
    const running = startCommand(['serve', '-p', '0', '--plants-port', '0', '--log', 'json'], {
      cwd: home,
      env,
    });
    await running.wrote('stderr', '"listening"');
    const { url } = JSON.parse(readFileSync(join(home, 'state/gateway/running.json'), 'utf8'));

    isReadOnly = true;
    running.signal('SIGTERM');
    const { stderr } = await running.ended;

    expect(stderr).toContain('stopped after');
    await expect(fetch(`${url}/healthz`)).rejects.toThrow('fetch failed');
  });
});
