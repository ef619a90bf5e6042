import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { wrapped } from '../../../src/cli/shell/print/wrapped.ts';
import { emptyDirectory } from '../../kit/own-configuration.ts';
import { startTerminal } from '../../kit/terminal.ts';

const home = emptyDirectory();
const env = { PATH: process.env.PATH ?? '', GATEWAY_URL: 'http://127.0.0.1:9', GATEWAY_KEY: 'k' };
const words = (text: string) => text.split(/\s+/).filter((word) => word !== '');

test('on a terminal no word of an error is cut', async () => {
  const wide = startTerminal(['send', 'hi'], { home, env, columns: 400 });
  expect((await wide.ended).exit).toBe(8);
  for (const columns of [20, 40, 80]) {
    const narrow = startTerminal(['send', 'hi'], { home, env, columns });
    expect((await narrow.ended).exit).toBe(8);

    expect(narrow.screen().split('\n').length).toBeGreaterThan(1);
    // A word longer than a line is cut by the terminal; there is none at forty columns.
    if (columns >= 40) expect(words(narrow.screen())).toEqual(words(wide.screen()));
    expect(words(narrow.screen()).join('')).toBe(words(wide.screen()).join(''));
  }
});

test.each([
  ['a finding of doctor', ['doctor'], 40],
  ['a mistake in a command line', ['usage', '--by', 'nothing'], 30],
])('no word of %s is cut', async (_, argv, columns) => {
  const wide = startTerminal(argv, { home, env: { PATH: env.PATH }, columns: 400 });
  const narrow = startTerminal(argv, { home, env: { PATH: env.PATH }, columns });
  await Promise.all([wide.ended, narrow.ended]);

  // A path may be longer than a line, so that the terminal cuts it.
  const paths = words(wide.screen())
    .filter((word) => word.includes('/'))
    .join(' ');
  const both = [wide, narrow].map((terminal) =>
    words(terminal.screen()).filter((word) => !paths.includes(word) && !word.includes('/')),
  );
  expect(both[1]).toEqual(both[0]);
  expect(both[0]?.length).toBeGreaterThan(10);
});

test('what shows a place in a file stays aligned', async () => {
  const file = join(home, 'gateway.yaml');
  writeFileSync(file, 'policies: { house: { apply: all, rules: [{ id: a, action: blok }] } }\n', {
    mode: 0o600,
  });
  const terminal = startTerminal(['config', 'check', '-c', file], {
    home,
    env: { PATH: env.PATH },
    columns: 100,
  });
  await terminal.ended;

  const lines = terminal.screen().split('\n');
  const source = lines.findIndex((line) => line.includes('blok'));
  expect(lines[source + 1]?.indexOf('^^^^')).toBe(lines[source]?.indexOf('blok'));
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

// As in a container, or under `script` without a terminal of its own.
test('a terminal that does not say how wide it is gets the message as it is', async () => {
  const text = 'a message that is longer than a line of no columns';
  expect(await wrapped(text, { isTTY: true, columns: 0 })).toBe(text);
});
