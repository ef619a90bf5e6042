import { describe, expect, test } from 'vitest';
import { GatewayError } from '../../src/errors.ts';
import { isHopeless, parseHead } from '../../src/http/head.ts';
import { HttpRequest } from '../../src/http/request.ts';

const get = (...headers: string[]) => parseHead(['GET /x HTTP/1.1', ...headers].join('\r\n'));
const old = (...headers: string[]) => parseHead(['GET /x HTTP/1.0', ...headers].join('\r\n'));

/** The code that a head is refused with. */
function refusal(text: string): string {
  try {
    parseHead(text);
    return 'taken';
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return error.code;
  }
}

describe('the first line', () => {
  test.each([
    ['GET / HTTP/1.1', 'GET', '/', '1.1'],
    ['POST /v1/messages?beta=true HTTP/1.0', 'POST', '/v1/messages?beta=true', '1.0'],
    ['OPTIONS * HTTP/1.1', 'OPTIONS', '*', '1.1'],
    ['GET http://a.example/b HTTP/1.1', 'GET', 'http://a.example/b', '1.1'],
    ['GET //a/../%2e#b HTTP/1.1', 'GET', '//a/../%2e#b', '1.1'],
    ['M-SEARCH /x HTTP/1.1', 'M-SEARCH', '/x', '1.1'],
  ])('%s is taken as it is', (line, method, target, version) => {
    expect(parseHead(line)).toMatchObject({ method, target, version });
  });

  test.each([
    '',
    'GET',
    'GET /x',
    'GET /x ',
    'GET /x HTTP/1.1 ',
    ' GET /x HTTP/1.1',
    'GET  /x HTTP/1.1',
    'GET /x  HTTP/1.1',
    'GET\t/x HTTP/1.1',
    'GET /x y HTTP/1.1',
    'GET x HTTP/1.1',
    'GET  HTTP/1.1',
    'GET *x HTTP/1.1',
    'GET ://x HTTP/1.1',
    'GET /\x7f HTTP/1.1',
    'GET /é HTTP/1.1',
    'GET /x\0 HTTP/1.1',
    'GET /x\rHTTP/1.1',
    'GET /x\nHTTP/1.1',
    'get /x HTTP/1.1',
    'BREW /x HTTP/1.1',
    'GET /x http/1.1',
    'GET /x HTTP/1.2',
    'GET /x HTTP/2.0',
    'GET /x HTTP/0.9',
    'GET /x HTTP/01.1',
    'GET /x HTTP/1.10',
    'GET /x HTTP/1,1',
    'GET /x HTTPS/1.1',
    'CONNECT /x',
  ])('%j is refused', (line) => {
    expect(refusal(line)).toBe('request.framing');
    expect(refusal(`${line}\r\nHost: a`)).toBe('request.framing');
  });

  test.each([
    'CONNECT a.example:443 HTTP/1.1',
    'CONNECT /x HTTP/1.1',
    'CONNECT a.example:443 HTTP/1.0\r\nHost: a',
  ])('%j asks for what is not served', (text) => {
    expect(refusal(text)).toBe('endpoint.unknown');
  });
});

