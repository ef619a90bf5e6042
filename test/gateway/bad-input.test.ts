import * as zlib from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { chatAnswer, json } from '../kit/answers.ts';
import { twoHosts } from '../kit/config.ts';
import { secrets } from '../kit/gateway.ts';
import { useHosts } from '../kit/lifecycle.ts';
import { head, openRaw, type RawAnswer, sendRaw } from '../kit/raw.ts';

const server = `  port: 0
  allowed_hosts: [gateway.internal]
  allowed_origins: ["https://app.example.com"]
  limits: { head_timeout: 1s, body_idle_timeout: 200ms, body_timeout: 400ms, body_size: 64KiB, pipelined: 2 }`;

const hosts = useHosts(json(chatAnswer), (urls) => twoHosts({ ...urls, server }));

const good = '{"model":"gpt-test","messages":[{"role":"user","content":"a secret prompt"}]}';
const path = '/v1/chat/completions';

const printed: string[] = [];
const realWrite = process.stderr.write;

beforeAll(() => {
  // Whatever the server may print while it is attacked: nothing of it may be a key or a prompt.
  process.stderr.write = ((text: string | Uint8Array) => {
    printed.push(Buffer.from(text).toString());
    return true;
  }) as typeof process.stderr.write;
});

let forwardedBefore = 0;
beforeEach(() => {
  forwardedBefore = forwarded();
});

function forwarded(): number {
  return hosts().openai.requests.length + hosts().anthropic.requests.length;
}

afterAll(() => {
  process.stderr.write = realWrite;
});

interface Ask {
  readonly method?: string;
  readonly target?: string;
  readonly host?: string;
  /** Replaces the header with the key. */
  readonly key?: readonly string[];
  readonly type?: readonly string[];
  readonly headers?: readonly string[];
  readonly body?: string | Buffer;
  /** Replaces content-length. */
  readonly framing?: readonly string[];
}

/** A request that is good but for what the test says. */
function ask(bad: Ask): Promise<RawAnswer> {
  const body = Buffer.from(bad.body ?? good);
  const lines = [
    `${bad.method ?? 'POST'} ${bad.target ?? path} HTTP/1.1`,
    ...(bad.host === '' ? [] : [`Host: ${bad.host ?? '127.0.0.1'}`]),
    ...(bad.key ?? [`Authorization: Bearer ${secrets.PROJECT_KEY}`]),
    ...(bad.type ?? ['Content-Type: application/json']),
    ...(bad.headers ?? []),
    ...(bad.framing ?? [`Content-Length: ${body.length}`]),
  ];
  return sendRaw(hosts().gateway.port, head(...lines), body);
}

interface Expected {
  readonly status: number;
  readonly type: string;
  readonly reason: string;
  readonly param?: string;
}

