import { spawn, spawnSync } from 'node:child_process';
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';

const root = join(import.meta.dirname, '..');
let checkout: string;

/** A checkout in a path with a blank, with what the run of the tests has built. */
beforeEach(() => {
  checkout = mkdtempSync(join(tmpdir(), 'a checkout-'));
  for (const name of ['bin', 'dist', 'package.json', 'src', 'tsconfig.json', 'vendor'])
    cpSync(join(root, name), join(checkout, name), { recursive: true });
  cpSync(join(root, 'scripts'), join(checkout, 'scripts'), {
    recursive: true,
    filter: (path) => !path.includes('node_modules'),
  });
  symlinkSync(join(root, 'node_modules'), join(checkout, 'node_modules'), 'junction');
  return () => rmSync(checkout, { recursive: true, force: true, maxRetries: 5 });
});

const build = (env: NodeJS.ProcessEnv = {}) =>
  spawnSync(process.execPath, ['scripts/build.mjs'], {
    cwd: checkout,
    env: { ...process.env, ...env },
    encoding: 'utf8',
  });

function startBuild() {
  const child = spawn(process.execPath, ['scripts/build.mjs'], { cwd: checkout, stdio: 'ignore' });
  onTestFinished(() => void child.kill('SIGKILL'));
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  return { child, ended };
}

const files = () => readdirSync(join(checkout, 'dist'), { recursive: true, encoding: 'utf8' }).sort();
const written = () => files().map((name) => statSync(join(checkout, 'dist', name)).mtimeMs);
const builds = (): string[] => JSON.parse(readFileSync(join(checkout, 'dist', '.stamp.json'), 'utf8')).builds;
const changeSource = () =>
  appendFileSync(join(checkout, 'src', 'backoff.ts'), '\nexport const changed = 1;\n');
const runCommand = (...argv: string[]) =>
  spawnSync(process.execPath, ['bin/gateway.js', ...argv], { cwd: checkout, encoding: 'utf8' });

test('what is built already is left alone, without the bundler', () => {
  rmSync(join(checkout, 'node_modules'));
  const before = written();

  expect(build()).toMatchObject({ status: 0, stdout: '', stderr: '' });

  expect(written()).toEqual(before);
});

test('what another version of Node built is only compiled', () => {
  const stampFile = join(checkout, 'dist', '.stamp.json');
  const stamp = JSON.parse(readFileSync(stampFile, 'utf8'));
  const compiled = join(checkout, 'dist', '.compiled');
  rmSync(compiled, { recursive: true });
  writeFileSync(stampFile, JSON.stringify({ ...stamp, compiledBy: 'v20.0.0' }));
  const program = join(checkout, 'dist', `program-${builds()[0]}.js`);
  const before = statSync(program).mtimeMs;

  expect(build()).toMatchObject({ status: 0, stdout: '', stderr: '' });

  expect(readdirSync(compiled)).not.toEqual([]);
  expect(JSON.parse(readFileSync(stampFile, 'utf8'))).toEqual({ ...stamp, compiledBy: process.version });
  expect(statSync(program).mtimeMs).toBe(before);
});

test('what cannot be compiled is still built, and says so once', () => {
  const stampFile = join(checkout, 'dist', '.stamp.json');
  const { compiledBy: _, ...stamp } = JSON.parse(readFileSync(stampFile, 'utf8'));
  writeFileSync(stampFile, JSON.stringify(stamp));
  const missing = join(checkout, 'missing');

  const { status, stderr } = build({ TMPDIR: missing, TEMP: missing, TMP: missing });

  expect(status).toBe(0);
  expect(stderr).toContain('dist/ starts more slowly, as it could not be compiled: ENOENT');
  expect(build()).toMatchObject({ status: 0, stderr: '' });
});

test('what has lost a file is built again', () => {
  const [current] = builds();
  rmSync(join(checkout, 'dist', 'main.js'));

  expect(build().status).toBe(0);

  expect(runCommand('config', '--help').status).toBe(0);
  expect(builds()[0]).toBe(current);
});

test('several builds at once are one, and every command that starts meanwhile works', async () => {
  const [earlier] = builds();
  changeSource();

  const started = Array.from({ length: 3 }, startBuild);
  let areOver = false;
  const ended = Promise.all(started.map(({ ended }) => ended)).finally(() => {
    areOver = true;
  });
  const commands: number[] = [];
  while (!areOver) {
    const child = spawn(process.execPath, ['bin/gateway.js', 'config', 'check', '--help'], { cwd: checkout });
    commands.push(await new Promise((resolve) => child.once('exit', (code) => resolve(code ?? -1))));
  }

  expect(await ended).toEqual([0, 0, 0]);
  expect(new Set(commands)).toEqual(new Set([0]));
  expect(builds()[1]).toBe(earlier);
  // For commands that began with them.
  expect(files().some((name) => name.includes(`-${earlier}`))).toBe(true);
  expect(files().filter((name) => /\.new$|\.lock$/.test(name))).toEqual([]);
});

test('a build that was killed stops neither commands nor the next build', async () => {
  const [earlier] = builds();
  changeSource();
  const { child, ended } = startBuild();
  await expect.poll(() => existsSync(join(checkout, 'dist', '.lock'))).toBe(true);
  child.kill('SIGKILL');
  await ended;

  expect(runCommand('config', '--help').status).toBe(0);
  expect(build().status).toBe(0);

  expect(builds()[1]).toBe(earlier);
  expect(existsSync(join(checkout, 'dist', '.lock'))).toBe(false);
});

test('a package holds one build', () => {
  const [current] = builds();
  const old = join(checkout, 'dist', 'send-00000000.js');
  appendFileSync(old, '');

  expect(build({ npm_command: 'pack' }).status).toBe(0);

  expect(existsSync(old)).toBe(false);
  expect(builds()[0]).toBe(current);
  expect(files().some((name) => name.includes(`-${current}`))).toBe(true);
});
