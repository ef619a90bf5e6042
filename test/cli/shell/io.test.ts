import { Writable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { hasColour, write } from '../../../src/cli/shell/io.ts';

const stream = (isTTY: boolean) => Object.assign(new Writable(), { isTTY });

describe('colours', () => {
  test.each([
    [true, {}, true],
    [false, {}, false],
    [true, { TERM: 'dumb' }, false],
    [true, { NO_COLOR: '1' }, false],
    [true, { NO_COLOR: '' }, true],
    [true, { NO_COLOR: '1', FORCE_COLOR: '1' }, false],
    [false, { FORCE_COLOR: '1' }, true],
    [false, { FORCE_COLOR: '' }, false],
    [true, { FORCE_COLOR: '0' }, false],
    [true, { FORCE_COLOR: 'false' }, false],
  ])('on a terminal: %j, with %j: %j', (isTTY, env, expected) => {
    expect(hasColour(stream(isTTY), env)).toBe(expected);
  });
});

test('write waits until the text was taken, and tells when it was not', async () => {
  const taken: string[] = [];
  const slow = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      setImmediate(() => {
        taken.push(String(chunk));
        done();
      });
    },
  });
  await write(slow, 'text');
  const broken = new Writable({ write: (_chunk, _encoding, done) => done(new Error('EPIPE')) });
  broken.on('error', () => undefined);

  expect(taken).toEqual(['text']);
  await expect(write(broken, 'text')).rejects.toThrow('EPIPE');
});
