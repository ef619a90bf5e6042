import { describe, expect, test } from 'vitest';
import { toGatewayError } from '../../src/errors.ts';
import { type BodyLimits, readBody } from '../../src/http/body.ts';
import { defaultListenLimits, listen } from '../../src/http/listen.ts';
import { type HttpRequest, newRequestId } from '../../src/http/request.ts';
import { sendError, sendJson } from '../../src/http/respond.ts';
import type { HttpResponse } from '../../src/http/response.ts';
import type { RawAnswer } from '../kit/raw.ts';
import { accept, get, give, head, post, type Serving, serve, untilRead } from './serving.ts';

const bodyLimits: BodyLimits = { bodyBytes: 64 * 1024, bodyIdleMs: 5_000, bodyTotalMs: 10_000 };

interface Started extends Serving {
  /** Targets and bodies of the requests that reached the handler. */
  readonly seen: string[];
}

/** A server that answers with the request's target and body, under limits that no test has to wait for. */
async function start({
  body: limits,
  ...options
}: Parameters<typeof serve>[0] & { readonly body?: Partial<BodyLimits> } = {}): Promise<Started> {
  const seen: string[] = [];
  const echo = async (request: HttpRequest, response: HttpResponse): Promise<void> => {
    try {
      const body = await readBody(request, response, { ...bodyLimits, ...limits });
      seen.push(`${request.target} ${body.toString()}`);
      sendJson(response, { target: request.target, body: body.toString() }, newRequestId());
    } catch (error) {
      if (!response.isClosed) sendError(response, toGatewayError(error), newRequestId());
    }
  };
  const serving = await serve({ onRequest: (request, response) => void echo(request, response), ...options });
  return { ...serving, seen };
}

/** That an answer is the product's error, whole and well-formed. */
function expectError(answer: RawAnswer | undefined, status: number, code: string): void {
  expect(answer?.status).toBe(status);
  const body: unknown = JSON.parse(String(answer?.body));
  expect(body).toMatchObject({
    type: 'error',
    error: { type: expect.any(String), reason: code, code, message: expect.any(String), param: null },
    request_id: answer?.headers.get('x-request-id')?.[0],
  });
  expect(answer?.headers.get('content-type')).toEqual(['application/json']);
  expect(answer?.headers.get('content-length')).toEqual([String(answer?.body.length)]);
  expect(answer?.headers.get('x-gateway-error')).toEqual(['true']);
  expect(answer?.headers.get('x-content-type-options')).toEqual(['nosniff']);
}

/** Sends a text that ends its connection, and reads what comes before that. */
async function refusal(text: string) {
  const server = await start();
  const connection = server.open().send(text);
  return { server, connection, answers: await connection.answersUntilClose() };
}

async function expectAlive({ open }: Started): Promise<void> {
  const answer = await open().send(post('{}')).answer();
  expect(answer.status).toBe(200);
}

const inChunks = (chunks: string) => head('POST /x HTTP/1.1', 'Transfer-Encoding: chunked') + chunks;

