import { chmodSync, existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createWorkspace } from '../../config/workspace.ts';
import { command, startCommand } from '../../kit/command.ts';

const hash = (digit: string) => `sha256:${digit.repeat(64)}`;
const head = 'policies: { all: { apply: all, default: deny } }\n';

async function revoke(yaml: string, id: string, ...options: readonly string[]) {
  const cwd = createWorkspace({ 'gateway.yaml': yaml });
  const ended = await command(['key', 'revoke', id, ...options], {
    cwd,
    env: { CI_KEY: 'a-key-of-sixteen-and-more' },
  });
  return { ...ended, cwd, text: readFileSync(join(cwd, 'gateway.yaml'), 'utf8') };
}

describe('removes an entry and leaves every other byte', () => {
  test.each([
    [
      'a line of a list',
      `projects:\n  shop:   # ours\n    keys:\n      - { id: a, hash: "${hash('1')}" }   # old\n      - { id: b, hash: "${hash('2')}" }\n    models: ["x*"]\n`,
      `projects:\n  shop:   # ours\n    keys:\n      - { id: b, hash: "${hash('2')}" }\n    models: ["x*"]\n`,
    ],
    [
      'an entry of several lines',
      `projects:\n  shop:\n    keys:\n      - id: b\n        hash: ${hash('2')}\n      - id: a\n        hash: ${hash('1')}\n        expires: 2099-01-01\n\n# the end\n`,
      `projects:\n  shop:\n    keys:\n      - id: b\n        hash: ${hash('2')}\n\n# the end\n`,
    ],
    [
      'the first of several lines',
      `projects:\n  shop:\n    keys:\n      - id: a\n        hash: ${hash('1')}\n      - id: b\n        hash: ${hash('2')}\n`,
      `projects:\n  shop:\n    keys:\n      - id: b\n        hash: ${hash('2')}\n`,
    ],
    [
      'one in brackets',
      `projects: { shop: { keys: [{ id: b, hash: "${hash('2')}" }, { id: a, hash: "${hash('1')}" }] } }\n`,
      `projects: { shop: { keys: [{ id: b, hash: "${hash('2')}" }] } }\n`,
    ],
    [
      'the first in brackets',
      `projects: { shop: { keys: [{ id: a, hash: "${hash('1')}" }, { id: b, hash: "${hash('2')}" }] } }\n`,
      `projects: { shop: { keys: [{ id: b, hash: "${hash('2')}" }] } }\n`,
    ],
    [
      'the only one',
      `projects:\n  shop:\n    keys:\n      - id: a\n        hash: ${hash('1')}\n    models: ["x*"]\n`,
      `projects:\n  shop:\n    keys:\n        []\n    models: ["x*"]\n`,
    ],
    [
      'the last line, without an end',
      `projects:\n  shop:\n    keys:\n      - { id: b, hash: "${hash('2')}" }\n      - { id: a, hash: "${hash('1')}" }`,
      `projects:\n  shop:\n    keys:\n      - { id: b, hash: "${hash('2')}" }\n`,
    ],
    [
      'lines that end as on Windows',
      `projects:\r\n  shop:\r\n    keys:\r\n      - { id: a, hash: "${hash('1')}" }\r\n      - { id: b, hash: "${hash('2')}" }\r\n`,
      `projects:\r\n  shop:\r\n    keys:\r\n      - { id: b, hash: "${hash('2')}" }\r\n`,
    ],
  ])('%s', async (_name, before, after) => {
    const { exit, stdout, text, cwd } = await revoke(head + before, 'a');

    expect(text).toBe(head + after);
    expect(exit).toBe(0);
    expect(stdout).toMatch(/^a \(shop\) revoked: gateway\.yaml:\d+(?:-\d+)?\n$/);
    expect(readdirSync(cwd).sort()).toEqual(['gateway.yaml', 'package.json']);
  });
});

const two = `${head}projects:\n  shop:\n    keys:\n      - { id: a, hash: "${hash('1')}" }\n      - { id: b, value: "\${CI_KEY}" }\n`;

test('the key is still in its variable, which is reported', async () => {
  const { exit, stderr } = await revoke(two, 'b');

  expect([exit, stderr]).toEqual([0, 'the key itself is still in the environment\n']);
});

