import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { command, directoryWith, failure, homeWith, printed, startServing } from '../kit/command.ts';

// A gateway that runs with one folder's configuration, and commands in another that has its own.

const yaml = `
server: { port: 0 }
providers: { sandbox: { dialect: sandbox } }
models: [{ match: "*", provider: sandbox }]
default_model: sandbox-mini
plants: { store: { enabled: false } }
`;

const own = `${yaml}records: { file: records.jsonl }\n`;
const home = homeWith({
  'one/gateway.yaml': own,
  'two/gateway.yaml': own,
  ...Object.fromEntries(['one', 'two', 'empty', 'two/deeper'].map((name) => [`${name}/package.json`, '{}'])),
});

beforeAll(async () => {
  await startServing({ cwd: join(home, 'one'), env: { HOME: home } }, '-c', join(home, 'one/gateway.yaml'));
  await at('one', ['send', 'hello']);
});

const at = (folder: string, argv: readonly string[]) =>
  command(argv, { cwd: join(home, folder), env: { HOME: home } });

const difference = /has .*\/one\/gateway\.yaml, not gateway\.yaml/;

test.each([
  ['send', ['send', 'hello'], 'gateway stop, then gateway serve'],
  ['usage', ['usage'], '-c FILE is about another'],
  ['logs', ['logs'], '-c FILE is about another'],
])('%s says so, and how to choose', async (_name, argv, choice) => {
  const { exit, stderr } = await at('two', argv);

  expect([exit, stderr]).toEqual([0, expect.stringMatching(difference)]);
  expect(stderr).toContain(choice);
});

test('doctor says so', async () => {
  expect((await at('two', ['doctor'])).stdout).toMatch(
    /^warning\tgateway\t.* has .*\/one\/gateway\.yaml, not gateway\.yaml\tto change that/m,
  );
});

test.each([
  ['in the folder of its configuration', 'one', []],
  ['where there is no other', 'empty', []],
  ['with -q', 'two', ['-q']],
])('%s nothing is said', async (_name, folder, argv) => {
  expect(await at(folder, [...argv, 'send', 'hello'])).toEqual(
    printed(expect.stringContaining('The sandbox read')),
  );
});

describe('the ledger', () => {
  test('is that of the running gateway, also from a folder without a configuration', async () => {
    expect(await at('empty', ['usage'])).toMatchObject({
      exit: 0,
      stdout: expect.stringMatching(/^local\t\d+\t/),
    });
  });

  test('is that of the file that was named', async () => {
    const file = join(home, 'two', 'gateway.yaml');
    writeFileSync(file, `${yaml}records: { ledger_file: own.sqlite }\n`, { mode: 0o600 });

    expect(await at('two', ['usage', '-c', 'gateway.yaml'])).toEqual(failure(0, 'nothing was served yet'));
  });
});

test('an unset variable of this shell is no file that was not loaded', async () => {
  const guarded = `${yaml}projects: { shop: { keys: [{ id: web, value: "\${SHOP_KEY}" }] } }\n`;
  const cwd = directoryWith(guarded);
  const file = join(cwd, 'gateway.yaml');
  const env = { SHOP_KEY: 'shop-key-0123456789' };
  const { stop } = await startServing({ cwd, env }, '-c', file, '--no-watch');

  const unset = await command(['doctor', '-c', file], { cwd });
  writeFileSync(file, `${guarded}# edited\n`);
  const edited = await command(['doctor', '-c', file], { cwd, env });
  await stop();

  expect(unset.stdout).not.toContain('has not loaded');
  expect(edited.stdout).toContain('it has not loaded the current file');
});

describe('a file that the running gateway has not loaded as it is now', () => {
  const changed = async (records: string) => {
    const HOME = homeWith({ 'project/gateway.yaml': yaml });
    const cwd = join(HOME, 'project');
    const file = join(cwd, 'gateway.yaml');
    const where = { cwd, env: { HOME } };
    const { stop } = await startServing(where, '-c', file, '--no-watch');
    writeFileSync(file, `${yaml}records: ${records}\n`);
    const found = await command('logs', where);
    const named = await command(['logs', '-c', file], where);
    await stop();
    return { found, named };
  };

  test('gets nothing from outside that nobody has allowed, unless it is named', async () => {
    const { found, named } = await changed('{ file: ../elsewhere.jsonl }');

    expect(found.exit).not.toBe(0);
    expect(found.stderr).toContain('nobody has allowed');
    expect(named.exit).toBe(0);
  });

  test('is read where it wants nothing', async () => {
    expect((await changed('{ ledger: false }')).found.exit).toBe(0);
  });
});
