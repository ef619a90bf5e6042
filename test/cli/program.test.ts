import { describe, expect, test } from 'vitest';
import { command } from '../kit/command.ts';

const run = (...argv: string[]) => command(argv, { stdin: '' });

describe('a wrong command line: exit 2, on stderr', () => {
  test.each([
    [['talk'], '(gateway --help shows what it takes)'],
    [['plants', 'serach'], '(gateway plants --help shows what it takes)'],
    [['sned'], "gateway: unknown command 'sned'\n(Did you mean send?)"],
    [['send', '--modle', 'x'], '--model'],
    [['send', '--max-tokens', 'many'], 'expected a number above 0'],
    [['send', '--max-tokens', '1.5'], 'expected a whole number above 0'],
    [['models', '-o', 'xml'], 'text, json, ndjson, yaml, table'],
    [['models', '--timeout', '0'], 'expected a number above 0'],
    [['serve', '-p', '70000'], 'expected a port from 0 to 65535'],
    [['env', 'clod'], "gateway: 'clod' is invalid for argument 'client'. Allowed choices are claude"],
    [['--nonsense'], "unknown option '--nonsense'"],
  ])('%j', async (argv, words) => {
    const { exit, stdout, stderr } = await run(...argv);

    expect([exit, stdout]).toEqual([2, '']);
    expect(stderr).toContain(words);
    expect(stderr).not.toContain('\n    at ');
  });

  test.each([
    [['sned', '-o', 'json']],
    [['-o', 'json', 'send', '--nonsense']],
    [['send', '-ojson', '--max-tokens', 'x', 'y']],
  ])('is one JSON object: %j', async (argv) => {
    const { exit, stdout, error } = await run(...argv);

    expect([exit, stdout]).toEqual([2, '']);
    expect(error).toEqual({
      type: 'invalid_request_error',
      reason: 'usage.invalid',
      message: expect.any(String),
      param: null,
    });
  });
});

describe('options of every command', () => {
  test.each([
    [['-o', 'json', 'models']],
    [['-o', 'text', 'models', '-o', 'json']],
    [['-q', '--timeout', '5', 'models', '-o', 'json', '--no-color']],
  ])('may stand before or after its name: %j', async (argv) => {
    const { exit, stdout, error } = await run(...argv);

    expect([exit, stdout]).toEqual([8, '']);
    expect(error).toEqual({
      type: 'api_error',
      reason: 'gateway.unreachable',
      message: 'no gateway is running; start one with "gateway serve"',
      param: null,
    });
  });

  test('without -o json a failure is one line', async () => {
    expect(await run('models')).toEqual({
      exit: 8,
      stdout: '',
      stderr: 'gateway: no gateway is running; start one with "gateway serve"\n',
    });
  });
});

test('version is what --version prints', async () => {
  expect(await command('version')).toEqual(await command('--version'));
});
