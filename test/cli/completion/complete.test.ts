import type { Argument, Command, Option } from 'commander';
import { describe, expect, test, vi } from 'vitest';
import { completedValues, freeValues, valueNames } from '../../../src/cli/completion/candidates.ts';
import { buildWholeProgram } from '../../../src/cli/program.ts';
import type { Io } from '../../../src/cli/shell/io.ts';
import { command, directoryWith, startServing } from '../../kit/command.ts';

const cwd = directoryWith(`
server: { port: 0 }
models:
  - { match: "claude-*", provider: sandbox }
  - { match: fast, provider: sandbox, model: sandbox-mini }
policies:
  house:
    rules: [{ id: codename, action: block, when: { text: { phrases: [nightfall] } }, reason: content.codename }]
projects:
  shop: { keys: [{ id: shop-web, hash: "sha256:3691d47c6155e62e3c0fc2c28dcbd87702fc08b466b5836d9041e2efa432a8cc" }] }
  "two words": { keys: [] }
`);

/** The answer's kind and values. */
async function answer(words: readonly string[], home = cwd) {
  const { exit, stdout, stderr } = await command(['__complete', ...words], { cwd: home });
  expect([exit, stderr]).toEqual([0, '']);
  const [kind, ...lines] = stdout.split('\n').slice(0, -1);
  return { kind, values: lines.map((line) => line.split('\t')[0]) };
}

describe('words', () => {
  test.each(
    // biome-ignore format: a case a line
    [
      [[''], ['serve', 'send', 'plants', 'completion']],
      [['help', ''], ['serve', 'send']],
      [['plants', ''], ['search', 'add', 'user']],
      [['plants', 'user', ''], ['add']],
      [['send', '-'], ['--model', '--system', '--config', '--no-stream']],
      [['send', '-o', ''], ['text', 'json', 'ndjson', 'yaml', 'table']],
      [['send', '--output=j'], ['--output=json', '--output=yaml']],
      [['run', ''], ['claude', 'codex']],
      [['key', 'new', '--project', ''], ['shop']],
      [['policy', 'explain', 'x.json', '--key', ''], ['shop-web']],
      [['send', '-m', ''], ['fast']],
    ],
  )('%j completes with %j among them', async (words, expected) => {
    const { kind, values } = await answer(words);

    expect(kind).toBe('words');
    expect(values).toEqual(expect.arrayContaining(expected));
  });

  test.each([
    ['an option that was given', ['send', '--usage', '-'], '--usage'],
    ['a pattern of models', ['send', '-m', ''], 'claude-*'],
    ['a name of two words', ['key', 'new', '--project', ''], 'two words'],
    ['an internal command', [''], '__complete'],
  ])('%s is left out', async (_name, words, left) => {
    expect((await answer(words)).values).not.toContain(left);
  });

  test('have descriptions', async () => {
    expect(await command(['__complete', 'ser'])).toMatchObject({
      stdout: expect.stringContaining('serve\tstart the gateway\n'),
    });
  });
});

test.each([
  [['-c', '']],
  [['send', '--config=gate']],
  [['config', 'check', '']],
  [['policy', 'test', 'one.yaml', '']],
])('%j completes files', async (words) => {
  expect((await answer(words)).kind).toBe('files');
});

test.each([[['run', 'claude', '-']], [['nonsense', '']], [['send', '--nonsense=']], []])(
  '%j completes nothing',
  async (words = []) => {
    expect((await answer(words)).values.filter((value) => value?.startsWith('-'))).toEqual([]);
  },
);

test('a configuration that is none is an answer without names, and nothing on stderr', async () => {
  const broken = directoryWith('projects: [broken');

  expect((await answer(['key', 'new', '--project', ''], broken)).values).toEqual([]);
});

test("names that could move the terminal or name a shell's command are left out", async () => {
  const names = ['"a\\e[31mb"', '"a\\nb"', '"$(id)"', "'`id`'", '"a;id"', '"~"', '"*"', '"é-1.5:b"'];
  const projects = names.map((name) => `  ${name}: { keys: [] }\n`).join('');
  const directory = directoryWith(`projects:\n${projects}`);

  expect((await answer(['key', 'new', '--project', ''], directory)).values).toEqual(['é-1.5:b']);
});

describe('with a gateway that runs', () => {
  test('models are those that it lists', async () => {
    const { home } = await startServing();

    // Completion waits half a second for the gateway, which a busy machine may exceed.
    await vi.waitFor(
      async () => expect((await answer(['send', '-m', ''], home)).values).toContain('sandbox-mini'),
      { timeout: 15_000 },
    );
  });
});

test('each value of each command is known: completed, of a few words, or free', async () => {
  const io = {} as Io; // building a command touches none of it
  const everyOne = (at: Command): Command[] => [at, ...at.commands.flatMap(everyOne)];
  const commands = everyOne(await buildWholeProgram(io));
  const takers = commands.flatMap((one): (Option | Argument)[] => [
    ...one.options.filter((option) => option.required || option.optional),
    ...one.registeredArguments,
  ]);

  const known = [...completedValues, ...freeValues];
  const unknown = takers
    .filter((taker) => taker.argChoices === undefined)
    .map(valueNames)
    .filter((names) => !names.some((name) => known.includes(name)));

  expect(takers.length).toBeGreaterThan(30);
  expect(unknown).toEqual([]);
});
