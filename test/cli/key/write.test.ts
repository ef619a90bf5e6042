import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { hashKey } from '../../../src/config/build/keys.ts';
import { command, failure, printed, startServing, withoutStore } from '../../kit/command.ts';

const sandbox = `${withoutStore}providers: { s: { dialect: sandbox } }
models: [{ match: m, provider: s }]
default_model: m
policies: { all: { apply: all, rules: [{ id: a, action: block, when: { text: { phrases: ["nightfall"] } }, reason: content.a }] } }   # kept
`;
const files = { 'gateway.yaml': sandbox };
const yamlIn = (home: string) => readFileSync(join(home, 'gateway.yaml'), 'utf8');
const hashed = (key: string) => `sha256:${hashKey(key.trim())}`;

describe('new --write', () => {
  test('enters the key with its limits, and leaves every other byte', async () => {
    const limits = '--usd-per-month 20 --requests-per-minute 60';
    const ended = await command(`key new --project team --id ann ${limits} --expires 2099-06-30 --write`, {
      files,
    });

    expect(ended.exit).toBe(0);
    expect(yamlIn(ended.home)).toBe(
      `${sandbox}projects:\n  team:\n    keys:\n      - { id: ann, hash: "${hashed(ended.stdout)}", expires: 2099-06-30, limits: { requests_per_minute: 60, usd_per_month: 20 } }\n`,
    );
    expect(ended.stderr).toContain('ann (team) is in gateway.yaml; no gateway runs with this file\n');
    expect(ended.stderr).toContain('gateway key new --local --write');
    expect((await command('config check', { cwd: ended.home })).stdout).toMatch(/^gateway.yaml: fine/);
  });

  test.each([
    ['without a project', 'key new --write', {}, failure(2, '--project')],
    ['without a file', 'key new --project a --write', {}, failure(2, 'gateway init')],
    ['an amount that is none', 'key new --project a --usd-per-day much', files, failure(2, '20 or 0.5')],
  ])('%s: says what is missing, and makes no key', async (_what, line, given, expected) => {
    expect(await command(line, { files: given })).toEqual(expected);
  });

  test('an id that is taken is refused, and the file stays', async () => {
    const { home: cwd } = await command('key new --project a --id x --write', { files });
    const before = yamlIn(cwd);

    expect(await command('key new --project b --id x --write', { cwd })).toEqual(failure(2, '--id'));
    expect(yamlIn(cwd)).toBe(before);
  });
});

test("the first project locks this user out, which is said; the user's own entry is a way in again", async () => {
  const { home: cwd, wrote } = await startServing({ files });
  const send = () => command('send hello', { cwd });
  const before = await send();

  const added = await command('key new --project team --write', { cwd });
  await wrote('stderr', 'this user');
  const out = await send();
  const check = await command('config check', { cwd });
  const own = await command('key new --local --write', { cwd });
  const again = await send();
  const twice = await command('key new --local --write', { cwd });

  expect([before.exit, out.exit, again.exit]).toEqual([0, 4, 0]);
  expect(added.stderr).toContain('the running gateway has loaded it');
  expect(out.stderr).toContain('gateway key new --local --write');
  expect(check.stdout).toMatch(/warning.*the local key is in no project/);
  expect([check.exit, (await command('config check', { cwd })).stdout]).toEqual([0, 'gateway.yaml: fine\n']);
  expect(own).toMatchObject({ exit: 0, stdout: '' });
  expect(twice).toEqual(failure(2, 'the local key is in gateway.yaml already'));
});

describe('rotate', () => {
  const keyed = async () => {
    const made = await command('key new --project team --id ann --usd-per-month 20 --write -q', { files });
    return { cwd: made.home, first: made.stdout.trim() };
  };

  test('both keys are one to limits and usage until the grace ends, and the rest of the file stays', async () => {
    const { cwd, first } = await keyed();
    await startServing({ cwd });
    const state = async (key: string) => {
      const ended = await command('models m -o json', { cwd, env: { GATEWAY_KEY: key } });
      return ended.exit === 0 ? ended.json.limits : ended.exit;
    };
    const limits = await state(first);

    const second = (await command('key rotate ann --grace 7d', { cwd })).stdout.trim();
    const { stdout, stderr } = await command('key rotate ann', { cwd });
    const third = stdout.trim();
    const listed = (await command('key list -o json', { cwd })).json;

    expect(limits).toMatchObject({ key: { usd_per_month: 20 } });
    for (const key of [first, second, third]) expect(await state(key)).toEqual(limits);
    expect(stderr).toMatch(/^ann \(team\) has a new key.*the old key is valid until 20.*has loaded it\n$/);
    expect(listed).toEqual([
      expect.objectContaining({ id: 'ann', state: 'usable', previous_until: expect.any(String) }),
    ]);
    expect(
      yamlIn(cwd).startsWith(
        `${sandbox}projects:\n  team:\n    keys:\n      - { id: ann, hash: "${hashed(third)}"`,
      ),
    ).toBe(true);

    const fourth = (await command('key rotate ann --grace 0', { cwd })).stdout.trim();

    const states = await Promise.all([first, second, third].map(state));
    expect(states).toEqual([4, 4, 4]);
    expect(await state(fourth)).toEqual(limits);
    expect(yamlIn(cwd)).not.toContain('previous');
  });

  test("this user's own key is replaced for the commands too", async () => {
    const { cwd } = await keyed();
    await startServing({ cwd });
    await command('key new --local --write', { cwd });
    const before = await command('key show', { cwd });

    const { stdout } = await command('key rotate local --grace 0', { cwd });

    expect(stdout).not.toBe(before.stdout);
    expect(await command('key show', { cwd })).toEqual(printed(stdout));
    expect((await command('send hello', { cwd })).exit).toBe(0);
  });

  test('an expired key stays expired, whatever the grace of the one before it', async () => {
    const { cwd, first } = await keyed();
    await command('key rotate ann --grace 7d', { cwd });
    writeFileSync(
      join(cwd, 'gateway.yaml'),
      yamlIn(cwd).replace('id: ann,', 'id: ann, expires: 2020-01-01,'),
    );
    await command('key new --project team --write', { cwd });
    await startServing({ cwd });

    expect((await command('models', { cwd, env: { GATEWAY_KEY: first } })).stderr).toContain('has expired');
  });

  test.each([
    ['one that there is not', 'key rotate bob', failure(5, 'has no key bob')],
    ['one whose key is elsewhere', 'key rotate env', failure(2, 'the environment')],
    ['for no time', 'key rotate ann --grace soon', failure(2, '24h')],
  ])('%s: says what to do', async (_what, line, expected) => {
    const { cwd } = await keyed();
    writeFileSync(join(cwd, 'gateway.yaml'), `${yamlIn(cwd)}      - { id: env, value: "\${KEY}" }\n`);

    expect(await command(line, { cwd, env: { KEY: 'a-key-of-sixteen-and-more' } })).toEqual(expected);
  });
});
