import { spawn, spawnSync } from 'node:child_process';
import { cpSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { serve, withHost } from './cli/serve/workers/serving.ts';
import { chatEvents, openStream, requestFor } from './kit/answers.ts';
import { bin } from './kit/build.ts';
import { startProgram as start } from './kit/child.ts';
import { emptyDirectory } from './kit/command.ts';
import { startHost } from './kit/host.ts';

test('the file is executable and prints its version', async () => {
  const { exit, stdout, stderr } = await start(['--version'], emptyDirectory()).ended;

  expect(statSync(bin).mode & 0o111).not.toBe(0);
  expect([exit, stdout, stderr]).toEqual([0, '0.1.0\n', '']);
});

test('an older Node gets a message with the required version', () => {
  const { engines } = JSON.parse(readFileSync(join(import.meta.dirname, '../package.json'), 'utf8'));
  const older = join(emptyDirectory(), 'older.cjs');
  writeFileSync(older, "Object.defineProperty(process.versions, 'node', { value: '20.18.0' });");

  const { status, stdout, stderr } = spawnSync(process.execPath, ['-r', older, bin, 'send', 'hello'], {
    encoding: 'utf8',
  });

  expect([status, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(/^gateway: Node 20\.18\.1 or newer is needed, and this is v[0-9.]+\n$/);
  expect(engines.node).toBe('>=20.18.1');
  // What formatting adds to a call in several lines, and Node 6 does not read.
  expect(readFileSync(bin, 'utf8')).not.toMatch(/,\s*\)/);
});

// A gateway that listens loads them while nobody waits.
test('without a file, serve --dry-run loads no detectors, expressions, codecs or clients', () => {
  const home = emptyDirectory();
  const list = join(home, 'loaded.cjs');
  const onExit = "require('fs').writeFileSync('loaded.json', JSON.stringify(Object.keys(require.cache)))";
  writeFileSync(list, `process.once('exit', () => ${onExit});`);
  const env = { HOME: home, PATH: `${home}:${process.env.PATH}` };

  const { status } = spawnSync(process.execPath, ['-r', list, bin, 'serve', '--dry-run'], { cwd: home, env });

  const loaded = (JSON.parse(readFileSync(join(home, 'loaded.json'), 'utf8')) as string[]).map((file) =>
    basename(file).replace(/-[\w-]{8}\.js$/, '.js'),
  );
  expect(status).toBe(0);
  expect(loaded).toContain('policies.js');
  for (const later of ['detectors', 're2js', 'translate', 'chat-codec', 'open-pool'])
    expect(loaded).not.toContain(`${later}.js`);
});

describe('code that was compiled at the build', () => {
  test('is all that a start runs', async () => {
    const home = emptyDirectory();
    const preload = join(home, 'preload.cjs');
    writeFileSync(preload, listsCompiled);

    const child = start(['serve', '-p', '0', '--log', 'json'], home, { NODE_OPTIONS: `-r "${preload}"` });
    await child.wrote('"listening"');
    child.process.kill('SIGTERM');
    await child.ended;

    const compiled: string[] = JSON.parse(readFileSync(join(home, 'compiled.json'), 'utf8'));
    expect(compiled.length).toBeGreaterThan(20);
    expect(new Set(compiled)).toEqual(new Set(['accepted']));
  });

  // By a preloaded file, when the process ends.
  const listsCompiled = `
    const vm = require('node:vm');
    const compiled = [];
    vm.Script = class extends vm.Script {
      constructor(text, options) {
        super(text, options);
        compiled.push(options.cachedData === undefined ? 'none' : this.cachedDataRejected ? 'rejected' : 'accepted');
      }
    };
    if (require('node:worker_threads').isMainThread)
      process.once('exit', () => require('node:fs').writeFileSync(__dirname + '/compiled.json', JSON.stringify(compiled)));`;

  test.each<[string, (file: string) => void]>([
    ['damaged', (file) => damage(file, startOfCode(file))],
    ['cut off', (file) => truncateSync(file, startOfCode(file) + 20_000)],
    ['damaged in its list', (file) => damage(file, 0)],
    ['damaged in the numbers of its list', misplace],
    ['emptied', (file) => truncateSync(file, 0)],
    ['removed', (file) => rmSync(file)],
  ])('counts for nothing where it was %s', (_how, change) => {
    const { files, help } = copyOfProgram();
    const before = help();

    for (const file of files()) change(file);

    expect(help()).toMatchObject({ status: 0, stderr: '', stdout: before.stdout });
  });

  test('counts for nothing where the text is another one of the same length', () => {
    const { root, help } = copyOfProgram();
    const dist = join(root, 'dist');
    for (const name of readdirSync(dist).filter((each) => /^send-.*\.js$/.test(each))) {
      const text = readFileSync(join(dist, name), 'utf8');
      writeFileSync(join(dist, name), text.replaceAll('start the gateway', 'START THE GATEWAY'));
    }

    expect(help().stdout).toContain('START THE GATEWAY');
  });

  test('is not for another release of Node, whose V8 may have the same version', () => {
    const { root } = copyOfProgram();
    const compiledUnder = (change: string) => {
      const preload = join(root, 'preload.cjs');
      writeFileSync(preload, `${change};${listsCompiled}`);
      const env = { HOME: root, PATH: process.env.PATH };
      const args = ['-r', preload, join(root, 'bin/gateway.js'), '--help'];
      expect(spawnSync(process.execPath, args, { env }).status).toBe(0);
      return JSON.parse(readFileSync(join(root, 'compiled.json'), 'utf8'));
    };

    expect(compiledUnder('')).toContain('accepted');
    expect(compiledUnder("Object.defineProperty(process, 'version', { value: 'v20.99.0' })")).toEqual([]);
  });

  /** A copy, for what a test does to it, and how its help is printed. */
  function copyOfProgram() {
    const root = emptyDirectory();
    for (const part of ['bin', 'dist', 'package.json'])
      cpSync(join(bin, '../..', part), join(root, part), { recursive: true });
    return {
      root,
      files: () => {
        const folder = join(root, 'dist/.compiled');
        const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
        return entries
          .filter((entry) => entry.isFile())
          .map(({ parentPath, name }) => join(parentPath, name));
      },
      help: () =>
        spawnSync(process.execPath, [join(root, 'bin/gateway.js'), '--help'], {
          encoding: 'utf8',
          env: { HOME: root, PATH: process.env.PATH },
        }),
    };
  }

  function startOfCode(file: string): number {
    return 4 + readFileSync(file).readUInt32LE();
  }

  /** Its list says that the code is elsewhere, before the file's beginning. */
  function misplace(file: string): void {
    const bytes = readFileSync(file);
    const start = startOfCode(file);
    const list = bytes.toString('utf8', 4, start).replaceAll('"at":', '"at":-1');
    const length = Buffer.alloc(4);
    length.writeUInt32LE(list.length);
    writeFileSync(file, Buffer.concat([length, Buffer.from(list), bytes.subarray(start)]));
  }

  /** A byte in each part of it. */
  function damage(file: string, from: number): void {
    const bytes = readFileSync(file);
    for (let at = from; at < bytes.length; at += 1_000) bytes[at] = 0xa5;
    writeFileSync(file, bytes);
  }
});

test('a reader that closes the pipe is not a failure', async () => {
  const shell = `node "${bin}" config schema | head -c 1; node "${bin}" --version | true`;

  const { stderr } = spawnSync('sh', ['-c', shell], { encoding: 'utf8' });

  expect(stderr).toBe('');
});

test('prompts that are sent side by side into one pipe keep their lines', async () => {
  const pieces = ['a', 'b', 'c', 'd\n', 'e', 'f', 'g'];
  const host = await startHost(async (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const piece of pieces) {
      const event = { id: '1', model: 'gpt-test', choices: [{ index: 0, delta: { content: piece } }] };
      response.write(`data: ${JSON.stringify(event)}\n\n`);
      await setTimeout(20);
    }
    const end = { id: '1', model: 'gpt-test', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] };
    response.end(`data: ${JSON.stringify(end)}\n\ndata: [DONE]\n\n`);
  });
  const { child, home } = await serve(withHost(host, ''), [], {});
  const one = `node "${bin}" send -m gpt-test hello`;

  const sending = spawn('sh', ['-c', `(${Array(3).fill(`${one} &`).join(' ')} wait) | cat`], {
    env: { PATH: process.env.PATH, HOME: home },
  });
  const parts = await sending.stdout.toArray();
  child.process.kill('SIGTERM');
  await Promise.all([child.ended, host.close()]);

  const lines = Buffer.concat(parts).toString().split('\n').sort();
  expect(lines).toEqual(['', ...Array(3).fill('abcd'), ...Array(3).fill('efg')]);
});