describe('framing that has no one meaning', () => {
  test.each(
    // biome-ignore format: a case a line
    [
      ['Transfer-Encoding with Content-Length', `${head('POST /x HTTP/1.1', 'Content-Length: 5', 'Transfer-Encoding: chunked')}0\r\n\r\n`],
      ['Content-Length behind Transfer-Encoding', `${head('POST /x HTTP/1.1', 'Transfer-Encoding: chunked', 'Content-Length: 5')}0\r\n\r\n`],
      ['two different lengths', head('POST /x HTTP/1.1', 'Content-Length: 5', 'Content-Length: 6')],
      ['two equal lengths', `${head('POST /x HTTP/1.1', 'Content-Length: 2', 'Content-Length: 2')}{}`],
      ['two lengths in one header', `${head('POST /x HTTP/1.1', 'Content-Length: 2, 2')}{}`],
      ['a signed length', `${head('POST /x HTTP/1.1', 'Content-Length: +2')}{}`],
      ['a negative length', head('POST /x HTTP/1.1', 'Content-Length: -1')],
      ['a hexadecimal length', head('POST /x HTTP/1.1', 'Content-Length: 0x2')],
      ['an empty length', head('POST /x HTTP/1.1', 'Content-Length: ')],
      ['a length beyond 64 bits', head('POST /x HTTP/1.1', 'Content-Length: 99999999999999999999999')],
      ['gzip and chunked', `${head('POST /x HTTP/1.1', 'Transfer-Encoding: gzip, chunked')}0\r\n\r\n`],
      ['chunked twice', `${head('POST /x HTTP/1.1', 'Transfer-Encoding: chunked, chunked')}0\r\n\r\n`],
      ['chunked in two headers', `${head('POST /x HTTP/1.1', 'Transfer-Encoding: chunked', 'Transfer-Encoding: chunked')}0\r\n\r\n`],
      ['chunked and identity', `${head('POST /x HTTP/1.1', 'Transfer-Encoding: chunked, identity')}0\r\n\r\n`],
      ['gzip alone', head('POST /x HTTP/1.1', 'Transfer-Encoding: gzip')],
      ['an unknown encoding', head('POST /x HTTP/1.1', 'Transfer-Encoding: xchunked')],
      ['a vertical tab before chunked', head('POST /x HTTP/1.1', 'Transfer-Encoding: \vchunked')],
      ['bare line feeds', 'POST /x HTTP/1.1\nHost: 127.0.0.1\nContent-Length: 2\n\n{}'],
      ['a bare line feed in the head', 'POST /x HTTP/1.1\r\nHost: 127.0.0.1\nContent-Length: 2\r\n\r\n{}'],
      ['a bare carriage return in the head', 'POST /x HTTP/1.1\r\nHost: 127.0.0.1\rX: y\r\n\r\n'],
      ['a folded header', 'GET /x HTTP/1.1\r\nHost: 127.0.0.1\r\nX: a\r\n b\r\n\r\n'],
      ['a space before the colon', 'GET /x HTTP/1.1\r\nHost : 127.0.0.1\r\n\r\n'],
      ['a header without a name', 'GET /x HTTP/1.1\r\n: y\r\n\r\n'],
      ['a NUL in a header', 'GET /x HTTP/1.1\r\nHost: 127.0.0.1\r\nX: a\0b\r\n\r\n'],
      ['no HTTP at all', 'hello\r\n\r\n'],
      ['a TLS greeting', '\x16\x03\x01\x00\x05\x01\x00\x00\x01\x03'],
      ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
      ['a version that does not exist', 'GET /x HTTP/1.7\r\nHost: 127.0.0.1\r\n\r\n'],
      ['an unknown method', 'BREW /x HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n'],
      ['a control character in the target', 'GET /\x1b[31m HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n'],
      ['a fragment in the target', head('GET /x?a=b#c HTTP/1.1')],
      ['HTTP/0.9', 'GET /x\r\n\r\n'],
      ['chunks in HTTP/1.0', `${head('POST /x HTTP/1.0', 'Transfer-Encoding: chunked')}0\r\n\r\n`],
      ['two Hosts', 'GET /x HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: 127.0.0.1\r\n\r\n'],
      ['two Hosts in different case', 'GET /x HTTP/1.1\r\nHost: 127.0.0.1\r\nhOST: evil.example\r\n\r\n'],
      ['a NUL in the name of a length', `${head('POST /x HTTP/1.1', 'Content-Length\0: 2')}{}`],
      ['a folded Transfer-Encoding', `${head('POST /x HTTP/1.1', 'Transfer-Encoding:\r\n chunked')}0\r\n\r\n`],
      ['a chunk size that is no number', inChunks('zz\r\n')],
      ['a chunk size beyond 64 bits', inChunks('fffffffffffffffff\r\n')],
      ['a bare line feed behind a chunk size', inChunks('2\n{}\r\n0\r\n\r\n')],
      ['a chunk longer than its size', inChunks('2\r\n{}x\r\n0\r\n\r\n')],
      ['a space in a chunk size', inChunks('2 2\r\n{}\r\n0\r\n\r\n')],
      ['a signed chunk size', inChunks('-2\r\n{}\r\n0\r\n\r\n')],
      ['a prefixed chunk size', inChunks('0x2\r\n{}\r\n0\r\n\r\n')],
      ['a line end missing behind a chunk', inChunks('2\r\n{}0\r\n\r\n')],
      ['a bad trailer', inChunks('2\r\n{}\r\n0\r\nx y\r\n\r\n')],
    ],
  )('%s: 400, and the connection closes', async (_name, request) => {
    const { answers, server } = await refusal(request);

    expect(answers).toHaveLength(1);
    expectError(answers[0], 400, 'request.framing');
    expect(answers[0]?.headers.get('connection')).toEqual(['close']);
    expect(server.seen).toEqual([]);
    await expectAlive(server);
  });

  // Node drops the headers after the first 2,000, unless it is told not to.
  test.each([
    ['Host', 'Host: evil.example', 400, 'request.framing'],
    ['Expect', 'Expect: 200-ok', 417, 'request.expectation'],
    ['content-encoding', 'content-encoding: gzip', 400, 'request.encoding'],
  ])('%s counts after thousands of other headers, too', async (_name, line, status, reason) => {
    const others = Array.from({ length: 2_500 }, () => 'a:');
    const server = await start();

    const answer = await server
      .open()
      .send(`${head('POST /x HTTP/1.1', ...others, 'Content-Length: 2', line)}{}`)
      .answer();

    expectError(answer, status, reason);
    expect(server.seen).toEqual([]);
  });
});

