import { expect, test } from 'vitest';
import { startProgram } from '../kit/child.ts';
import { emptyDirectory, startServing } from '../kit/command.ts';

const waiting = 'waiting for standard input; if there is none, add < /dev/null';

test.each(['send hello', 'embed', 'key hash', 'policy explain -', 'login -u demo --password-stdin'])(
  '%s says what it waits for, and goes on when that comes',
  async (line) => {
    const { home } = await startServing({ files: {} }, '--plants-port', '0');
    const program = startProgram(line.split(' '), home);

    await program.wrote(waiting);
    program.process.stdin?.end('a text of some length\n');
    const { stderr } = await program.ended;

    expect(stderr.split(waiting)).toHaveLength(2);
  },
);

test.each([
  ...[
    'send hello',
    'embed',
    'key hash',
    'policy explain -',
    'policy replay -',
    'login -u demo --password-stdin',
  ],
  'plants user add demo --password-stdin',
])('one signal ends %s', async (line) => {
  const { home } = await startServing({ files: {} }, '--plants-port', '0');
  for (const [signal, exit] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const) {
    const program = startProgram(line.split(' '), home);

    await program.wrote(waiting);
    program.process.kill(signal);

    expect(await program.ended).toMatchObject({ exit });
  }
});

test('embed with texts reads no standard input', async () => {
  const { home } = await startServing();
  const program = startProgram(['embed', '-m', 'sandbox-embed', 'hello'], home);

  expect(await program.ended).toMatchObject({ exit: 0, stderr: '' });
});

test('nothing is said of what comes, is quiet or is for programs', async () => {
  const home = emptyDirectory();
  const given = startProgram(['key', 'hash'], home);
  const silent = [
    ['key', 'hash', '-q'],
    ['key', 'hash', '-o', 'json'],
  ].map((argv) => startProgram(argv, home));
  const other = startProgram(['key', 'hash'], home);
  given.process.stdin?.write('a-key-of-sixteen-');

  await other.wrote(waiting);
  for (const program of [given, ...silent]) expect(program.text('stderr')).toBe('');
  for (const program of [given, ...silent, other]) program.process.stdin?.end('characters-and-more\n');
  for (const program of [given, ...silent, other]) expect(await program.ended).toMatchObject({ exit: 0 });
});
