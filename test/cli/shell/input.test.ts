import { once } from 'node:events';
import { closeSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import type { ReadStream } from 'node:tty';
import { describe, expect, test } from 'vitest';
import { readInput } from '../../../src/cli/shell/input.ts';
import type { Io } from '../../../src/cli/shell/io.ts';
import { GatewayError } from '../../../src/errors.ts';
import { command, emptyDirectory, failure } from '../../kit/command.ts';

function io(stdin: Io['stdin'], signal = new AbortController().signal): Io {
  const stdout = new PassThrough();
  const nothing = () => () => undefined;
  const signals = { onHangup: nothing, captureSignals: nothing, onSecondSignal: nothing };
  return { stdin, stdout, stderr: stdout, env: {}, cwd: '/', signal, ...signals };
}

const piped = (...chunks: (string | Buffer)[]) =>
  io(Readable.from(chunks.map((chunk) => Buffer.from(chunk as string))));
const terminal = () => io(Object.assign(new PassThrough(), { isTTY: true }));

describe('what a command works on', () => {
  test.each([
    ['the argument alone', '', 'ask', 'ask'],
    ['standard input alone', 'text', undefined, 'text'],
    ['both, standard input first', 'text', 'ask', 'text\n\nask'],
    ['- is standard input', 'text', '-', 'text'],
    ['line ends at the end are dropped, others stay', 'a\n\nb\n\n\n', 'ask', 'a\n\nb\n\nask'],
    ['nothing', '', undefined, ''],
  ])('%s', async (_name, stdin, argument, expected) => {
    expect(await readInput(argument, piped(stdin))).toBe(expected);
  });

  test('characters that chunks split stay whole', async () => {
    const bytes = Buffer.from('Grüße 😀');

    expect(await readInput(undefined, piped(...[...bytes].map((byte) => Buffer.of(byte))))).toBe('Grüße 😀');
  });

  test('what is no text is refused', async () => {
    await expect(readInput('ask', piped(Buffer.of(0x61, 0xff)))).rejects.toMatchObject({
      code: 'usage.invalid',
      message: expect.stringContaining('standard input is not text in UTF-8'),
    });
  });

  test('a terminal is not waited for, and - refuses it', async () => {
    expect(await readInput('ask', terminal())).toBe('ask');
    await expect(readInput('-', terminal())).rejects.toMatchObject({ code: 'usage.invalid' });
  });

  test('a file counts, a device like /dev/null does not', async () => {
    const directory = emptyDirectory();
    writeFileSync(join(directory, 'f'), 'from a file');
    const file = openSync(join(directory, 'f'), 'r');
    const nothing = openSync('/dev/null', 'r');
    const from = (fd: number) =>
      io(Object.assign(Readable.from([Buffer.from('read')]), { fd }) as unknown as ReadStream);

    expect(await readInput(undefined, from(file))).toBe('read');
    expect(await readInput(undefined, from(nothing))).toBe('');
    closeSync(file);
    closeSync(nothing);
    expect(await readInput(undefined, from(nothing))).toBe('');
  });

  test.each([
    ['while it is read', (stdin: Readable) => setImmediate(() => stdin.destroy())],
    ['just before', (stdin: Readable) => stdin.destroy()],
    ['long before', (stdin: Readable) => once(stdin.destroy(), 'close')],
  ])('input that closes without an end is not waited for: %s', async (_when, close) => {
    const stdin = new PassThrough();
    stdin.write('half');
    await close(stdin);

    await expect(readInput('ask', io(stdin))).rejects.toMatchObject({
      code: 'usage.invalid',
      message: 'standard input closed before its end',
    });
  });

  test('an interruption ends the reading with its reason', async () => {
    const interrupt = new AbortController();
    const reason = new GatewayError('interrupted', 'stopped by SIGINT');
    const reading = readInput(undefined, io(new PassThrough(), interrupt.signal));

    interrupt.abort(reason);

    await expect(reading).rejects.toBe(reason);
  });

  test('a megabyte of empty lines costs no more than its length', async () => {
    const text = `${'\n'.repeat(1_000_000)}x`;

    expect(await readInput(undefined, piped(text))).toBe(text);
  });
});

const noText = '\xff\xfe\x00\x80 no text \xc3\x28\n';

test.each([
  ['key hash', 'that is empty', ''],
  ['login -u rosa --password-stdin', 'that is empty', ''],
  ['plants user add ivy --password-stdin', 'that is no text', noText],
  ['chat', 'that is no text', noText],
])('gateway %s refuses a standard input %s', async (line, _what, bytes) => {
  const gateway = { url: 'http://127.0.0.1:9', key: 'gw_key' };
  const stdin = Readable.from([Buffer.from(bytes, 'latin1')]);

  expect(
    await command(line, { gateway, stdin, env: { GATEWAY_MODEL: 'm', PLANTS_URL: 'http://127.0.0.1:9/v3' } }),
  ).toEqual(failure(2, 'standard input'));
});