describe('what is left to the handler', () => {
  test('targets reach the handler as they came', async () => {
    const { open } = await start();
    for (const target of [
      'http://evil.example/v1/messages',
      '//v1/messages',
      '/v1/%6dessages',
      '/a/../b',
      '/x?a=b%23c',
      '*',
    ]) {
      const method = target === '*' ? 'OPTIONS' : 'GET';

      const answer = await open()
        .send(head(`${method} ${target} HTTP/1.1`))
        .answer();

      expect(JSON.parse(String(answer.body))).toEqual({ target, body: '' });
    }
  });

  test('a request without Host reaches the handler, which answers for itself', async () => {
    const { open } = await start();

    expect((await open().send('GET /x HTTP/1.1\r\n\r\n').answer()).status).toBe(200);
  });
});

describe('Expect', () => {
  test('100-continue is answered with 100 before the body, then the answer comes', async () => {
    const { open } = await start();
    const connection = open().send(head('POST /x HTTP/1.1', 'Content-Length: 2', 'Expect: 100-continue'));
    await connection.until((received) => received.startsWith('HTTP/1.1 100 Continue\r\n\r\n'));
    connection.send('{}');

    expect(JSON.parse(String((await connection.answer()).body))).toEqual({ target: '/x', body: '{}' });
  });

  test('a refused client never gets 100 Continue', async () => {
    const { answers, connection } = await refusal(
      head('POST /x HTTP/1.1', 'Content-Length: 999999', 'Expect: 100-continue'),
    );

    expect(connection.received).not.toContain('100 Continue');
    expectError(answers[0], 413, 'request.too_large');
  });

  test.each(['200-ok', '100-continue, more', 'x'])('%s: 417', async (value) => {
    const { answers, server } = await refusal(post('{}', `Expect: ${value}`));

    expect(answers).toHaveLength(1);
    expectError(answers[0], 417, 'request.expectation');
    await expectAlive(server);
  });
});

