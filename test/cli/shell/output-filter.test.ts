import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { createOutputFilter } from '../../../src/cli/shell/filter/output-filter.ts';
import type { Io } from '../../../src/cli/shell/io.ts';
import { command, failure, printed, startCommand } from '../../kit/command.ts';
import { useGateway } from '../../kit/lifecycle.ts';

const gateway = useGateway();

const run = (argv: readonly string[]) => command(argv, { gateway: gateway(), stdin: '' });

test('what a command hands on of its environment is all of them', () => {
  const stdout = new PassThrough();
  let opened = 0;
  const io = {
    get stdin() {
      opened += 1;
      return new PassThrough();
    },
    stdout,
    env: {},
    onHangup: () => () => undefined,
  } as unknown as Io;

  const filtered = createOutputFilter(io).io;

  expect(opened).toBe(0);
  expect(Object.keys({ ...filtered }).sort()).toEqual(['env', 'onHangup', 'stdin', 'stdout']);
  expect(filtered.stdout).toBe(stdout);
});

describe('--jq', () => {
  test.each([
    ['strings come without quotes', ['models', '--jq', '.[0].id'], 'sandbox-mini\n'],
    ['other values as JSON, a line each', ['models', '--jq', '.[0] | {id}, 1'], '{"id":"sandbox-mini"}\n1\n'],
    ['a comment at its end', ['models', '--jq', 'length > 0 # many'], 'true\n'],
    [
      'each line of ndjson',
      ['models', '-o', 'ndjson', '--jq', 'select(.id == "sandbox-mini").id'],
      'sandbox-mini\n',
    ],
    ['an answer', ['send', 'hi', '-m', 'sandbox-mini', '--jq', '.finish_reason'], 'stop\n'],
  ])('%s', async (_name, argv, stdout) => {
    expect(await run(argv)).toEqual({ exit: 0, stdout, stderr: '' });
  });

  test.each([
    ['an expression that is none', ['models', '--jq', '.['], 2, '--jq: syntax error'],
    ['one that fails', ['models', '--jq', '.[0].id + 1'], 1, 'cannot be added'],
    ['another format', ['models', '--jq', '.', '-o', 'yaml'], 2, 'leave -o yaml out'],
    ['a template as well', ['models', '--jq', '.', '--output-template', 'x'], 2, 'exclude each other'],
    ['a command without JSON', ['completion', 'bash', '--jq', '.'], 2, 'prints text'],
  ])('%s: exit %i', async (_name, argv, exit, words) => {
    const ended = await run(argv);

    expect([ended.exit, ended.stdout]).toEqual([exit, '']);
    expect(ended.stderr).toContain(words);
    expect(ended.stderr).toMatch(/^gateway: [^\n]+\n/);
  });

  test('a wrong expression is found before anything is sent', async () => {
    const before = gateway().records.length;

    await run(['send', 'hi', '-m', 'sandbox-mini', '--jq', '.[']);

    expect(gateway().records.length).toBe(before);
  });

  test('Ctrl-C ends an expression that goes on for ever', async () => {
    const running = startCommand('models --jq last(repeat(.))', { gateway: gateway() });

    setTimeout(() => running.signal('SIGINT'), 1_500);

    expect((await running.ended).exit).toBe(130);
  });
});

describe('--output-template', () => {
  test.each([
    [
      'each entry of a list',
      ['models', '--output-template', '{{ id }} by {{ provider }}'],
      'sandbox-mini by sandbox\n',
    ],
    ['each line of ndjson', ['models', '-o', 'ndjson', '--output-template', '{{ id }}'], 'sandbox-mini\n'],
  ])('%s', async (_name, argv, line) => {
    expect(await run(argv)).toEqual(printed(expect.stringContaining(line)));
  });

  test.each([
    ['{{ id', 2, '--output-template: '],
    ['{{ nope }}', 1, 'undefined variable: nope'],
  ])('%s: exit %i', async (template, exit, words) => {
    expect(await run(['models', '--output-template', template])).toEqual(failure(exit, words));
  });
});
