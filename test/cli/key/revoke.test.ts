import { chmodSync, existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { command, directoryWith, failure, startServing, withoutStore } from '../../kit/command.ts';

const hash = (digit: string) => `sha256:${digit.repeat(64)}`;
const head = 'policies: { all: { apply: all, default: deny } }\n';

const env = { CI_KEY: 'a-key-of-sixteen-and-more' };

async function revoke(yaml: string, ...words: readonly string[]) {
  const ended = await command(['key', 'revoke', ...words], { files: { 'gateway.yaml': yaml }, env });
  return { ended, text: readFileSync(join(ended.home, 'gateway.yaml'), 'utf8') };
}

describe('removes an entry and leaves every other byte', () => {
  const [a, b] = [`hash: "${hash('1')}"`, `hash: "${hash('2')}"`];
  const list = (entries: string, end = '') => `projects:\n  shop:   # ours\n    keys:\n${entries}${end}`;
  const inBrackets = (entries: string) => `projects: { shop: { keys: [${entries}] } }\n`;
  const [lineA, lineB] = [`      - { id: a, ${a} }   # old\n`, `      - { id: b, ${b} }\n`];
  const blockA = `      - id: a\n        ${a}\n        expires: 2099-01-01\n`;
  const blockB = `      - id: b\n        ${b}\n`;
  const models = '    models: ["x*"]\n';
  const windows = (text: string) => text.replaceAll('\n', '\r\n');

  test.each([
    ['a line of a list', list(lineA + lineB, models), list(lineB, models)],
    ['an entry of several lines', list(blockB + blockA, '\n# the end\n'), list(blockB, '\n# the end\n')],
    ['one in brackets', inBrackets(`{ id: b, ${b} }, { id: a, ${a} }`), inBrackets(`{ id: b, ${b} }`)],
    ['the only one', list(blockA, models), list('        []\n', models)],
    ['the last line, without an end', list(`${lineB}      - { id: a, ${a} }`), list(lineB)],
    ['lines that end as on Windows', windows(list(lineA + lineB)), windows(list(lineB))],
  ])('%s', async (_name, before, after) => {
    const { ended, text } = await revoke(head + before, 'a');

    expect(text).toBe(head + after);
    expect(ended).toMatchObject({
      exit: 0,
      stdout: expect.stringMatching(/^a \(shop\) revoked: gateway\.yaml:\d+(?:-\d+)?\n$/),
    });
    expect(readdirSync(ended.home)).toEqual(['gateway.yaml']);
  });
});

const two = `${head}projects:\n  shop:\n    keys:\n      - { id: a, hash: "${hash('1')}" }\n      - { id: b, value: "\${CI_KEY}" }\n`;

test('the key is still in its variable, which is reported', async () => {
  const { ended } = await revoke(two, 'b');

  expect([ended.exit, ended.stderr]).toEqual([0, 'the key itself is still in the environment\n']);
});

test('--dry-run changes nothing, and prints the line that would change', async () => {
  const { ended, text } = await revoke(two, 'b', '--dry-run');

  expect(ended.stdout).toBe('b (shop) would be removed from gateway.yaml:6\n');
  expect(text).toBe(two);
});

test("the file's permissions stay", async () => {
  const cwd = directoryWith(two);
  chmodSync(join(cwd, 'gateway.yaml'), 0o640);

  await command('key revoke a', { cwd });

  expect(statSync(join(cwd, 'gateway.yaml')).mode & 0o777).toBe(0o640);
});

const shared = `${head}projects:\n  one: { keys: &shared [{ id: a, hash: "${hash('1')}" }] }\n  two: { keys: *shared }\n`;
const anchored = `${head}projects:\n  shop:\n    keys:\n      - { id: a, hash: &h "${hash('1')}" }\n      - { id: b, hash: "${hash('2')}", expires: &e 2099-01-01 }\n      - { id: c, hash: "${hash('3')}", expires: *e }\n`;

test.each([
  ['an entry that others refer to', shared, 'a', 2, ''],
  [
    'an entry with an anchor that is used elsewhere: names the line to remove by hand',
    anchored,
    'b',
    2,
    /remove it by hand: .*gateway\.yaml:6\n/,
  ],
  ['a key that is not there', two, 'c', 5, 'has no key c'],
  ['a configuration that is invalid', 'nonsense: 1\n', 'a', 2, 'nonsense'],
])('nothing is changed: %s', async (_name, yaml, id, exit, words) => {
  const { ended, text } = await revoke(yaml, id);

  expect(ended).toEqual(failure(exit, words));
  expect(text).toBe(yaml);
});

test('a running gateway no longer accepts the key', async () => {
  const { home: cwd, wrote } = await startServing({ files: { 'gateway.yaml': withoutStore + two }, env });
  const models = () => command('models', { cwd, env: { ...env, GATEWAY_KEY: env.CI_KEY } });
  const before = await models();

  await command('key revoke b', { cwd, env });
  await wrote('stderr', 'reload');
  const after = await models();
  const last = await command('key revoke a', { cwd, env });

  expect([before.exit, after.exit]).toEqual([0, 4]);
  expect(last.stderr).toContain('the running gateway still accepts the key: it has no usable key any more');
});

test('a new local key is created at the next start', async () => {
  const { home: cwd, stop } = await startServing();
  const key = async () => (await command('key show', { cwd })).stdout.trim();
  const first = await key();
  const listed = await command('key list', { cwd });
  const revoked = await command('key revoke local', { cwd });
  await stop();

  expect(listed.stdout).toMatch(/^local\tlocal\tusable\t\t\S+local-key\.json\t\n$/);
  expect(revoked.stderr).toContain('gateway stop');
  expect(existsSync(join(cwd, '.local/state/gateway/local-key.json'))).toBe(false);
  await startServing({ cwd });
  expect(await key()).not.toBe(first);
});