/** The one shape of every refusal, and that nothing left the machine or leaked. */
async function expectRefusal(answer: RawAnswer, { status, type, reason, param }: Expected): Promise<void> {
  const text = answer.body.toString();
  const value = JSON.parse(text);
  expect(value).toEqual({
    type: 'error',
    error: { type, reason, message: expect.any(String), code: reason, param: param ?? null },
    request_id: expect.stringMatching(/^req_[0-9a-f]{30}$/),
  });
  expect(answer.status).toBe(status);
  expect(answer.isWhole).toBe(true);
  expect(value.error.message.length).toBeGreaterThan(10);
  const headers = Object.fromEntries(answer.headers);
  expect(headers).toMatchObject({
    'content-type': ['application/json'],
    'x-gateway-error': ['true'],
    'x-request-id': [value.request_id],
    'request-id': [value.request_id],
    'x-content-type-options': ['nosniff'],
  });
  if (status < 500 && status !== 408 && status !== 429) expect(headers['x-should-retry']).toEqual(['false']);
  if (status === 401) expect(headers['www-authenticate']).toEqual(['Bearer']);
  if (status === 503) expect(Number(headers['retry-after']?.[0])).toBeGreaterThan(0);
  expect(Object.keys(headers).filter((name) => name.startsWith('access-control-'))).toEqual([]);
  const everything = [
    text,
    JSON.stringify(headers),
    JSON.stringify(hosts().gateway.records),
    ...printed,
  ].join('\n');
  for (const secret of [...Object.values(secrets), 'a secret prompt', 'wrong-key-wrong-key']) {
    expect(everything).not.toContain(secret);
  }
  expect(everything).not.toMatch(/\bat (?:\S+ \()?(?:file:|\/|node:)|node_modules/);
  expect(forwarded()).toBe(forwardedBefore);
}

const invalid = { status: 400, type: 'invalid_request_error' } as const;

describe('paths', () => {
  test.each([
    '/v1/messages/',
    '//v1/messages',
    '/v1//messages',
    '/v1/%6dessages',
    '/v1/messages%3Fbeta=true',
    '/V1/messages',
    '/v1/Messages',
    '/v1/./messages',
    '/v1/x/../messages',
    '/v1/messages;a=b',
    '/v1/messages%00',
    '/v1/messages/count_tokens/',
    '/v1/completions',
    '/chat/completions',
    '/v1/models/',
    '/v1/gateway',
    'http://127.0.0.1/v1/chat/completions',
    'http://example.com/v1/chat/completions',
    '*',
    '/__proto__',
    '/constructor',
  ])('%s is 404', async (target) => {
    await expectRefusal(await ask({ target }), {
      status: 404,
      type: 'not_found_error',
      reason: 'endpoint.unknown',
    });
  });

  test('a doubled prefix is 404 with a hint at the base URL', async () => {
    const answer = await ask({ target: '/v1/v1/messages' });

    await expectRefusal(answer, { status: 404, type: 'not_found_error', reason: 'endpoint.unknown' });
    expect(JSON.parse(answer.body.toString()).error.message).toMatch(/base URL/);
  });

  test.each([
    ['GET', path, 'POST'],
    ['PUT', '/v1/messages', 'POST'],
    ['DELETE', '/v1/responses', 'POST'],
    ['OPTIONS', '/v1/embeddings', 'POST'],
    ['PATCH', '/v1/messages/count_tokens', 'POST'],
    ['TRACE', path, 'POST'],
    ['POST', '/v1/models', 'GET'],
    ['POST', '/v1/models/gpt-test', 'GET'],
    ['POST', '/v1/gateway/models', 'GET'],
    ['POST', '/healthz', 'GET'],
    ['POST', '/', 'GET, HEAD'],
  ])('%s %s is 405 and says what is allowed', async (method, target, allow) => {
    const answer = await ask({ method, target });

    await expectRefusal(answer, { status: 405, type: 'invalid_request_error', reason: 'method.not_allowed' });
    expect(answer.headers.get('allow')).toEqual([allow]);
  });

  test('CONNECT is refused, not tunnelled', async () => {
    await expectRefusal(await ask({ method: 'CONNECT', target: 'example.com:443', framing: [], body: '' }), {
      status: 404,
      type: 'not_found_error',
      reason: 'endpoint.unknown',
    });
  });

  test('an Upgrade is not followed: the request is answered as any other', async () => {
    const answer = await ask({
      headers: ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'],
      body: '{',
    });

    await expectRefusal(answer, { ...invalid, reason: 'request.invalid_json' });
  });
});

describe('keys', () => {
  const key = secrets.PROJECT_KEY;
  test.each([
    ['none', [], 'key.missing'],
    ['an empty one', ['x-api-key:'], 'key.missing'],
    ['a scheme without a key', ['Authorization: Bearer'], 'key.missing'],
    ['another scheme', [`Authorization: Basic ${key}`], 'key.missing'],
    ['a wrong one', ['x-api-key: wrong-key-wrong-key'], 'key.invalid'],
    ['one that begins right', [`x-api-key: ${key}x`], 'key.invalid'],
    ['one in other case', [`x-api-key: ${key.toUpperCase()}`], 'key.invalid'],
    ['one in quotes', [`x-api-key: "${key}"`], 'key.invalid'],
    ['a wrong one of 15 KB', [`x-api-key: ${'k'.repeat(15_000)}`], 'key.invalid'],
    ['an expired one', [`x-api-key: ${secrets.OLD_KEY}`], 'key.expired'],
    [
      'two different in two headers',
      [`x-api-key: ${key}`, `x-gateway-key: ${secrets.OTHER_KEY}`],
      'key.conflict',
    ],
    ['two different in one header', [`x-api-key: ${key}`, `x-api-key: ${secrets.OTHER_KEY}`], 'key.conflict'],
    [
      'two different bearers',
      [`Authorization: Bearer ${key}`, `Authorization: Bearer ${secrets.OTHER_KEY}`],
      'key.conflict',
    ],
    [
      'a right one and a wrong one',
      ['Authorization: Bearer wrong-key-wrong-key', `x-api-key: ${key}`],
      'key.conflict',
    ],
    ['two in a list', [`x-api-key: ${key}, ${secrets.OTHER_KEY}`], 'key.invalid'],
    ['one in the query', [], 'key.missing'],
    ['one in a cookie', [`Cookie: x-api-key=${key}`], 'key.missing'],
    ['one for a proxy', [`Proxy-Authorization: Bearer ${key}`], 'key.missing'],
  ])('%s is 401', async (name, headers, reason) => {
    const target = name === 'one in the query' ? `${path}?x-api-key=${key}` : path;

    await expectRefusal(await ask({ key: headers, target }), {
      status: 401,
      type: 'authentication_error',
      reason,
    });
  });

  test.each(['/v1/models', '/v1/models/gpt-test', '/v1/gateway/models'])(
    '%s needs one too',
    async (target) => {
      const answer = await ask({ method: 'GET', target, key: [], framing: [], body: '' });

      await expectRefusal(answer, { status: 401, type: 'authentication_error', reason: 'key.missing' });
    },
  );

  test('is asked for before the body is read: a body that never comes does not matter', async () => {
    const answer = await ask({ key: [], framing: ['Content-Length: 60000'], body: '{' });

    await expectRefusal(answer, { status: 401, type: 'authentication_error', reason: 'key.missing' });
    expect(answer.headers.get('connection')).toEqual(['close']);
  });

  test('a client that waits for 100-continue is refused without being asked for its body', async () => {
    const answer = await ask({
      key: [],
      headers: ['Expect: 100-continue'],
      body: '',
      framing: ['Content-Length: 100'],
    });

    await expectRefusal(answer, { status: 401, type: 'authentication_error', reason: 'key.missing' });
  });
});

describe('Host and Origin', () => {
  const misdirected = { status: 421, type: 'invalid_request_error', reason: 'host.not_allowed' };
  const foreign = { status: 403, type: 'permission_error', reason: 'origin.not_allowed' };

  test.each([
    ['none', ''],
    ['a foreign one', 'example.com'],
    ['one that begins like loopback', '127.0.0.1.example.com'],
    ['one that ends like localhost', 'notlocalhost'],
    ['user information', 'localhost@example.com'],
    ['an address of the network', '192.168.0.1:4100'],
    ['any address', '0.0.0.0:4100'],
    ['a trailing dot and more', 'localhost.example.com'],
  ])('Host: %s is 421', async (_name, host) => {
    await expectRefusal(await ask({ host }), misdirected);
  });

  test('two Hosts are 400', async () => {
    await expectRefusal(await ask({ headers: ['Host: example.com'] }), {
      ...invalid,
      reason: 'request.framing',
    });
  });

  test.each([
    'null',
    'https://example.com',
    'http://127.0.0.1:1',
    'http://localhost.example.com',
    'https://app.example.com.evil.example',
    'chrome-extension://abc',
    '',
  ])('Origin: %j is 403, whatever the key', async (origin) => {
    await expectRefusal(await ask({ headers: [`Origin: ${origin}`] }), foreign);
  });

  test('a preflight gets no permission', async () => {
    const answer = await ask({
      method: 'OPTIONS',
      headers: ['Origin: https://example.com', 'Access-Control-Request-Method: POST'],
      key: [],
      framing: [],
      body: '',
    });

    await expectRefusal(answer, foreign);
  });

  test.each([
    ['localhost:4100', []],
    ['LOCALHOST', []],
    ['[::1]:4100', []],
    ['127.9.9.9', []],
    ['gateway.internal:443', []],
    ['localhost:4100', ['Origin: http://localhost:4100']],
    ['localhost', ['Origin: https://app.example.com']],
  ])('Host %s with %j passes to the next check', async (host, headers) => {
    await expectRefusal(await ask({ host, headers, body: '{' }), {
      ...invalid,
      reason: 'request.invalid_json',
    });
  });
});

describe('media types and encodings', () => {
  test.each([
    [[]],
    [['Content-Type: text/plain']],
    [['Content-Type: application/x-www-form-urlencoded']],
    [['Content-Type: multipart/form-data; boundary=x']],
    [['Content-Type: application/json; charset=utf-16']],
    [['Content-Type: application/json; charset=iso-8859-1']],
    [['Content-Type: application/jsonx']],
    [['Content-Type: application/vnd.api+json']],
    [['Content-Type: application/json, text/plain']],
    [['Content-Type: application/json', 'Content-Type: text/plain']],
    [['Content-Type: text/plain', 'Content-Type: application/json']],
    [['Content-Type: application/json; charset=utf-8; charset=utf-16']],
  ])('%j is 415', async (type) => {
    await expectRefusal(await ask({ type }), {
      status: 415,
      type: 'invalid_request_error',
      reason: 'request.media_type',
    });
  });

  test.each([['gzip, gzip'], ['gzip, identity'], ['compress']])(
    'content-encoding %s is 400',
    async (encoding) => {
      await expectRefusal(await ask({ headers: [`Content-Encoding: ${encoding}`] }), {
        ...invalid,
        reason: 'request.encoding',
      });
    },
  );

  test('zstd that Node can’t read is 415, and anything else 400', async () => {
    const answer = await ask({ headers: ['Content-Encoding: zstd'] });

    const isRead = 'createZstdDecompress' in zlib;
    await expectRefusal(answer, {
      ...invalid,
      ...(isRead ? { reason: 'request.encoding' } : { status: 415, reason: 'request.media_type' }),
    });
  });

  test('two content-encoding headers are 400', async () => {
    await expectRefusal(await ask({ headers: ['Content-Encoding: gzip', 'Content-Encoding: br'] }), {
      ...invalid,
      reason: 'request.encoding',
    });
  });

  test('a body that does not match its encoding is 400', async () => {
    await expectRefusal(await ask({ headers: ['Content-Encoding: gzip'] }), {
      ...invalid,
      reason: 'request.encoding',
    });
  });

  test('a body that grows beyond the limit when it is unpacked is 413', async () => {
    const { gzipSync } = await import('node:zlib');
    const bomb = gzipSync(Buffer.from(`{"a":"${'x'.repeat(1_000_000)}"}`));

    const answer = await ask({ headers: ['Content-Encoding: gzip'], body: bomb });

    expect(bomb.length).toBeLessThan(5_000);
    await expectRefusal(answer, { status: 413, type: 'request_too_large', reason: 'request.too_large' });
  });
});

describe('bodies', () => {
  test.each([
    ['nothing', '', 'request.invalid_json', undefined],
    ['half a document', '{"model":"gpt-test"', 'request.invalid_json', undefined],
    ['two documents', `${good}${good}`, 'request.invalid_json', undefined],
    ['a list', `[${good}]`, 'request.invalid_json', undefined],
    ['a comment', `{/* x */"model":"gpt-test"}`, 'request.invalid_json', undefined],
    ['a trailing comma', '{"model":"gpt-test",}', 'request.invalid_json', undefined],
    ['NaN', '{"model":"gpt-test","messages":[],"x":NaN}', 'request.invalid_json', undefined],
    ['a duplicate key', '{"model":"a","messages":[],"model":"gpt-test"}', 'request.duplicate_key', '/model'],
    [
      'a duplicate key in escapes',
      '{"model":"a","messages":[],"mode\\u006c":"gpt-test"}',
      'request.duplicate_key',
      '/model',
    ],
    [
      'a duplicate key deep inside',
      '{"model":"gpt-test","messages":[{"a":[{"b":1,"b":2}]}]}',
      'request.duplicate_key',
      '/messages/0/a/0/b',
    ],
    ['__proto__', '{"model":"gpt-test","messages":[],"__proto__":{"a":1}}', 'request.field', '/__proto__'],
    ['Model beside model', '{"Model":"a","model":"gpt-test","messages":[]}', 'request.field', '/Model'],
    ['Model instead of model', '{"Model":"gpt-test","messages":[]}', 'request.field', '/Model'],
    ['no model', '{"messages":[]}', 'request.field', '/model'],
    ['a model that is a number', '{"model":1,"messages":[]}', 'request.field', '/model'],
    ['a model that is null', '{"model":null,"messages":[]}', 'request.field', '/model'],
    ['a model with a line end', '{"model":"gpt-test\\n","messages":[]}', 'request.field', '/model'],
    ['a model with blanks', '{"model":"gpt test","messages":[]}', 'request.field', '/model'],
    ['a model that is too long', `{"model":"${'m'.repeat(201)}","messages":[]}`, 'request.field', '/model'],
    ['stream that is text', '{"model":"gpt-test","messages":[],"stream":"true"}', 'request.field', '/stream'],
    ['stream that is a number', '{"model":"gpt-test","messages":[],"stream":1}', 'request.field', '/stream'],
    ['a cap below 0', '{"model":"gpt-test","messages":[],"max_tokens":-1}', 'request.field', '/max_tokens'],
    ['a cap of 1.5', '{"model":"gpt-test","messages":[],"max_tokens":1.5}', 'request.field', '/max_tokens'],
    [
      'a cap that is text',
      '{"model":"gpt-test","messages":[],"max_tokens":"9"}',
      'request.field',
      '/max_tokens',
    ],
    [
      'a cap above 2^53',
      '{"model":"gpt-test","messages":[],"max_tokens":9007199254740993}',
      'request.field',
      '/max_tokens',
    ],
    ['no messages', '{"model":"gpt-test"}', 'request.field', '/messages'],
  ])('%s is 400', async (_name, body, reason, param) => {
    const answer = await ask({ body });

    const expected = param === undefined ? {} : { param };
    await expectRefusal(answer, { ...invalid, reason, ...expected });
  });

  test.each([
    ['a byte-order mark', Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from(good)])],
    ['UTF-16', Buffer.from(good, 'utf16le')],
    ['bytes that are not UTF-8', Buffer.from('{"model":"gpt-test","messages":["\xff"]}', 'latin1')],
    [
      'an overlong form',
      Buffer.concat([Buffer.from('{"model":"gpt-test","a":"'), Buffer.from([0xc0, 0xaf]), Buffer.from('"}')]),
    ],
  ])('%s is 400', async (_name, body) => {
    const answer = await ask({ body });

    expect(['request.encoding', 'request.invalid_json']).toContain(
      JSON.parse(answer.body.toString()).error.reason,
    );
    expect(answer.status).toBe(400);
  });

  test('a document of 101 levels is 400, of 100 is read', async () => {
    const nested = (levels: number) =>
      `{"model":"nobody","messages":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`;

    const tooDeep = await ask({ body: nested(101) });
    const deep = await ask({ body: nested(100) });

    await expectRefusal(tooDeep, {
      ...invalid,
      reason: 'request.too_deep',
      param: JSON.parse(tooDeep.body.toString()).error.param,
    });
    await expectRefusal(deep, {
      status: 404,
      type: 'not_found_error',
      reason: 'model.unknown',
      param: '/model',
    });
  });

  test('30,000 opening brackets are refused immediately', async () => {
    const answer = await ask({ body: '['.repeat(30_000) });

    expect(answer.status).toBe(400);
  });

  test('stream on a route that has none is 400', async () => {
    const embeddings = await ask({
      target: '/v1/embeddings',
      body: '{"model":"embed","input":"x","stream":true}',
    });
    const count = await ask({
      target: '/v1/messages/count_tokens',
      body: '{"model":"claude-test","messages":[],"stream":true}',
    });

    await expectRefusal(embeddings, { ...invalid, reason: 'request.field', param: '/stream' });
    await expectRefusal(count, { ...invalid, reason: 'request.field', param: '/stream' });
  });

  test.each(['gpt', 'nobody', '../gpt-test', 'gpt-test/../../x', 'constructor', '__proto__', 'toString'])(
    'the model %s is 404',
    async (model) => {
      const known = model.startsWith('gpt-');
      const answer = await ask({
        body: JSON.stringify({ model: known ? `x${model}` : model, messages: [] }),
      });

      await expectRefusal(answer, {
        status: 404,
        type: 'not_found_error',
        reason: 'model.unknown',
        param: '/model',
      });
    },
  );

  test('an announced body above the limit is 413 before it is sent', async () => {
    const answer = await ask({ framing: ['Content-Length: 70000'], body: '{' });

    await expectRefusal(answer, { status: 413, type: 'request_too_large', reason: 'request.too_large' });
  });

  test('a chunked body above the limit is 413', async () => {
    const chunk = `4000\r\n${'x'.repeat(0x4000)}\r\n`;
    const answer = await ask({ framing: ['Transfer-Encoding: chunked'], body: chunk.repeat(5) });

    await expectRefusal(answer, { status: 413, type: 'request_too_large', reason: 'request.too_large' });
  });

  test('a body that stops coming is 408', async () => {
    const answer = await ask({ framing: ['Content-Length: 100'], body: '{' });

    await expectRefusal(answer, { status: 408, type: 'timeout_error', reason: 'request.timeout' });
  });

  test('a body that drips for too long is 408', async () => {
    const connection = openRaw(hosts().gateway.port);
    const key = `Authorization: Bearer ${secrets.PROJECT_KEY}`;
    await connection.write(
      head(
        `POST ${path} HTTP/1.1`,
        'Host: localhost',
        key,
        'Content-Type: application/json',
        'Content-Length: 1000',
      ),
    );
    const drip = setInterval(() => connection.socket.write(' '), 50);

    const answer = await connection.answer().finally(() => clearInterval(drip));

    connection.socket.destroy();
    await expectRefusal(answer, { status: 408, type: 'timeout_error', reason: 'request.timeout' });
  });
});