describe('limits', () => {
  test('an endless head: 431, and the answer is not lost while the client is sending', async () => {
    const server = await start();
    const connection = server.open().send('GET /x HTTP/1.1\r\n');
    for (let i = 0; i < 200; i += 1) connection.send(`X-${i}: ${'x'.repeat(8_000)}\r\n`);

    const answers = await connection.answersUntilClose();

    expectError(answers[0], 431, 'request.headers_too_large');
  });

  test('a head of just the limit passes, the last byte of its end in a packet of its own', async () => {
    const { client, socket, next } = await accept({ limits: { headBytes: 2_048 } });
    const empty = head('GET /x HTTP/1.1', 'X: ');
    const request = head('GET /x HTTP/1.1', `X: ${'x'.repeat(2_048 + 4 - empty.length)}`);
    client.send(request.slice(0, -1));
    await untilRead(socket, request.length - 1);

    client.send(request.slice(-1));

    expect((await next()).request.target).toBe('/x');
  });

  test('a body that drips past its time: 408', async () => {
    const server = await start({ body: { bodyIdleMs: 5_000, bodyTotalMs: 150 } });
    const connection = server.open().send(`${head('POST /x HTTP/1.1', 'Content-Length: 60000')}{`);
    const drip = setInterval(() => connection.send('x'), 10);

    const answers = await connection.answersUntilClose();
    clearInterval(drip);

    expectError(answers[0], 408, 'request.timeout');
  });

  test('a refused client that continues to send can still read the answer', async () => {
    const { open } = await start();
    const connection = open().send(head('POST /x HTTP/1.1', 'Content-Length: 50000000'));
    for (let i = 0; i < 200; i += 1) connection.send(Buffer.alloc(50_000));

    const answers = await connection.answersUntilClose();

    expectError(answers[0], 413, 'request.too_large');
  });
});

describe('idle connections', () => {
  test('one is closed after the set time, but not while it waits for an answer', async () => {
    const { open, next } = await serve({ limits: { idleMs: 50 } });
    const busy = open().send(get('/busy'));
    const { response } = await next();
    const idle = open().send(get('/idle'));
    give((await next()).response, 'done');

    const { headers } = await idle.answer();
    await idle.closed;

    expect(headers.get('keep-alive')).toEqual(['timeout=1']);
    give(response, 'done');
    expect((await busy.answer()).status).toBe(200);
  });

  // A firewall on a client's way may forget connections earlier than a balancer does.
  test.each([
    [620_000, '60'],
    [20_000, '15'],
  ])('kept for %i ms, clients are told %s s', async (idleMs, announced) => {
    const { open, next } = await serve({ limits: { idleMs } });
    const client = open().send(get('/'));

    give((await next()).response, 'done');

    expect((await client.answer()).headers.get('keep-alive')).toEqual([`timeout=${announced}`]);
  });
});

describe('several requests on one connection', () => {
  test('beyond the cap: one 503 with Retry-After, then the connection closes', async () => {
    const waiting: HttpResponse[] = [];
    let handled = 0;
    const server = await start({
      limits: { pipelined: 4 },
      onRequest: (_request, response) => {
        handled += 1;
        waiting.push(response);
        if (handled === 4)
          setImmediate(() => waiting.forEach((each, i) => void sendJson(each, i, newRequestId())));
      },
    });
    const connection = server.open().send(head('GET /x HTTP/1.1').repeat(50));

    const answers = await connection.answersUntilClose();

    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 503]);
    expectError(answers[4], 503, 'gateway.overloaded');
    expect(answers[4]?.headers.get('retry-after')).toEqual(['1']);
    expect(handled).toBe(4);
  });

  test('garbage after an answered request: 400, and the connection closes', async () => {
    const server = await start();
    const connection = server.open().send(post('{}'));
    await connection.answer();
    connection.send('garbage\r\n\r\n');

    const answers = await connection.answersUntilClose();

    expect(answers.map(({ status }) => status)).toEqual([200, 400]);
    expectError(answers[1], 400, 'request.framing');
    await expectAlive(server);
  });
});