describe('headers', () => {
  test('keep their spelling and order, and lose the blanks around their values', () => {
    const { rawHeaders, names } = get('Host:a', 'X-Two: \t b  c\t ', 'x-two:', 'COOKIE: d=\xe9:"f"');

    expect(rawHeaders).toEqual(['Host', 'a', 'X-Two', 'b  c', 'x-two', '', 'COOKIE', 'd=\xe9:"f"']);
    expect(names).toEqual(['host', 'x-two', 'x-two', 'cookie']);
  });

  test.each([
    ['no colon', 'X'],
    ['no name', ': a'],
    ['a space in the name', 'X Y: a'],
    ['a space before the colon', 'X : a'],
    ['a space before the name', ' X: a'],
    ['a tab before a second line of a value', '\ta'],
    ['a letter that is no token', 'X\xe9: a'],
    ['a slash in the name', 'X/Y: a'],
    ['a NUL in the value', 'X: a\0b'],
    ['a carriage return in the value', 'X: a\rY: b'],
    ['a line feed in the value', 'X: a\nY: b'],
    ['a line feed behind the value', 'X: a\n'],
    ['a vertical tab in the value', 'X: \v'],
    ['an escape in the value', 'X: \x1b[31m'],
    ['a DEL in the value', 'X: \x7f'],
    ['two Hosts', 'Host: a\r\nHost: a'],
  ])('with %s are refused, first or last', (_name, lines) => {
    expect(refusal(`GET /x HTTP/1.1\r\n${lines}\r\nY: b`)).toBe('request.framing');
    expect(refusal(`GET /x HTTP/1.1\r\nY: b\r\n${lines}`)).toBe('request.framing');
  });

  test('of one name are joined, cookies in their own way', () => {
    const request = new HttpRequest(get('Accept: a', 'Cookie: b=1', 'ACCEPT: c', 'cookie: d=2', 'X: e'), {
      remoteAddress: '',
      pause: () => undefined,
      resume: () => undefined,
    });

    expect(request.header('accept')).toBe('a, c');
    expect(request.header('cookie')).toBe('b=1; d=2');
    expect(request.header('x')).toBe('e');
    expect(request.header('y')).toBeUndefined();
    expect({ ...request.headers }).toEqual({ accept: 'a, c', cookie: 'b=1; d=2', x: 'e' });
  });

  test('are each looked at once to find all of them, however many there are', () => {
    const head = get(...Array.from({ length: 1_000 }, (_, i) => `X-${i}: a`));
    let looks = 0;
    const names = new Proxy(head.names, {
      get: (target, property) => {
        if (typeof property === 'string' && /^\d+$/.test(property)) looks += 1;
        return Reflect.get(target, property);
      },
    });
    const request = new HttpRequest(
      { ...head, names },
      { remoteAddress: '', pause: () => undefined, resume: () => undefined },
    );

    expect(Object.keys(request.headers)).toHaveLength(1_000);
    expect(looks).toBe(1_000);
  });

  test('of a name that objects inherit are headers like others', () => {
    const request = new HttpRequest(get('__proto__: a', 'constructor: b'), {
      remoteAddress: '',
      pause: () => undefined,
      resume: () => undefined,
    });

    expect(request.headers.hasOwnProperty).toBeUndefined();
    expect(Object.entries(request.headers)).toEqual([
      ['__proto__', 'a'],
      ['constructor', 'b'],
    ]);
  });
});

describe('the length of the body', () => {
  test.each([
    [[], 0],
    [['Content-Length: 0'], 0],
    [['content-length:  12 '], 12],
    [['Content-Length: 007'], 7],
    [['Content-Length: 999999999999999'], 999_999_999_999_999],
    [['Transfer-Encoding: chunked'], undefined],
    [['TRANSFER-ENCODING: Chunked'], undefined],
  ])('of %j is %s', (headers, expected) => {
    expect(get(...headers).bodyLength).toBe(expected);
  });

  test.each([
    [['Content-Length: ']],
    [['Content-Length: -1']],
    [['Content-Length: +1']],
    [['Content-Length: 1.0']],
    [['Content-Length: 1e3']],
    [['Content-Length: 0x1']],
    [['Content-Length: 1 2']],
    [['Content-Length: 1, 1']],
    [['Content-Length: 1', 'Content-Length: 1']],
    [['Content-Length: 0', 'Content-Length: 0']],
    [['Content-Length: 1000000000000000']],
    [['Content-Length: 1', 'Transfer-Encoding: chunked']],
    [['Transfer-Encoding: chunked', 'Content-Length: 0']],
    [['Transfer-Encoding: ']],
    [['Transfer-Encoding: identity']],
    [['Transfer-Encoding: gzip, chunked']],
    [['Transfer-Encoding: chunked, chunked']],
    [['Transfer-Encoding: chunked', 'Transfer-Encoding: chunked']],
    [['Transfer-Encoding: chunked;q=1']],
    [['Transfer-Encoding: "chunked"']],
  ])('of %j is not known', (headers) => {
    expect(refusal(['POST /x HTTP/1.1', ...headers].join('\r\n'))).toBe('request.framing');
  });

  test('HTTP/1.0 has no chunks', () => {
    expect(refusal('POST /x HTTP/1.0\r\nTransfer-Encoding: chunked')).toBe('request.framing');
    expect(old('Content-Length: 2').bodyLength).toBe(2);
  });
});

