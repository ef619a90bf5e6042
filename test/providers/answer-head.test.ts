import { describe, expect, test } from 'vitest';
import { type AnswerHead, BrokenHead, parseAnswerHead } from '../../src/providers/answer-head.ts';

function parse(...lines: readonly string[]): AnswerHead {
  return parseAnswerHead(lines.join('\r\n'));
}

const ok = 'HTTP/1.1 200 OK';

test('gives the status and the headers that are of use, less the blanks around values', () => {
  const head = parse(
    ok,
    'Content-Type: text/plain',
    'retry-after:1',
    'X-RateLimit-B: \t a  b \t ',
    'x-other: 1',
    'openai-empty:',
    'openai-latin: \xe9\xa0',
  );
  const passed: string[] = [];
  head.headers.passOn(passed, (value) => value);

  expect(head.status).toBe(200);
  expect(passed).toEqual([
    ...['content-type', 'text/plain', 'retry-after', '1', 'x-ratelimit-b', 'a  b', 'openai-empty', ''],
    ...['openai-latin', '\xe9\xa0'],
  ]);
});

describe('a status line', () => {
  test.each([
    ['HTTP/1.1 200 OK', 200],
    ['HTTP/1.1 200 ', 200],
    ['HTTP/1.1 200', 200],
    ['HTTP/1.0 404 Not found, sorry', 404],
    ['HTTP/1.1 529 \xdcberlastet', 529],
    ['HTTP/1.1 100 Continue', 100],
    ['HTTP/1.1 999 what', 999],
  ])('%j is taken', (line, status) => {
    expect(parse(line).status).toBe(status);
    expect(parse(line, 'content-length: 0')).toMatchObject({ status, body: 0 });
  });

  test.each([
    '',
    'HTTP/1.1',
    'HTTP/1.1 ',
    'HTTP/1.1  200 OK',
    'HTTP/1.1\t200 OK',
    'HTTP/1.1 20 OK',
    'HTTP/1.1 2000 OK',
    'HTTP/1.1 099 OK',
    'HTTP/1.1 200\tOK',
    'HTTP/1.2 200 OK',
    'HTTP/2 200 OK',
    'HTTP/2.0 200 OK',
    'http/1.1 200 OK',
    ' HTTP/1.1 200 OK',
    '\nHTTP/1.1 200 OK',
    'HTTP/1.1 200 OK\nx-a: b',
    'HTTP/1.1 200 OK\n',
    'HTTP/1.1 200 OK\r',
    'HTTP/1.1 200 O\0K',
    'ICY 200 OK',
    'POST / HTTP/1.1',
  ])('%j is refused', (line) => {
    expect(() => parse(line, 'content-length: 0')).toThrow(BrokenHead);
  });
});

describe('a header', () => {
  test.each([
    'no colon',
    ': no name',
    'x-a : blank before the colon',
    ' x-a: folded',
    '\tx-a: folded',
    'x a: b',
    'x\xe9: b',
    'x(: b',
    'x-a: b\nc: d',
    'x-a: b\rc',
    'x-a: b\r',
    'x-a: b\n',
    'x-a: \nb',
    'x-a: \x0bb',
    'x-a: b\0',
    'x-a: \x7f',
  ])('%j is refused', (line) => {
    expect(() => parse(ok, line)).toThrow(BrokenHead);
    expect(() => parse(ok, 'content-length: 5', line, 'x-z: z')).toThrow(BrokenHead);
  });
});

