import { expect, test } from 'vitest';
import { wrapped } from '../../../src/cli/shell/print/wrapped.ts';
import { command, emptyDirectory } from '../../kit/command.ts';

const words = (text: string) => text.split(/\s+/).filter((word) => word !== '');

test.each([
  ['an error', ['send', 'hi'], 20],
  ['a finding of doctor', ['doctor'], 40],
  ['a mistake in a command line', ['usage', '--by', 'nothing'], 30],
])('no word of %s is cut on a terminal: %j, %i columns', async (_, argv, columns) => {
  const cwd = emptyDirectory();
  const env = { GATEWAY_URL: 'http://127.0.0.1:9', GATEWAY_KEY: 'k', NO_COLOR: '1', PATH: '/nowhere' };
  const print = async (width: number) => {
    // Without a spinner.
    const ended = await command([...argv, '-q'], { cwd, env, isTerminal: true, columns: width });
    return (ended.stdout + ended.stderr).split('\n');
  };
  const [wide, narrow] = [await print(400), await print(columns)];

  for (const line of narrow) if (line.length > columns) expect(line.trim()).toMatch(/^\S+$/);
  expect(narrow.length).toBeGreaterThan(wide.length);
  expect(words(narrow.join(' '))).toEqual(words(wide.join(' ')));
});

test('indentation goes on, addresses and excerpts stay whole, and a pipe gets the message as it is', async () => {
  const text =
    '  a message of more than twenty columns http://127.0.0.1:4100/a/long/address\n  12 |     an: excerpt that is too long\n     |         ^^^^^^^\n';
  const terminal = { isTTY: true, columns: 20 } as never;

  expect(await wrapped(text, terminal)).toBe(
    '  a message of more\n  than twenty\n  columns\n  http://127.0.0.1:4100/a/long/address\n  12 |     an: excerpt that is too long\n     |         ^^^^^^^\n',
  );
  expect(await wrapped(text, { isTTY: false, columns: 20 } as never)).toBe(text);
  expect(await wrapped('短い言葉が続く長い行 です', { isTTY: true, columns: 22 } as never)).toBe(
    '短い言葉が続く長い行\nです',
  );
});

test('a line with a label goes on behind it, in the colour that it has', async () => {
  const text = '\u001b[33mwarning    a message of more than twenty\u001b[39m\n';

  expect(await wrapped(text, { isTTY: true, columns: 24 } as never)).toBe(
    '\u001b[33mwarning    a message of\n           more than\n           twenty\u001b[39m\n',
  );
});

// As in a container, or under `script` without a terminal of its own.
test('a terminal that does not say how wide it is gets the message as it is', async () => {
  const text = 'a message that is longer than a line of no columns';
  expect(await wrapped(text, { isTTY: true, columns: 0 })).toBe(text);
});

test('no line of a help is longer than the terminal', async () => {
  const { stdout } = await command('send --help', { isTerminal: true, columns: 40 });

  // Examples are lines to copy.
  const [options = '', closing = ''] = stdout.split(/Examples:|Common options/).filter((_, i) => i !== 1);
  expect((options + closing).split('\n').filter((line) => line.length > 40)).toEqual([]);
  expect(closing).toContain('--jq');
});
