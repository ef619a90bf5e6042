import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { inspectConfig, loadConfig } from '../../../src/config/load.ts';
import { findConfig, readConfigFile } from '../../../src/config/source/find.ts';
import { formatProblem } from '../../../src/config/source/problems.ts';
import { createWorkspace, nowMs } from '../workspace.ts';

const bin = join(import.meta.dirname, '../../../bin/gateway.js');

test.each(['gateway.yaml', 'gateway.yml', '.gateway.yaml', '.config/gateway.yaml'])(
  'finds %s from a directory below',
  async (name) => {
    const root = createWorkspace({ [name]: '' });
    mkdirSync(join(root, 'a/b'), { recursive: true });

    const found = await findConfig({ cwd: join(root, 'a/b'), env: { HOME: root } });

    expect(found).toEqual({ path: join(root, name), from: 'project' });
  },
);

test('finds the file of the repository from a package of its workspace', async () => {
  const root = createWorkspace({ 'gateway.yaml': '', 'packages/web/package.json': '{}' });

  const found = await findConfig({ cwd: join(root, 'packages/web'), env: { HOME: join(root, 'home') } });

  expect(found).toEqual({ path: join(root, 'gateway.yaml'), from: 'project' });
});

test.each([
  ['a repository', 'inner/.git/HEAD'],
  ['a worktree or a submodule', 'inner/.git'],
])('does not look above the root of %s', async (_, marker) => {
  const root = createWorkspace({ 'gateway.yaml': '', [marker]: '', 'inner/below/file': '' });

  const search = { cwd: join(root, 'inner/below'), env: { HOME: join(root, 'home') } };

  expect(await findConfig(search)).toBeUndefined();
});

