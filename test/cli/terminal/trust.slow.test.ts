// biome-ignore-all lint/suspicious/noTemplateCurlyInString: what a configuration file says
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { homeWith, withoutStore } from '../../kit/command.ts';
import { startTerminal } from '../../kit/terminal.ts';

const wanting = (host: string) => `providers: { p: { dialect: openai, base_url: "http://${host}/\${TOKEN}" } }
models: [{ match: "*", provider: p }]
${withoutStore}`;

function clone(yaml: string) {
  const root = homeWith({
    'home/.bashrc': '',
    'repository/.git/HEAD': '',
    'repository/gateway.yaml': yaml,
  });
  const [home, repository] = [join(root, 'home'), join(root, 'repository')];
  const file = join(repository, 'gateway.yaml');
  const env = { HOME: home, NO_COLOR: '1', TOKEN: 'of-the-user' };
  const start = (words: readonly string[], size: { columns?: number; rows?: number } = {}) =>
    startTerminal(words, { home: repository, env, columns: 100, ...size });
  /** Starts a command that asks, types that, and ends with this. */
  const asked = async (words: readonly string[], typed: string) => {
    const terminal = start(words);
    await terminal.shows('Allow all of this');
    const question = terminal.screen();
    terminal.type(typed);
    return { exit: (await terminal.ended).exit, question };
  };
  return { file, start, asked, state: join(home, '.local/state/gateway') };
}

const dryRun = ['serve', '--dry-run'];

test('a file that was found is asked about once; another want asks again, another edit does not', async () => {
  const { file, start, asked, state } = clone(wanting('10.0.0.1'));

  const first = await asked(dryRun, 'y');
  expect(first.exit).toBe(0);
  expect(first.question).toContain('TOKEN goes to http://10.0.0.1/${TOKEN}');

  const renamed = wanting('10.0.0.1')
    .replace('providers: { p:', 'providers: { q:')
    .replace('provider: p', 'provider: q');
  writeFileSync(file, `# edited\n${renamed}`);
  const edited = start(dryRun);
  expect((await edited.ended).exit).toBe(0);
  expect(edited.screen()).not.toContain('Allow');

  writeFileSync(file, wanting('10.0.0.2'));
  const more = await asked(dryRun, 'n');
  expect(more.exit).toBe(2);
  expect(more.question).toContain('http://10.0.0.2/');
  expect(more.question).not.toContain('http://10.0.0.1/');

  const [kept = ''] = trusted(state);
  expect(statSync(join(state, kept)).mode & 0o777).toBe(0o600);
});

test('what was judged is what is used: a file that changes while the question is asked', async () => {
  const { file, start, asked } = clone(wanting('10.0.0.1'));
  const terminal = start([...dryRun, '-v']);
  await terminal.shows('Allow all of this');

  writeFileSync(file, wanting('10.66.66.66'));
  terminal.type('y');

  expect((await terminal.ended).exit).toBe(0);
  const next = await asked(dryRun, '\x03');
  expect(next.exit).toBe(130);
  expect(next.question).toContain('TOKEN goes to http://10.66.66.66');
});

test.each([
  ['no', 'n', 2],
  ['Ctrl-C', '\x03', 130],
  ['Ctrl-D', '\x04', 130],
  ['Enter alone', '\r', 2],
])('%s allows nothing', async (_name, typed, exit) => {
  const { asked, state } = clone(wanting('10.0.0.1'));

  expect((await asked(['run', 'claude'], typed)).exit).toBe(exit);
  expect(trusted(state)).toEqual([]);
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
  const { start, asked, state } = clone(`server: { port: 0 }\n${wanting('10.0.0.1')}`);

  expect((await asked(['serve', '--detach'], 'y')).exit).toBe(0);
  expect(JSON.parse(readFileSync(join(state, 'running.json'), 'utf8'))).toMatchObject({
    url: expect.any(String),
  });
  expect((await start(['stop', '--now']).ended).exit).toBe(0);
});

test('gateway trust asks, lists and takes back', async () => {
  const { start, asked, file } = clone(wanting('10.0.0.1'));
  expect((await asked(['trust'], 'y')).exit).toBe(0);

  const list = start(['trust', '--list', '-o', 'json']);
  expect((await list.ended).exit).toBe(0);
  expect(list.screen().replace(/\s/g, '')).toContain(file);

  expect((await start(['trust', '--revoke']).ended).exit).toBe(0);
  expect((await asked(dryRun, 'n')).exit).toBe(2);
});

function trusted(state: string): readonly string[] {
  try {
    return readdirSync(state).filter((name) => name.startsWith('trusted-'));
  } catch {
    return [];
  }
}
