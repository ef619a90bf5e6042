import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadConfig } from '../../../src/config/load.ts';
import { findConfig, readConfigFile } from '../../../src/config/source/find.ts';
import { createWorkspace, nowMs } from '../workspace.ts';

test.each(['gateway.yaml', 'gateway.yml', '.gateway.yaml', '.config/gateway.yaml'])(
  'finds %s from a directory below',
  async (name) => {
    const root = createWorkspace({ [name]: '' });
    mkdirSync(join(root, 'a/b'), { recursive: true });

    const found = await findConfig({ cwd: join(root, 'a/b'), env: { HOME: root } });

    expect(found).toEqual({ path: join(root, name), from: 'project' });
  },
);

test('does not look above the root of the project', async () => {
  const root = createWorkspace({ 'gateway.yaml': '', 'inner/package.json': '{}' });

  expect(await findConfig({ cwd: join(root, 'inner'), env: { HOME: join(root, 'home') } })).toBeUndefined();
});

test('the flag beats the variable, which beats the project, which beats the user', async () => {
  const root = createWorkspace({
    'gateway.yaml': '',
    'other.yaml': '',
    'flag.yaml': '',
    'empty/package.json': '{}',
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

test.skipIf(process.platform === 'win32')('refuses a pipe at once where only a file will do', async () => {
  const root = createWorkspace({});
  const path = join(root, 'gateway.yaml');
  execFileSync('mkfifo', ['-m', '600', path]);

  // Nobody writes into it, so that opening it in the usual way would wait for ever.
  await expect(readConfigFile(path, { mustBeFile: true })).rejects.toMatchObject({
    code: 'config.invalid',
    message: expect.stringContaining('no regular file'),
  });
});