test('serve and send work together, and a signal ends serve with 0', async () => {
  const { child, home } = await serve('', [], {});

  const sending = start(['send', 'summarise', '-o', 'json'], home);
  sending.process.stdin?.end('a text');
  const sent = await sending.ended;
  child.process.kill('SIGTERM');
  const ended = await child.ended;

  expect(sent).toMatchObject({ exit: 0, stderr: '' });
  expect(JSON.parse(sent.stdout).text).toContain('a text');
  expect(ended).toMatchObject({ exit: 0, signal: null, stdout: '' });
  expect(() => statSync(join(home, '.local/state/gateway/running.json'))).toThrow(/ENOENT/);
});

test('a stream in flight finishes after the first signal; the second one ends everything at once', async () => {
  const host = await startHost(openStream(chatEvents.slice(0, 2)));
  const { child, url, key } = await serve(withHost(host, ''), [], {});
  const answer = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': key },
    body: JSON.stringify(requestFor('chat', 'gpt-test', { stream: true })),
  });
  const reader = answer.body?.getReader();
  await reader?.read();

  child.process.kill('SIGTERM');
  const answers = () => fetch(url).then(Boolean, () => false);
  await expect.poll(answers, { timeout: 10_000 }).toBe(false);
  const isStillThere = child.process.exitCode === null;
  child.process.kill('SIGTERM');
  const { exit } = await child.ended;

  expect(isStillThere).toBe(true);
  expect(exit).toBe(143);
  await host.close();
});