test('--dry-run changes nothing, and prints the line that would change', async () => {
  const { stdout, text } = await revoke(two, 'b', '--dry-run');

  expect(stdout).toBe('b (shop) would be removed from gateway.yaml:6\n');
  expect(text).toBe(two);
});

test("the file's permissions stay", async () => {
  const cwd = createWorkspace({ 'gateway.yaml': two });
  chmodSync(join(cwd, 'gateway.yaml'), 0o640);

  await command(['key', 'revoke', 'a'], { cwd });

  expect(statSync(join(cwd, 'gateway.yaml')).mode & 0o777).toBe(0o640);
});

test.each([
  [
    'an entry that others refer to',
    `projects:\n  one: { keys: &shared [{ id: a, hash: "${hash('1')}" }] }\n  two: { keys: *shared }\n`,
  ],
])('%s: nothing is changed', async (_name, yaml) => {
  const { exit, text } = await revoke(head + yaml, 'a');

  expect(exit).toBe(2);
  expect(text).toBe(head + yaml);
});

test('an entry with an anchor that is used elsewhere: names the line to remove by hand', async () => {
  const yaml = `${head}projects:\n  shop:\n    keys:\n      - { id: a, hash: &h "${hash('1')}" }\n      - { id: b, hash: "${hash('2')}", expires: &e 2099-01-01 }\n      - { id: c, hash: "${hash('3')}", expires: *e }\n`;

  const { exit, stderr, text } = await revoke(yaml, 'b');

  expect(exit).toBe(2);
  expect(stderr).toMatch(/remove it by hand: .*gateway\.yaml:6\n/);
  expect(text).toBe(yaml);
});

test.each([
  ['a key that is not there', two, 'c', 5, 'has no key c'],
  ['a configuration that is invalid', 'nonsense: 1\n', 'a', 2, 'nonsense'],
])('%s', async (_name, yaml, id, exit, words) => {
  const ended = await revoke(yaml, id);

  expect([ended.exit, ended.stdout, ended.text]).toEqual([exit, '', yaml]);
  expect(ended.stderr).toContain(words);
});

test('a running gateway no longer accepts the key', async () => {
  const yaml = `server: { port: 0 }\nplants: { store: { enabled: false } }\n${two}`;
  const cwd = createWorkspace({ 'gateway.yaml': yaml });
  const env = { CI_KEY: 'a-key-of-sixteen-and-more' };
  const server = startCommand(['serve', '--log', 'json'], { cwd, env });
  await server.wrote('stderr', 'listening');
  const models = () => command(['models'], { cwd, env: { ...env, GATEWAY_KEY: env.CI_KEY } });
  const before = await models();

  await command(['key', 'revoke', 'b'], { cwd, env });
  await server.wrote('stderr', 'reload');
  const after = await models();
  const last = await command(['key', 'revoke', 'a'], { cwd, env });

  expect(before.exit).toBe(0);
  expect(after.exit).toBe(4);
  expect(last.stderr).toContain('the running gateway still accepts the key: it has no usable key any more');
  server.signal('SIGTERM');
  await server.ended;
});

test('a new local key is created at the next start', async () => {
  const cwd = createWorkspace();
  const serve = async () => {
    const server = startCommand(['serve', '-p', '0', '--plants-port', '0', '--log', 'json'], { cwd });
    await server.wrote('stderr', 'listening');
    const { stdout } = await command(['key', 'show', '--yes'], { cwd });
    return { server, key: stdout.trim() };
  };
  const first = await serve();
  const listed = await command(['key', 'list'], { cwd });
  const revoked = await command(['key', 'revoke', 'local'], { cwd });
  first.server.signal('SIGTERM');
  await first.server.ended;

  expect(listed.stdout).toMatch(/^local\tlocal\tusable\t\t\S+local-key\.json\n$/);
  expect(revoked.stderr).toContain('gateway stop');
  expect(existsSync(join(cwd, '.local/state/gateway/local-key.json'))).toBe(false);
  const second = await serve();
  expect(second.key).not.toBe(first.key);
  second.server.signal('SIGTERM');
  await second.server.ended;
});
