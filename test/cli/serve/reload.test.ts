import { mkdirSync, renameSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { loadConfig } from '../../../src/config/load.ts';
import { createReloader } from '../../../src/server/reload.ts';
import { requestFor } from '../../kit/answers.ts';
import { command, directoryWith, emptyDirectory, type Serving, startServing } from '../../kit/command.ts';
import { replaceFile } from './workers/serving.ts';

// The policies stand behind the keys: cut off at the end, what is left is valid.
const guarded = `plants: { store: { enabled: false } }
providers: { sandbox: { dialect: sandbox } }
models: [{ match: "sandbox-*", provider: sandbox }]
projects: { shop: { keys: [{ id: web, value: "\${WEB_KEY}" }] } }
policies:
  house:
    apply: all
    rules:
      - { id: codename, action: block, when: { text: { phrases: [bluebird] } } }
  late: { apply: all, default: allow, rules: [{ id: other, action: block, when: { text: { phrases: [redbird] } } }] }
`;
const key = 'the-key-of-the-shop';

interface Guarded extends Serving {
  readonly file: string;
  /** The statuses of a harmless request and one that the policy blocks. */
  ask(): Promise<readonly number[]>;
  /** Resolves with what is logged from now on, when it holds the text. */
  logged(text: string): Promise<string>;
}

async function serveGuarded(...options: readonly string[]): Promise<Guarded> {
  const environment = { files: { 'gateway.yaml': guarded }, env: { WEB_KEY: key } };
  const serving = await startServing(environment, ...options);
  const { home, url } = serving;
  const status = async (text: string) => {
    const body = JSON.stringify({
      ...requestFor('chat', 'sandbox-mini'),
      messages: [{ role: 'user', content: text }],
    });
    const headers = { 'content-type': 'application/json', 'x-api-key': key };
    return (await fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body })).status;
  };
  let seen = 0;
  return {
    ...serving,
    file: join(home, 'gateway.yaml'),
    ask: async () => [await status('hello'), await status('the bluebird project')],
    logged: async (text) => {
      for (let i = 0; i < 200; i += 1) {
        const all = await serving.wrote('stderr', '');
        const fresh = all.slice(seen);
        if (fresh.includes(text)) {
          seen = all.length;
          return fresh;
        }
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      throw new Error(`not logged: ${text}`);
    },
  };
}

type Change = (serving: Guarded) => void;
const write =
  (text: string): Change =>
  ({ file }) =>
    replaceFile(file, text);
/** Something else in its place. */
const replaced =
  (make: (file: string) => void): Change =>
  ({ file }) => {
    rmSync(file);
    make(file);
  };

describe('a file that lost what protects changes nothing, is logged, and fails the check', () => {
  let serving: Guarded;
  let restored = 0;
  beforeAll(async () => {
    serving = await serveGuarded();
  });

  test.each<[string, Change, string]>([
    ['gone', ({ file }) => rmSync(file), 'there is no such file'],
    ['moved', ({ file, home }) => renameSync(file, join(home, 'old.yaml')), 'there is no such file'],
    ['empty', ({ file }) => truncateSync(file, 0), 'the file sets nothing'],
    ['with nothing in it', write('{}\n'), 'it has neither providers, models nor projects'],
    ['comments only', write('# for later\n'), 'the file sets nothing'],
    ['cut inside a value', write(guarded.slice(0, 150)), 'problem'],
    ['cut before its projects', write(guarded.slice(0, guarded.indexOf('projects:'))), 'no projects'],
    ['cut before its policies', write(guarded.slice(0, guarded.indexOf('policies:'))), 'no policy'],
    ['cut before its rules', write(`# new\n${guarded.slice(0, guarded.indexOf('    rules:'))}`), 'no policy'],
    ['without keys', write(guarded.replace(/keys: \[.*?\]/, 'keys: []')), 'no usable key'],
    [
      'with expired keys alone',
      write(guarded.replaceAll('{ id: web,', '{ id: web, expires: 2020-01-01,')),
      'no usable key',
    ],
    [
      'with policies that apply to nothing',
      write(guarded.replaceAll('apply: all', 'apply: named')),
      'no policy with a rule applies to a key',
    ],
    ['with an unset key', write(guarded.replace('WEB_KEY', 'NO_SUCH_KEY')), 'no usable key'],
    ['a directory', replaced((file) => mkdirSync(file)), 'regular file'],
    ['a link to itself', replaced((file) => symlinkSync(file, file)), 'it cannot be read (ELOOP)'],
    ['no UTF-8', ({ file }) => writeFileSync(file, Buffer.from([0xc3, 0x28])), 'not UTF-8'],
  ])('%s', async (_name, change, why) => {
    change(serving);
    const logged = await serving.logged('was not reloaded');
    const after = await serving.ask();
    const checked = await command('config check', { cwd: serving.home, env: { WEB_KEY: key } });

    expect(logged).toContain(why);
    expect(JSON.parse(logged.trim().split('\n').at(-1) ?? '')).toMatchObject({ level: 50 });
    expect(after).toEqual([200, 403]);
    expect(checked.exit).toBe(2);
    rmSync(serving.file, { recursive: true, force: true });
    restored += 1;
    writeFileSync(serving.file, `# restored ${restored} times\n${guarded}`, { mode: 0o600 });
    await serving.logged('configuration reloaded');
  });
});

