import { describe, expect, test } from 'vitest';
import { command, printed } from '../kit/command.ts';

// What it says of each command: test/cli/man-page.test.ts.
describe('help', () => {
  test('a command shows its own options, and those of every command in short', async () => {
    const { stdout } = await command(['usage', '--help']);

    expect(stdout).toMatch(/\nOptions:\n {2}--by /);
    expect(stdout).not.toContain('--config <file>');
    expect(stdout).toMatch(/\nExamples:\n(?: {2}gateway .*\n){3}\nCommon options/);
    expect(stdout.split('\nCommon options ')[1]).toBe(
      '(gateway --help):\n  -c -o --jq --output-template -q -v --no-color --no-input --timeout\n\nExit codes: gateway help exit-codes\n',
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
    expect(await command([])).toEqual(await command(['--help']));
  });
});