describe('the body', () => {
  const table: readonly (readonly [AnswerHead['body'], readonly string[]])[] = [
    ['until the end', [ok]],
    ['until the end', [ok, 'x-content-length: 5']],
    [0, [ok, 'content-length: 0']],
    [5, [ok, 'content-length: 5']],
    [5, [ok, 'CONTENT-LENGTH:5']],
    [5, [ok, 'content-length: \t5 \t']],
    [5, [ok, 'content-length: 0005']],
    [999_999_999_999_999, [ok, 'content-length: 999999999999999']],
    ['chunks', [ok, 'transfer-encoding: chunked']],
    ['chunks', [ok, 'Transfer-Encoding: CHUNKED']],
    ['chunks', ['HTTP/1.0 200 OK', 'transfer-encoding: chunked']],
    ['until the end', ['HTTP/1.0 200 OK']],
    [0, ['HTTP/1.1 204 No Content']],
    [0, ['HTTP/1.1 204 No Content', 'content-length: 5']],
    [0, ['HTTP/1.1 304 Not Modified', 'content-length: 5']],
    [0, ['HTTP/1.1 304 Not Modified', 'transfer-encoding: chunked']],
    [0, ['HTTP/1.1 103 Early Hints', 'link: </x>']],
    [5, ['HTTP/1.1 205 Reset Content', 'content-length: 5']],
  ];

  test.each(table)('is %j by %j', (body, lines) => {
    expect(parse(...lines).body).toBe(body);
  });

  test.each([
    ['two lengths', 'content-length: 5', 'content-length: 6'],
    ['one length twice', 'content-length: 5', 'Content-Length: 5'],
    ['a list of lengths', 'content-length: 5, 5'],
    ['a length and chunks', 'content-length: 5', 'transfer-encoding: chunked'],
    ['chunks and a length', 'transfer-encoding: chunked', 'content-length: 5'],
    ['chunks twice', 'transfer-encoding: chunked', 'transfer-encoding: chunked'],
    ['a list of chunks', 'transfer-encoding: chunked, chunked'],
    ['another coding', 'transfer-encoding: gzip'],
    ['another coding in chunks', 'transfer-encoding: gzip, chunked'],
    ['chunks in another coding', 'transfer-encoding: chunked, gzip'],
    ['identity', 'transfer-encoding: identity'],
    ['a coding with parameters', 'transfer-encoding: chunked;q=1'],
    ['no coding', 'transfer-encoding:'],
    ['a no-break space before the coding', 'transfer-encoding: \xa0chunked'],
    ['a tab in the coding', 'transfer-encoding: chunked\x0b'],
    ['no length', 'content-length:'],
    ['a negative length', 'content-length: -5'],
    ['a signed length', 'content-length: +5'],
    ['a hexadecimal length', 'content-length: 0x5'],
    ['a broken length', 'content-length: 5.0'],
    ['an exponent', 'content-length: 5e1'],
    ['two words', 'content-length: 5 5'],
    ['a no-break space before the length', 'content-length: \xa05'],
    ['a line end behind the length', 'content-length: 5\n'],
    ['a length that no number holds', 'content-length: 9999999999999999'],
  ])('by %s is refused', (_name, ...lines) => {
    expect(() => parse(ok, ...lines)).toThrow(BrokenHead);
    expect(() => parse('HTTP/1.1 204 No Content', ...lines)).toThrow(BrokenHead);
  });
});

describe('how long the host keeps the connection', () => {
  const old = 'HTTP/1.0 200 OK';
  const table: readonly (readonly [number | undefined, readonly string[]])[] = [
    [undefined, [ok]],
    [undefined, [ok, 'connection: keep-alive']],
    [undefined, [ok, 'connection: x-close, closed, not-close']],
    [0, [ok, 'connection: close']],
    [0, [ok, 'Connection: CLOSE']],
    [0, [ok, 'connection: keep-alive, close']],
    [0, [ok, 'connection: close\t,x']],
    [0, [ok, 'connection: close', 'connection: keep-alive']],
    [0, [ok, 'connection: keep-alive', 'connection: close']],
    [0, [ok, 'connection: close', 'connection: x']],
    [0, [ok, 'connection: close', 'keep-alive: timeout=5']],
    [0, [old]],
    [0, [old, 'connection: x']],
    [0, [old, 'connection: x-keep-alive']],
    [0, [old, 'keep-alive: timeout=5']],
    [undefined, [old, 'connection: keep-alive', 'content-length: 5']],
    [5_000, [old, 'connection: Keep-Alive', 'keep-alive: timeout=5', 'content-length: 5']],
    [0, [old, 'connection: keep-alive, close', 'content-length: 5']],
    [0, [old, 'connection: keep-alive', 'transfer-encoding: chunked']],
    [5_000, [ok, 'keep-alive: timeout=5']],
    [5_000, [ok, 'Keep-Alive: max=100, Timeout=5']],
    [5_000, [ok, 'keep-alive: timeout=5, max=100']],
    [0, [ok, 'keep-alive: timeout=0']],
    [undefined, [ok, 'keep-alive: max=100']],
    [undefined, [ok, 'keep-alive: timeout=soon']],
    [undefined, [ok, 'keep-alive: xtimeout=5']],
    [undefined, ['HTTP/1.1 204 No Content']],
    [undefined, ['HTTP/1.1 204 No Content', 'content-length: 0']],
    [0, ['HTTP/1.1 204 No Content', 'content-length: 5']],
    [0, ['HTTP/1.1 204 No Content', 'transfer-encoding: chunked']],
    [0, ['HTTP/1.1 304 Not Modified', 'content-length: 5']],
  ];

  test.each(table)('%j by %j', (keepAliveMs, lines) => {
    expect(parse(...lines).keepAliveMs).toBe(keepAliveMs);
  });
});
