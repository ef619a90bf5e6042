import { describe, expect, test } from 'vitest';
import { GatewayError } from '../../src/errors.ts';
import { ChunkedBody } from '../../src/http/chunked.ts';

/** What becomes of a body that arrives in those pieces: itself and what is behind it, or its refusal. */
function read(pieces: readonly Buffer[]): unknown {
  let body = '';
  let behind = '';
  const chunks = new ChunkedBody({
    take: (piece) => {
      body += piece.toString('latin1');
    },
  });
  try {
    for (const piece of pieces) {
      const taken = chunks.isComplete ? 0 : chunks.push(piece);
      behind += piece.toString('latin1', taken);
    }
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return `${error.code}: ${error.message.split(': ')[1]}`;
  }
  return chunks.isComplete ? { body, behind } : 'not complete';
}

/** Reads a text whole, in two pieces cut at every place (or at every so many of them), and byte by byte. */
function readInEveryWay(text: string, step = 1): unknown {
  const bytes = Buffer.from(text, 'latin1');
  const outcome = read([bytes]);
  for (let at = 1; at < bytes.length; at += step) {
    expect(read([bytes.subarray(0, at), bytes.subarray(at)]), `cut at ${at}`).toEqual(outcome);
  }
  expect(read([...bytes].map((byte) => Buffer.from([byte])))).toEqual(outcome);
  return outcome;
}

describe('a body', () => {
  test.each([
    ['nothing', '0\r\n\r\n', ''],
    ['one chunk', '5\r\nhello\r\n0\r\n\r\n', 'hello'],
    ['many', '1\r\na\r\n2\r\nbc\r\n00003\r\ndef\r\n0000\r\n\r\n', 'abcdef'],
    [
      'sizes in both cases',
      `a\r\n${'x'.repeat(10)}\r\nB\r\n${'y'.repeat(11)}\r\n0\r\n\r\n`,
      'xxxxxxxxxxyyyyyyyyyyy',
    ],
    ['line ends and zeros as data', '7\r\n\r\n0\r\n\r\n\r\n0\r\n\r\n', '\r\n0\r\n\r\n'],
    ['extensions', '1;a\r\nx\r\n1;a=b;c="d;e"\r\ny\r\n0;last=\xe9\r\n\r\n', 'xy'],
    ['trailers', '1\r\nx\r\n0\r\nX-Sum: 1\r\nY:\r\nZ:\ta b\xe9\r\n\r\n', 'x'],
  ])('of %s', (_name, text, body) => {
    expect(readInEveryWay(text)).toEqual({ body, behind: '' });
  });

  test('ends where it ends: what follows is left', () => {
    expect(readInEveryWay('2\r\n{}\r\n0\r\n\r\nGET / HTTP/1.1\r\n\r\n')).toEqual({
      body: '{}',
      behind: 'GET / HTTP/1.1\r\n\r\n',
    });
  });

  test.each([
    '',
    '5',
    '5\r\n',
    '5\r\nhel',
    '5\r\nhello',
    '5\r\nhello\r\n',
    '0\r\n',
    '0\r\nX: y\r\n',
    '0\r\n\r',
  ])('that stops after %j is not complete', (text) => {
    expect(readInEveryWay(text)).toBe('not complete');
  });
});