const upToLate = guarded.slice(0, guarded.indexOf('  late:'));

test.each([
  ['without some of its rules', upToLate],
  ['another version of it that ends in the middle of a line', `# new\n${upToLate.slice(0, -1)}`],
])('a file that ends early counts as half written: %s', async (_what, text) => {
  const serving = await serveGuarded();

  replaceFile(serving.file, text);
  const logged = await serving.logged('was not reloaded');
  writeFileSync(serving.file, `${upToLate}# intended\n`);
  await serving.logged('configuration reloaded');

  expect(logged).toContain('incomplete');
  expect(await serving.ask()).toEqual([200, 403]);
});

test('the file found at the start is followed, not another that the search would find now', async () => {
  const serving = await serveGuarded();

  mkdirSync(join(serving.home, '.config'));
  writeFileSync(join(serving.home, '.config/gateway.yaml'), '{}', { mode: 0o600 });
  rmSync(serving.file);
  const gone = await serving.logged('was not reloaded');
  serving.hangUp();
  const hungUp = await serving.logged('was not reloaded');
  writeFileSync(serving.file, guarded.replace('bluebird', 'hello'), { mode: 0o600 });
  await serving.logged('configuration reloaded');

  expect([gone, hungUp].every((text) => text.includes(`no configuration in ${serving.file}`))).toBe(true);
  expect(await serving.ask()).toEqual([403, 200]);
});

test('names what only a restart changes, unless an option has replaced it', async () => {
  const serving = await serveGuarded('--host', '127.0.0.1');
  const server =
    'server: { host: "::1", port: 4999, workers: 3, limits: { drain: 5s } }\nrecords: { file: other }\n';

  writeFileSync(serving.file, server + guarded);
  const logged = await serving.logged('only a restart');

  const line = logged.split('\n').find((text) => text.includes('only a restart')) ?? '';
  expect(JSON.parse(line).restart).toEqual(['server.workers', 'server.limits.drain', 'records.file']);
});

test('a warning names the setting that it is about', async () => {
  const serving = await serveGuarded();

  writeFileSync(
    serving.file,
    guarded.replace('sandbox }]', 'sandbox }, { match: sandbox-a, provider: sandbox }]'),
  );

  expect(await serving.logged('never reached')).toContain('models[1].match: never reached');
});

test('reloads at the same time come one after the other, and the last text wins', async () => {
  const serving = await serveGuarded('--no-watch');

  for (let i = 0; i < 20; i += 1) {
    writeFileSync(serving.file, guarded.replace('codename', `codename-${i}`));
    serving.hangUp();
  }
  await serving.logged('configuration reloaded');
  writeFileSync(serving.file, guarded.replace('bluebird', 'hello'));
  serving.hangUp();

  // Some of the first ones may still be under way, each with a line of its own.
  await expect.poll(serving.ask).toEqual([403, 200]);
});

test('in sandbox mode without a file there is nothing to follow', async () => {
  const { home, hangUp, wrote } = await startServing({ cwd: emptyDirectory() }, '--plants-port', '0');

  writeFileSync(join(home, 'gateway.yaml'), guarded, { mode: 0o600 });
  hangUp();

  expect(await wrote('stderr', 'was not reloaded')).toContain('there was no file at start-up');
});

test('a configuration in force is not reported as refused if the other commands cannot be notified', async () => {
  const home = directoryWith(guarded);
  const file = join(home, 'gateway.yaml');
  const load = () => loadConfig({ file, cwd: home, env: { WEB_KEY: key }, nowMs: Date.now() });
  const logged: string[] = [];
  const { reload } = createReloader({
    started: await load(),
    load,
    prepare: async () => ({
      commit: () => logged.push('committed'),
      discard: () => logged.push('discarded'),
    }),
    onRefused: () => undefined,
    onReloaded: () => {
      throw new Error('ENOSPC: no space left on device');
    },
    log: (level, message) => logged.push(`${level} ${message}`),
    overridden: [],
  });

  await reload();

  expect(logged).toEqual([
    'committed',
    'info configuration reloaded',
    expect.stringMatching(/^error the other commands still see the old configuration/),
  ]);
});

test('status shows what is in force, since when, and what is wrong with the file', async () => {
  const { home: cwd, file, logged } = await serveGuarded();
  const before = (await command('status -o json', { cwd })).json;

  writeFileSync(file, guarded.replace('apply: all', 'aply: all'));
  await logged('was not reloaded');
  const text = (await command('status', { cwd })).stdout;
  const { config } = (await command('status -o json', { cwd })).json;
  writeFileSync(file, guarded.replace('bluebird', 'greenbird'));
  await logged('configuration reloaded');
  const after = (await command('status -o json', { cwd })).json;

  expect(before.config).toMatchObject({ since: expect.stringMatching(/^\d{4}-/), refused: null });
  expect(config).toMatchObject({
    hash: before.config.hash,
    since: before.config.since,
    refused: { message: expect.stringContaining('unknown key'), since: expect.stringMatching(/^\d{4}-/) },
  });
  expect(text).toContain(`in force since ${before.config.since}`);
  expect(text).toMatch(/\ninvalid +the file was changed and not taken over .*:\n.*\n.*aply: unknown key/);
  expect(after.config).toMatchObject({ refused: null });
  expect(after.config.hash).not.toBe(before.config.hash);
});