describe('the connection', () => {
  test.each([
    [[], true],
    [['Connection: keep-alive'], true],
    [['Connection: close'], false],
    [['Connection: Close'], false],
    [['Connection: keep-alive, close'], false],
    [['Connection: x ,\tclose ,y'], false],
    [['Connection: keep-alive', 'connection: close'], false],
    [['Connection: closed'], true],
    [['Connection: not close'], true],
    [['X-Connection: close'], true],
  ])('with %j of HTTP/1.1 is kept: %s', (headers, expected) => {
    expect(get(...headers).keepsAlive).toBe(expected);
  });

  test.each([
    [[], false],
    [['Connection: keep-alive'], true],
    [['Connection: Keep-Alive'], true],
    [['Connection: keep-alive, close'], false],
    [['Keep-Alive: timeout=5'], false],
  ])('with %j of HTTP/1.0 is kept: %s', (headers, expected) => {
    expect(old(...headers).keepsAlive).toBe(expected);
  });

  test.each([
    [['Upgrade: websocket', 'Connection: Upgrade'], true],
    [['Connection: keep-alive, upgrade', 'Upgrade: h2c'], true],
    [['Upgrade: websocket'], false],
    [['Connection: Upgrade'], false],
  ])('%j asks for another protocol: %s', (headers, expected) => {
    expect(get(...headers).asksForUpgrade).toBe(expected);
  });
});

describe('Expect', () => {
  test.each(['100-continue', '100-Continue', ' 100-CONTINUE '])('%j waits for a 100', (value) => {
    expect(get(`Expect: ${value}`).expectsContinue).toBe(true);
    expect(old(`Expect: ${value}`).expectsContinue).toBe(false);
    expect(get().expectsContinue).toBe(false);
  });

  test.each(['', '100', '200-ok', '100-continue, 100-continue', '100-continue; x'])(
    '%j is refused',
    (value) => {
      expect(refusal(`POST /x HTTP/1.1\r\nExpect: ${value}`)).toBe('request.expectation');
      expect(refusal(`POST /x HTTP/1.0\r\nExpect: ${value}`)).toBe('request.expectation');
    },
  );

  test('twice is refused', () => {
    expect(refusal('POST /x HTTP/1.1\r\nExpect: 100-continue\r\nExpect: 100-continue')).toBe(
      'request.expectation',
    );
  });
});

describe('the beginning of a head', () => {
  test.each(['G', 'GET /x HTTP/1.1', 'GET /x HTTP/1.1\r', 'GET /x HTTP/1.1\r\nHost', 'BREW', '\r'])(
    '%j may become one',
    (text) => {
      expect(isHopeless(Buffer.from(text), 0)).toBe(false);
    },
  );

  test.each(['g', ' GET', '\x16\x03\x01', '{', '\n', '\r\r', '\rG', 'GET /x HTTP/1.1\n', 'GET /\r\nA\nB'])(
    '%j will never be one',
    (text) => {
      expect(isHopeless(Buffer.from(text), 0)).toBe(true);
    },
  );

  test('is looked at from where the packet before ended, whose last byte counts with this one', () => {
    expect(isHopeless(Buffer.from('GET /\r\nA: b'), 6)).toBe(false);
    expect(isHopeless(Buffer.from('GET /\n'), 5)).toBe(true);
    expect(isHopeless(Buffer.from('GET /\nA: b\r\n'), 10)).toBe(false); // it was refused with the packet before
  });
});
