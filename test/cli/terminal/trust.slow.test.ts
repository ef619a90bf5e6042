// biome-ignore-all lint/suspicious/noTemplateCurlyInString: what a configuration file says
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { homeWith, withoutStore } from '../../kit/command.ts';
import { startTerminal } from '../../kit/terminal.ts';

const wanting = (host: string) => `providers: { p: { dialect: openai, base_url: "http://${host}/\${TOKEN}" } }
models: [{ match: "*", provider: p }]
${withoutStore}`;

function clone(yaml: string) {
  const root = homeWith({
    'home/.bashrc': '',
    'repository/package.json': {},
    'repository/gateway.yaml': yaml,
  });
  const [home, repository] = [join(root, 'home'), join(root, 'repository')];
  const file = join(repository, 'gateway.yaml');
  const env = { HOME: home, NO_COLOR: '1', TOKEN: 'of-the-user' };
  const start = (words: readonly string[], size: { columns?: number; rows?: number } = {}) =>
    startTerminal(words, { home: repository, env, columns: 100, ...size });
  return { home, file, start, state: join(home, '.local/state/gateway') };
}

const dryRun = ['serve', '--dry-run'];

test('a file that was found is asked about once; another want asks again, another edit does not', async () => {
  const { file, start, state } = clone(wanting('10.0.0.1'));

  const first = start(dryRun);
  await first.shows('TOKEN goes to http://10.0.0.1/${TOKEN}');
  await first.shows('Allow all of this');
  first.type('y');
  expect((await first.ended).exit).toBe(0);

  writeFileSync(
    file,
    `# edited\n${wanting('10.0.0.1').replace('providers: { p:', 'providers: { q:').replace('provider: p', 'provider: q')}`,
  );
  const edited = start(dryRun);
  expect((await edited.ended).exit).toBe(0);
  expect(edited.screen()).not.toContain('Allow');

  writeFileSync(file, wanting('10.0.0.2'));
  const more = start(dryRun);
  await more.shows('Allow all of this');
  expect(more.screen()).toContain('http://10.0.0.2/');
  expect(more.screen()).not.toContain('http://10.0.0.1/');
  more.type('n');
  expect((await more.ended).exit).toBe(2);

  const [kept = ''] = readdirSync(state).filter((name) => name.startsWith('trusted-'));
  expect(statSync(join(state, kept)).mode & 0o777).toBe(0o600);
});

test('what was judged is what is used: a file that changes while the question is asked', async () => {
  const { file, start } = clone(wanting('10.0.0.1'));
  const terminal = start([...dryRun, '-v']);
  await terminal.shows('Allow all of this');

  writeFileSync(file, wanting('10.66.66.66'));
  terminal.type('y');

  expect((await terminal.ended).exit).toBe(0);
  const next = start(dryRun);
  await next.shows('TOKEN goes to http://10.66.66.66');
  next.type('\x03');
  expect((await next.ended).exit).toBe(130);
});

describe.each([
  ['no', 'n', 2],
  ['Ctrl-C', '\x03', 130],
  ['Ctrl-D', '\x04', 130],
  ['Enter alone', '\r', 2],
])('%s', (_name, typed, exit) => {
  test('allows nothing', async () => {
    const { start, state } = clone(wanting('10.0.0.1'));
    const terminal = start(['run', 'claude']);
    await terminal.shows('Allow all of this');
    terminal.type(typed);

    expect((await terminal.ended).exit).toBe(exit);
    expect(trusted(state)).toEqual([]);
  });
});

test('--no-input does not ask', async () => {
  const { start } = clone(wanting('10.0.0.1'));
  const terminal = start([...dryRun, '--no-input']);

  expect((await terminal.ended).exit).toBe(2);
  expect(terminal.screen()).toContain('"gateway trust"');
});

test('on 20 columns, what the file says moves no cursor and forges no line', async () => {
  const yaml =
    'records: { file: "a\\e[2J\\e]0;title\\a\\r\\nTOKEN goes nowhere\\u202e" }\nplants: { store: { enabled: false } }\n';
  const { start } = clone(yaml);
  const terminal = start(dryRun, { columns: 20, rows: 60 });
  await terminal.shows('Allow all');

  const lines = terminal.screen().split('\n');
  expect(lines.filter((line) => /^\s*TOKEN/.test(line))).toEqual([]);
  expect(terminal.raw()).not.toMatch(/\x1b\[2J|\x1b\]0;|\u202e/);
  expect(lines.join('').replace(/\s/g, '')).toContain('\\u001b[2J');
  terminal.type('n');
  expect((await terminal.ended).exit).toBe(2);
});

test('serve --detach asks before there is a gateway in the background', async () => {
  const { start, state } = clone(`server: { port: 0 }\n${wanting('10.0.0.1')}`);
  const terminal = start(['serve', '--detach']);
  await terminal.shows('Allow all of this');
  terminal.type('y');

  expect((await terminal.ended).exit).toBe(0);
  expect(JSON.parse(readFileSync(join(state, 'running.json'), 'utf8'))).toMatchObject({
    url: expect.any(String),
  });
  expect((await start(['stop', '--now']).ended).exit).toBe(0);
});

test('gateway trust asks, lists and takes back', async () => {
  const { start, file } = clone(wanting('10.0.0.1'));
  const allow = start(['trust']);
  await allow.shows('Allow all of this');
  allow.type('y');
  expect((await allow.ended).exit).toBe(0);

  const list = start(['trust', '--list', '-o', 'json']);
  expect((await list.ended).exit).toBe(0);
  expect(list.screen().replace(/\s/g, '')).toContain(file);

  const revoke = start(['trust', '--revoke']);
  expect((await revoke.ended).exit).toBe(0);
  const again = start(dryRun);
  await again.shows('Allow all of this');
  again.type('n');
  expect((await again.ended).exit).toBe(2);
});

function trusted(state: string): readonly string[] {
  try {
    return readdirSync(state).filter((name) => name.startsWith('trusted-'));
  } catch {
    return [];
  }
}
