import { expect, test } from 'vitest';
import { emptyDirectory } from '../../kit/command.ts';
import { startTerminal } from '../../kit/terminal.ts';

const env = { PLANTS_URL: 'http://127.0.0.1:9/v3', NO_COLOR: '1' };

test.each([
  ['Ctrl-C', '\x03'],
  ['Ctrl-D', '\x04'],
])('%s at a question ends the command, and says that nothing was done', async (_name, key) => {
  const terminal = startTerminal(['login'], { home: emptyDirectory(), env });
  await terminal.shows('User');
  terminal.type(key);

  expect((await terminal.ended).exit).toBe(130);
  expect(terminal.screen()).toContain('nothing was done');
});

test('an answer goes on to the next question', async () => {
  const terminal = startTerminal(['login'], { home: emptyDirectory(), env });
  await terminal.shows('User');
  terminal.type('demo\r');
  await terminal.shows('Password');
  terminal.type('\x04');

  expect((await terminal.ended).exit).toBe(130);
});