test('does not look above the home directory, however that is named', async () => {
  const root = createWorkspace({ 'gateway.yaml': '', 'home/below/file': '' });
  symlinkSync(join(root, 'home'), join(root, 'link'));
  const from = async (home: string) =>
    (await findConfig({ cwd: join(root, 'home/below'), env: { HOME: join(root, home) } }))?.path;

  expect([await from('home'), await from('link'), await from('link/')]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
  expect(await from('elsewhere')).toBe(join(root, 'gateway.yaml'));
});

test("uses no other file of the user's directory, empty or not", async () => {
  const root = createWorkspace({
    'home/.config/gateway/config': 'server: { port: 1 }\n',
    'home/.config/gateway/config.yaml': '',
    'project/.git': '',
    'project/gateway.yaml/file': 'a directory, which is passed over',
  });

  // Which directory that is, cosmiconfig takes from the process.
  const result = spawnSync(process.execPath, [bin, 'config', 'path'], {
    cwd: join(root, 'project'),
    env: { HOME: join(root, 'home'), PATH: process.env.PATH },
    encoding: 'utf8',
  });

  expect(result).toMatchObject({ status: 0, stdout: '' });
});

test('the flag beats the variable, which beats the project, which beats the user', async () => {
  const root = createWorkspace({
    'gateway.yaml': '',
    'other.yaml': '',
    'flag.yaml': '',
    'empty/.git': '',
    'home/gateway/gateway.yaml': '',
  });
  const env = { XDG_CONFIG_HOME: join(root, 'home') };

  const from = async (file: string | undefined, more: object, cwd = root) =>
    (await findConfig({ file, cwd, env: { ...env, ...more } }))?.path.slice(root.length);

  expect(await from('flag.yaml', { GATEWAY_CONFIG: 'other.yaml' })).toBe('/flag.yaml');
  expect(await from(undefined, { GATEWAY_CONFIG: 'other.yaml' })).toBe('/other.yaml');
  expect(await from(undefined, { GATEWAY_CONFIG: '' })).toBe('/gateway.yaml');
  expect(await from(undefined, {}, join(root, 'empty'))).toBe('/home/gateway/gateway.yaml');
});

test('runs no code of the working directory and follows no imports', async () => {
  const root = createWorkspace({
    'gateway.yaml': '$import: ./other.yaml\n',
    'other.yaml': 'server: { port: 1 }\n',
    '.config/config.cjs': 'globalThis.codeOfTheCheckoutRan = true; module.exports = {};',
    '.config/config.js': 'globalThis.codeOfTheCheckoutRan = true; module.exports = {};',
    'gateway.config.js': 'globalThis.codeOfTheCheckoutRan = true; module.exports = {};',
  });
  const before = process.cwd();
  process.chdir(root);
  try {
    const loading = loadConfig({ cwd: root, env: { HOME: root }, nowMs });

    await expect(loading).rejects.toThrow(/\$import: unknown key/);
    expect(globalThis).not.toHaveProperty('codeOfTheCheckoutRan');
  } finally {
    process.chdir(before);
  }
});

test('refuses a file that everybody may change', async () => {
  const root = createWorkspace({ 'gateway.yaml': '' });
  chmodSync(join(root, 'gateway.yaml'), 0o666);

  await expect(readConfigFile(join(root, 'gateway.yaml'))).rejects.toMatchObject({
    code: 'config.invalid',
    message: expect.stringMatching(/can be changed by everybody .*chmod o-w/),
  });
});

// Only root can give a file to somebody else.
test.skipIf(process.getuid?.() !== 0)('refuses a file of another user', async () => {
  const root = createWorkspace({ 'gateway.yaml': '' });
  chownSync(join(root, 'gateway.yaml'), 12_345, 12_345);

  await expect(readConfigFile(join(root, 'gateway.yaml'))).rejects.toThrow(
    /belongs to another user \(uid 12345\)/,
  );
});

test('says so when the named file is missing, a directory, or no text', async () => {
  const root = createWorkspace();
  writeFileSync(join(root, 'binary.yaml'), Buffer.from([0xff, 0xfe, 0x00]));

  await expect(readConfigFile(join(root, 'nope.yaml'))).rejects.toThrow(/nope\.yaml: there is no such file/);
  await expect(readConfigFile(root)).rejects.toThrow(/is a directory/);
  await expect(readConfigFile(join(root, 'binary.yaml'))).rejects.toThrow(/not UTF-8/);
});

describe.skipIf(process.platform === 'win32')('a file that is found and is no text file', () => {
  const secret = 'TOKEN=ghp_of-the-user';
  const makers: Readonly<Record<string, (path: string) => void>> = {
    'a pipe into which nobody writes': (path) => execFileSync('mkfifo', ['-m', '600', path]),
    'a device without an end': (path) => symlinkSync('/dev/zero', path),
    'the environment': (path) => symlinkSync('/proc/self/environ', path),
    'a file of 700 MB': (path) => {
      writeFileSync(path, secret);
      truncateSync(path, 700_000_000);
    },
  };

  test.each(Object.entries(makers))('%s is refused and not read', async (_, make) => {
    const root = createWorkspace({});
    make(join(root, 'gateway.yaml'));

    const loading = loadConfig({ cwd: root, env: { HOME: root, TOKEN: secret }, nowMs });

    const message = /gateway\.yaml (?:is no regular file|is larger than 4 MiB)/;
    await expect(loading).rejects.toMatchObject({
      code: 'config.invalid',
      message: expect.stringMatching(message),
    });
    await expect(loading).rejects.not.toThrow(secret);
  });

  test.each([
    ['no YAML', '[default]\naws_secret = wJalrXUtnFEMI\n'],
    ['a text', 'wJalrXUtnFEMI\n'],
    ['YAML of something else', 'users:\n  - user: { client: wJalrXUtnFEMI }\nserver: wJalrXUtnFEMI\n'],
    ['an alias', 'server: *wJalrXUtnFEMI\n'],
  ])('of a link to %s no error quotes anything', async (_, text) => {
    const root = createWorkspace({ secrets: text });
    symlinkSync('secrets', join(root, 'gateway.yaml'));

    const problems = (await inspectConfig({ cwd: root, env: { HOME: root }, nowMs })).problems;

    expect(problems).not.toEqual([]);
    const shown = problems.map((problem) => formatProblem(problem, 'gateway.yaml')).join('\n');
    expect(shown).not.toContain('wJalrXUtnFEMI');
  });

  test('a link that leads nowhere is refused, for its policies are missing', async () => {
    const root = createWorkspace({});
    symlinkSync(join(root, 'unmounted/gateway.yaml'), join(root, 'gateway.yaml'));

    await expect(findConfig({ cwd: root, env: { HOME: root } })).rejects.toThrow(
      /a link to a file that does/,
    );
  });

  test('a named pipe is read to its end, but not without one', async () => {
    const read = (script: string) =>
      spawnSync('bash', ['-c', `"$0" "$1" -c <(${script}) config path`, process.execPath, bin], {
        env: { HOME: createWorkspace({}), PATH: process.env.PATH },
        encoding: 'utf8',
      });

    expect(read('sleep 0.1; echo {}')).toMatchObject({ status: 0 });
    expect(read('cat /dev/zero').stderr).toContain('is larger than 4 MiB');
  });
});