describe('what could be read in two ways is refused', () => {
  test.each([
    ['no size', '\r\n'],
    ['a size that is no number', 'zz\r\n'],
    ['a signed size', '+1\r\nx\r\n0\r\n\r\n'],
    ['a prefixed size', '0x1\r\nx\r\n0\r\n\r\n'],
    ['a size with a blank before it', ' 1\r\nx\r\n0\r\n\r\n'],
    ['a size with a blank behind it', '1 \r\nx\r\n0\r\n\r\n'],
    ['a size with a blank before an extension', '1 ;a\r\nx\r\n0\r\n\r\n'],
    ['a size of thirteen digits', '0000000000001\r\nx\r\n0\r\n\r\n'],
    ['an extension with a NUL', '1;\0\r\nx\r\n0\r\n\r\n'],
    ['an extension with a carriage return', '1;a\rb\r\nx\r\n0\r\n\r\n'],
  ])('%s', (_name, text) => {
    expect(readInEveryWay(text)).toBe('request.framing: the size of a chunk is no number');
  });

  test.each([
    ['a line feed alone behind a size', '1\nx\r\n0\r\n\r\n'],
    ['a line feed alone behind the data', '1\r\nx\n0\r\n\r\n'],
    ['a line feed alone behind an extension', '1;a\nx\r\n0\r\n\r\n'],
    ['a line feed alone at the end', '1\r\nx\r\n0\r\n\n'],
    ['a line feed alone behind a trailer', '0\r\nX: y\n\r\n'],
  ])('%s', (_name, text) => {
    expect(readInEveryWay(text)).toBe('request.framing: a line between chunks has no proper end');
  });

  test.each([
    ['one byte more', '1\r\nxy\r\n0\r\n\r\n'],
    ['no line end', '1\r\nx0\r\n\r\n'],
    ['a carriage return alone', '1\r\nx\r0\r\n\r\n'],
    ['a great many', `1\r\nx${'y'.repeat(6_000)}`],
  ])('behind the data %s', (_name, text) => {
    expect(readInEveryWay(text, text.length > 1_000 ? 97 : 1)).toBe(
      'request.framing: a chunk is longer than its size',
    );
  });

  test.each([
    'X\r\n',
    ': y\r\n',
    'X : y\r\n',
    'X: y\r\n z\r\n',
    'X: \0\r\n',
    'X: y\rZ: w\r\n',
    'X\xe9: y\r\n',
  ])('the trailer %j', (trailer) => {
    expect(readInEveryWay(`0\r\n${trailer}\r\n`)).toBe('request.framing: a trailer is malformed');
  });
});

describe('limits', () => {
  test('a line of 4 KB is read, a longer one not waited for', () => {
    const extension = (bytes: number) => `1;${'a'.repeat(bytes - 3)}\r\nx\r\n0\r\n\r\n`;

    expect(readInEveryWay(extension(4_096), 61)).toEqual({ body: 'x', behind: '' });
    expect(readInEveryWay(extension(4_097), 61)).toBe('request.framing: a line between chunks is too long');
    expect(readInEveryWay('1'.repeat(5_000), 61)).toBe('request.framing: a line between chunks is too long');
  });

  test('trailers of 16 KB are read, more are not', () => {
    const trailer = `X: ${'y'.repeat(1_021)}\r\n`;

    expect(readInEveryWay(`0\r\n${trailer.repeat(16)}\r\n`, 211)).toEqual({ body: '', behind: '' });
    expect(readInEveryWay(`0\r\n${trailer.repeat(17)}\r\n`, 211)).toBe(
      'request.framing: a trailer is malformed',
    );
  });

  test('extensions of 16 KB are read, more are not, however small the body is', () => {
    const chunk = `1;${'a'.repeat(1_023)}\r\nx\r\n`;

    expect(readInEveryWay(`${chunk.repeat(16)}0\r\n\r\n`, 211)).toEqual({ body: 'x'.repeat(16), behind: '' });
    expect(readInEveryWay(`${chunk.repeat(16)}1;\r\nx\r\n0\r\n\r\n`, 211)).toBe(
      'request.framing: the extensions of chunks are too long',
    );
    expect(readInEveryWay(`${chunk.repeat(16)}0;\r\n\r\n`, 211)).toBe(
      'request.framing: the extensions of chunks are too long',
    );
  });

  test('the greatest size is exact', () => {
    const taken: number[] = [];
    const chunks = new ChunkedBody({ take: (piece) => taken.push(piece.length) });

    chunks.push(Buffer.from('ffffffffffff\r\nabc'));

    expect(taken).toEqual([3]);
    expect(chunks.isComplete).toBe(false);
  });
});
