import { describe, expect, test } from 'vitest';
import { command, printed } from '../kit/command.ts';

/** A command's words, and those of every command below it, as its help lists them. */
async function withChildren(words: readonly string[]): Promise<(readonly string[])[]> {
  const { stdout } = await command([...words, '--help']);
  const groups = stdout
    .split('\n\n')
    .filter((group) => /^(?:Commands|Run|Ask|Inspect|Configure|Plants):\n/.test(group));
  const names = groups.flatMap((group) =>
    [...group.matchAll(/^ {2}([a-z]+)/gm)].map((match) => match[1] ?? ''),
  );
  const children = names.filter((name) => name !== 'help').map((name) => withChildren([...words, name]));
  return [words, ...(await Promise.all(children)).flat()];
}

const commands = await withChildren([]);

describe('help', () => {
  test('lists the commands there are', () => {
    const names = commands.map((words) => words.join(' '));

    expect(names).toEqual(expect.arrayContaining(['', 'serve', 'send', 'models', 'config check', 'key new']));
  });

  test.each(commands.map((words) => [words.join(' '), words] as const))(
    'of "%s" goes to stdout and ends with three examples and where the exit codes are',
    async (_name, words) => {
      const { exit, stdout, stderr } = await command([...words, '--help']);

      expect([exit, stderr]).toEqual([0, '']);
      const [, closing = ''] = stdout.split('\nExamples:\n');
      const [examples = ''] = closing.split('\n\n');
      expect(examples.split('\n')).toHaveLength(3);
      for (const line of examples.split('\n')) expect(line).toMatch(/^ {2}.*gateway /);
      expect(stdout).not.toMatch(/\(default: [^)]*\)\s+\(default/);
      expect(closing).toMatch(/\n\nExit codes: gateway help exit-codes\n$/);
    },
  );

  test('a command shows its own options, and those of every command in short', async () => {
    const { stdout } = await command(['usage', '--help']);

    expect(stdout).toMatch(/\nOptions:\n {2}--by /);
    expect(stdout).not.toContain('--config <file>');
    expect(stdout).toContain(
      '\nCommon options (gateway --help):\n  -c -o --jq --output-template -q -v --no-color --no-input --timeout\n',
    );
  });

  test('commands are in groups', async () => {
    const { stdout } = await command(['--help']);

    const titles = [...stdout.matchAll(/^([A-Z][a-z]+):$/gm)].map((match) => match[1]);
    expect(titles).toEqual(['Options', 'Run', 'Ask', 'Inspect', 'Configure', 'Plants', 'Examples']);
    expect(stdout).toMatch(/\n {2}login +plant store: log in\n/);
  });

  test('help exit-codes lists them', async () => {
    expect(await command('help exit-codes')).toEqual(
      printed(expect.stringMatching(/^ {2}0 success · 1 failure.*130 interrupted/s)),
    );
  });

  test.each(['-v', '--version'])('%s is one line on stdout', async (option) => {
    expect(await command(option)).toEqual(printed('0.1.0\n'));
  });

  test('without a command the help is shown', async () => {
    const { exit, stdout } = await command([]);

    expect(exit).toBe(0);
    expect(stdout).toContain('Usage: gateway');
    expect(await command(['-h'])).toEqual(await command(['--help']));
    expect((await command(['help'])).stdout).toMatch(/^Usage: gateway .*\nExamples:\n/s);
    expect(await command(['help', 'send'])).toEqual(await command(['send', '--help']));
  });
});
