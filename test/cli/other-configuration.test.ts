import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { command, emptyDirectory, type RunningCommand, startCommand } from '../kit/command.ts';

// A gateway that runs with one folder's configuration, and commands in another that has its own.

const yaml = `
server: { port: 0 }
providers: { sandbox: { dialect: sandbox } }
models: [{ match: "*", provider: sandbox }]
default_model: sandbox-mini
plants: { store: { enabled: false } }
`;

let home: string;
let running: RunningCommand;

beforeAll(async () => {
  home = emptyDirectory();
  for (const folder of ['one', 'two', 'empty', 'two/deeper']) {
    mkdirSync(join(home, folder));
    writeFileSync(join(home, folder, 'package.json'), '{}');
    if (folder === 'empty' || folder === 'two/deeper') continue;
    const own = `${yaml}records: { file: records.jsonl }\n`;
    writeFileSync(join(home, folder, 'gateway.yaml'), own, { mode: 0o600 });
  }
  const config = join(home, 'one', 'gateway.yaml');
  running = startCommand(['serve', '-c', config], { cwd: join(home, 'one'), env: { HOME: home } });
  await running.wrote('stderr', '"listening"');
  await command(['send', 'hello'], { cwd: join(home, 'one'), env: { HOME: home } });
});

afterAll(async () => {
  running.signal('SIGTERM');
  await running.ended;
});

const at = (folder: string, argv: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  command(argv, { cwd: join(home, folder), env: { HOME: home, ...env } });

const difference = /has .*\/one\/gateway\.yaml, not gateway\.yaml/;

test.each([
  ['send', ['send', 'hello'], 'gateway stop, then gateway serve'],
  ['models', ['models'], 'gateway stop, then gateway serve'],
  ['usage', ['usage'], '-c FILE is about another'],
  ['logs', ['logs'], '-c FILE is about another'],
])('%s says so, and how to choose', async (_name, argv, choice) => {
  const { exit, stderr } = await at('two', argv);

  expect(exit).toBe(0);
  expect(stderr).toMatch(difference);
  expect(stderr).toContain(choice);
});

test('doctor says so', async () => {
  const { stdout } = await at('two', ['doctor']);

  expect(stdout).toMatch(
    /^warning\tgateway\t.* has .*\/one\/gateway\.yaml, not gateway\.yaml\tto change that/m,
  );
});

test.each([
  ['in the folder of its configuration', 'one', [], {}],
  ['where there is no other', 'empty', [], {}],
  ['with -q', 'two', ['-q'], {}],
])('%s nothing is said', async (_name, folder, argv, env) => {
  const { exit, stdout, stderr } = await at(folder, [...argv, 'send', 'hello'], env);

  expect([exit, stderr]).toEqual([0, '']);
  expect(stdout).toContain('The sandbox read');
});

test('the records are those of the running gateway', async () => {
  const following = startCommand(['logs', '-f'], { cwd: join(home, 'two'), env: { HOME: home } });

  await following.wrote('stdout', 'sandbox-mini');
  following.signal('SIGINT');
  await following.ended;
});

describe('the ledger', () => {
  test('is that of the running gateway, also from a folder without a configuration', async () => {
    const { exit, stdout } = await at('empty', ['usage']);

    expect([exit, stdout]).toEqual([0, expect.stringMatching(/^local\t\d+\t/)]);
  });

  test('is that of the file that was named', async () => {
    const file = join(home, 'two', 'gateway.yaml');
    writeFileSync(file, `${yaml}records: { ledger_file: own.sqlite }\n`, { mode: 0o600 });

    const { exit, stdout, stderr } = await at('two', ['usage', '-c', 'gateway.yaml']);

    expect([exit, stdout]).toEqual([0, '']);
    expect(stderr).toContain('nothing was served yet');
  });
});

test('an unset variable of this shell is no file that was not loaded', async () => {
  const cwd = emptyDirectory();
  const file = join(cwd, 'gateway.yaml');
  const own = `${yaml}projects: { shop: { keys: [{ id: web, value: "\${SHOP_KEY}" }] } }\n`;
  writeFileSync(file, own, { mode: 0o600 });
  const env = { SHOP_KEY: 'shop-key-0123456789' };
  const serving = startCommand(['serve', '-c', file, '--no-watch'], { cwd, env });
  await serving.wrote('stderr', '"listening"');

  const unset = await command(['doctor', '-c', file], { cwd });
  writeFileSync(file, `${own}# edited\n`);
  const edited = await command(['doctor', '-c', file], { cwd, env });
  serving.signal('SIGTERM');
  await serving.ended;

  expect(unset.stdout).not.toContain('has not loaded');
  expect(edited.stdout).toContain('it has not loaded the current file');
});

describe('a file that the running gateway has not loaded as it is now', () => {
  const changed = async (records: string) => {
    const cwd = join(emptyDirectory(), 'project');
    mkdirSync(cwd);
    const file = join(cwd, 'gateway.yaml');
    writeFileSync(file, yaml, { mode: 0o600 });
    const where = { cwd, env: { HOME: join(cwd, '..') } };
    const serving = startCommand(['serve', '-c', file, '--no-watch'], where);
    await serving.wrote('stderr', '"listening"');
    writeFileSync(file, `${yaml}records: ${records}\n`);
    const found = await command(['logs'], where);
    const named = await command(['logs', '-c', file], where);
    serving.signal('SIGTERM');
    await serving.ended;
    return { found, named };
  };

  test('gets nothing from outside that nobody has allowed, unless it is named', async () => {
    const { found, named } = await changed('{ file: ../elsewhere.jsonl }');

    expect(found.exit).not.toBe(0);
    expect(found.stderr).toContain('nobody has allowed');
    expect(named.exit).toBe(0);
  });

  test('is read where it wants nothing', async () => {
    const { found } = await changed('{ ledger: false }');

    expect(found).toMatchObject({ exit: 0 });
  });
});