describe('clients that leave', () => {
  test.each([
    ['in the middle of the head', 'POST /x HTTP/1.1\r\nHost'],
    ['in the middle of the body', `${head('POST /x HTTP/1.1', 'Content-Length: 50')}{`],
    ['in the middle of a chunk', `${head('POST /x HTTP/1.1', 'Transfer-Encoding: chunked')}ff\r\n{`],
    ['behind a bad request', 'hello\r\n\r\n'],
    ['behind CONNECT', 'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n'],
    ['behind a bad Expect', post('{}', 'Expect: x')],
    ['behind a refused body', head('POST /x HTTP/1.1', 'Content-Length: 65537')],
  ])('%s do no harm', async (_name, request) => {
    const server = await start();
    for (let i = 0; i < 5; i += 1) {
      const connection = server.open();
      await new Promise<void>((resolve) => connection.socket.once('connect', () => resolve()));
      connection.send(request);
      await new Promise<void>((resolve) => connection.socket.write('', () => resolve()));
      connection.reset();
    }

    await expectAlive(server);
  });
});

describe('CONNECT', () => {
  test('does not keep the server from stopping', async () => {
    const { listener, open } = await start();
    const connection = open().send('CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n');
    await connection.answer();

    await listener.drain(); // the client has not closed its half

    expect(listener.isDraining).toBe(true);
  });
});

describe('drain', () => {
  /** The answers to that many requests, for the test to give. */
  async function held(next: Serving['next'], count: number): Promise<HttpResponse[]> {
    const responses: HttpResponse[] = [];
    while (responses.length < count) responses.push((await next()).response);
    return responses;
  }

  test('closes idle connections immediately, used and unused ones', async () => {
    const { listener, open } = await start({ limits: { drainMs: 60_000 } });
    const used = open().send(post('{}'));
    await used.answer();
    const unused = open();
    const probe = open().send(post('{}')); // when this is answered, the server has seen the others
    await probe.answer();

    await listener.drain();
    await Promise.all([used.closed, unused.closed, probe.closed]);

    expect(unused.received).toBe('');
  });

  test('closes a connection with half a head when that is late', async () => {
    const { listener, open } = await start({ limits: { drainMs: 60_000, headMs: 100 } });
    const half = open().send('GET /x HTTP/1.1\r\n');
    await open().send(post('{}')).answer();

    await listener.drain();
    await half.closed;

    expect(half.received).not.toContain('200 OK');
  });

  test('answers all requests that a connection has begun, and announces the close with the last', async () => {
    const { listener, open, next } = await serve({ limits: { drainMs: 60_000 } });
    const connection = open().send(head('GET /x HTTP/1.1').repeat(2));
    const responses = await held(next, 2);

    const drained = listener.drain();
    expect(listener.isDraining).toBe(true);
    for (const [i, response] of responses.entries()) sendJson(response, i, newRequestId());
    const answers = await connection.answersUntilClose();
    await drained;

    expect(answers.map(({ body, headers }) => [String(body), headers.get('connection')?.[0]])).toEqual([
      ['0', 'keep-alive'],
      ['1', 'close'],
    ]);
    expect(listener.stopSignal.aborted).toBe(false);
  });

  test('cuts what is still open when its time is over, after saying so', async () => {
    const { listener, open, next } = await serve({ limits: { drainMs: 20 } });
    const connection = open().send(head('GET /x HTTP/1.1'));
    await next();
    let wasOpenAtSignal = false;
    listener.stopSignal.addEventListener('abort', () => {
      wasOpenAtSignal = !connection.isClosed;
    });

    await listener.drain();
    await connection.closed;

    expect(wasOpenAtSignal).toBe(true);
    expect(connection.received).toBe('');
  });

  test('is over when every answer knows, also one that was cut', async () => {
    const { listener, open, next } = await serve({ limits: { drainMs: 20 } });
    for (let i = 0; i < 20; i += 1) open().send(head('GET /x HTTP/1.1').repeat(2));
    let closed = 0;
    for (const response of await held(next, 40)) {
      response.onClose(() => {
        closed += 1;
      });
    }

    await listener.drain();

    expect(closed).toBe(40);
  });
});

test.each([
  ['a taken port', '127.0.0.1', 'port.busy'],
  ['an address that is not ours', '192.0.2.1', 'config.invalid'],
])('%s cannot be had', async (_what, host, code) => {
  const { listener } = await start();
  const { port } = listener;

  const again = listen({ host, port, limits: defaultListenLimits, onRequest: () => undefined });

  await expect(again).rejects.toMatchObject({ code });
});