describe('framing', () => {
  const framing = { ...invalid, reason: 'request.framing' };
  const start = `POST ${path} HTTP/1.1\r\nHost: localhost\r\nx-api-key: ${secrets.PROJECT_KEY}\r\nContent-Type: application/json\r\n`;

  test.each([
    ['two different lengths', `${start}Content-Length: 5\r\nContent-Length: 6\r\n\r\n{}   `],
    ['two equal lengths', `${start}Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}`],
    [
      'a length and chunks',
      `${start}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`,
    ],
    [
      'chunks and a length',
      `${start}Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n2\r\n{}\r\n0\r\n\r\n`,
    ],
    ['a length with a sign', `${start}Content-Length: +2\r\n\r\n{}`],
    ['a length below 0', `${start}Content-Length: -1\r\n\r\n{}`],
    ['a length in hexadecimal', `${start}Content-Length: 0x2\r\n\r\n{}`],
    ['a list of lengths', `${start}Content-Length: 2, 2\r\n\r\n{}`],
    ['an unknown coding', `${start}Transfer-Encoding: gzip\r\n\r\n{}`],
    ['two codings', `${start}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`],
    ['chunked twice', `${start}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
    ['a chunk size that is no number', `${start}Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n`],
    ['bare line feeds', `${start}Content-Length: 2\r\n\r\n{}`.replaceAll('\r\n', '\n')],
    ['a blank before the colon', `${start}Content-Length : 2\r\n\r\n{}`],
    ['a folded header', `${start}X-A: b\r\n c\r\nContent-Length: 2\r\n\r\n{}`],
    ['a NUL in a header', `${start}X-A: b\0c\r\nContent-Length: 2\r\n\r\n{}`],
    ['a header without a name', `${start}: b\r\nContent-Length: 2\r\n\r\n{}`],
    ['another protocol', 'SSH-2.0-OpenSSH_9.6\r\n\r\n'],
    ['TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
    ['a version of its own', `GET /healthz HTTP/9.9\r\nHost: localhost\r\n\r\n`],
    ['HTTP/2 with prior knowledge', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ])('%s is 400, and the connection is closed', async (_name, bytes) => {
    const connection = openRaw(hosts().gateway.port);
    await connection.write(Buffer.from(bytes, 'latin1'));

    const answer = await connection.answer();
    await connection.closed;

    await expectRefusal(answer, framing);
    expect(answer.headers.get('connection')).toEqual(['close']);
  });

  test('a head that is too large is 431', async () => {
    const answer = await ask({ headers: [`X-A: ${'a'.repeat(20_000)}`] });

    await expectRefusal(answer, {
      status: 431,
      type: 'invalid_request_error',
      reason: 'request.headers_too_large',
    });
  });

  test('an expectation other than 100-continue is 417', async () => {
    const answer = await ask({ headers: ['Expect: 200-maybe'] });

    await expectRefusal(answer, {
      status: 417,
      type: 'invalid_request_error',
      reason: 'request.expectation',
    });
  });

  test('a head that does not end is 408', async () => {
    const connection = openRaw(hosts().gateway.port);
    await connection.write('POST /v1/messages HTTP/1.1\r\nHost: localhost\r\n');

    const answer = await connection.answer();

    await connection.closed;
    await expectRefusal(answer, { status: 408, type: 'timeout_error', reason: 'request.timeout' });
  });

  test('a second request smuggled after a refused one is never answered', async () => {
    const connection = openRaw(hosts().gateway.port);
    const smuggled = head('GET /healthz HTTP/1.1', 'Host: localhost');
    await connection.write(
      `${start}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${smuggled}`,
    );

    await expectRefusal(await connection.answer(), framing);

    await connection.closed;
    await expect(connection.answer()).rejects.toThrow(/without an answer/);
  });

  test('a client that sends half of its body and leaves is recorded and forgotten', async () => {
    const { gateway } = hosts();
    const connection = openRaw(gateway.port);
    await connection.write(`${start}Content-Length: 50\r\n\r\n{"model":`);

    connection.socket.destroy();

    const record = await gateway.recordWhere(({ outcome }) => outcome === 'left');
    expect(record).toMatchObject({ reason: 'client.left', path, status: 499 });
  });
});

test('after all of that the process answers as before', async () => {
  const health = await ask({ method: 'GET', target: '/healthz', key: [], framing: [], body: '' });
  const answer = await ask({});

  expect(health.status).toBe(200);
  expect(answer.status).toBe(200);
  expect(forwarded()).toBe(forwardedBefore + 1);
});
