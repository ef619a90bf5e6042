import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { GatewayError } from '../../src/errors.ts';
import { Connection, type Server } from '../../src/http/connection.ts';
import type { HttpRequest } from '../../src/http/request.ts';
import type { HttpResponse } from '../../src/http/response.ts';
import { Turn } from '../../src/http/tick.ts';
import { parseAnswers, RawConnection } from './raw-connection.ts';
import { queue } from './serving.ts';
import { holdClock } from './turning.ts';

const headMs = 10_000;

interface Accepted {
  readonly client: RawConnection;
  /** The server's end, and what reads from it. */
  readonly socket: Socket;
  readonly connection: Connection;
  /** The next request of the connection, for the test to answer. */
  readonly next: () => Promise<{ readonly request: HttpRequest; readonly response: HttpResponse }>;
}

/** One connection to a server that the test plays. */
async function accept(options: Partial<Server> = {}): Promise<Accepted> {
  const begun = queue<{ request: HttpRequest; response: HttpResponse }>();
  const accepted = queue<{ socket: Socket; connection: Connection }>();
  const server: Server = {
    limits: { headMs, headBytes: 16 * 1024, pipelined: 4 },
    turn: new Turn(),
    isDraining: false,
    dateLine: () => '',
    onRequest: (request, response) => begun.put({ request, response }),
    onUpgrade: undefined,
    closed: () => undefined,
    ...options,
  };
  const listener = createServer((socket) =>
    accepted.put({ socket, connection: new Connection(socket, server) }),
  );
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const client = new RawConnection((listener.address() as AddressInfo).port);
  const { socket, connection } = await accepted.take();
  onTestFinished(async () => {
    client.end();
    socket.destroy();
    await new Promise((resolve) => listener.close(resolve));
  });
  return { client, socket, connection, next: begun.take };
}

/** A handler that answers with the body, and what it has seen. */
function echoing(): Partial<Server> & { readonly seen: string[] } {
  const seen: string[] = [];
  return {
    seen,
    onRequest: (request, response) => {
      let body = '';
      request.read({
        take: (piece) => {
          body += piece.toString('latin1');
        },
        end: () => {
          seen.push(`${request.method} ${request.target} ${body}`);
          give(response, body);
        },
        fail: () => undefined,
      });
    },
  };
}

/** A reader, and what it was given. */
function reader() {
  const got = { bytes: 0, text: '' };
  let settle: (outcome: string) => void = () => undefined;
  const outcome = new Promise<string>((resolve) => {
    settle = resolve;
  });
  return {
    got,
    outcome,
    take: (piece: Buffer) => {
      got.bytes += piece.length;
      if (got.bytes < 1_000) got.text += piece.toString('latin1');
    },
    end: () => settle('whole'),
    fail: (error: GatewayError) => settle(error.code),
  };
}

function give(response: HttpResponse, text: string): void {
  response.writeHead(200, ['content-length', String(text.length)]);
  response.end(Buffer.from(text, 'latin1'));
}

const head = (line: string, ...headers: string[]) => [line, 'Host: a', ...headers, '', ''].join('\r\n');
const get = (target: string) => head(`GET ${target} HTTP/1.1`);
const post = (body: string, ...headers: string[]) =>
  head('POST /x HTTP/1.1', `Content-Length: ${body.length}`, ...headers) + body;

/** Waits until the server's end has got that many bytes in all, and the turn in which they came is over. */
async function untilRead(socket: Socket, bytes: number): Promise<void> {
  while (socket.bytesRead < bytes) await turns(1);
  await turns(1);
}

/** Lets the loop look for what has arrived, so many times. */
async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i += 1) await new Promise((resolve) => setImmediate(resolve));
}

const later = (ms: number) => performance.now() + ms;

describe('requests that come in pieces', () => {
  const two = `\r\n${post('{"a":1}')}\r\n${head('PUT /y HTTP/1.1', 'Transfer-Encoding: chunked')}3;x\r\nabc\r\n0\r\nT: u\r\n\r\n`;

  test('are the same wherever they are cut', async () => {
    for (let at = 1; at < two.length; at += 1) {
      const { seen, ...server } = echoing();
      const { client, socket } = await accept(server);

      client.send(two.slice(0, at));
      await untilRead(socket, at);
      client.send(two.slice(at));
      const answers = await client.answers(2);

      expect(seen, `cut at ${at}`).toEqual(['POST /x {"a":1}', 'PUT /y abc']);
      expect(answers.map(({ body }) => body)).toEqual(['{"a":1}', 'abc']);
      client.end();
    }
  });

  test('are the same byte by byte', async () => {
    const { seen, ...server } = echoing();
    const { client, socket } = await accept(server);

    for (let at = 0; at < two.length; at += 1) {
      client.send(two.charAt(at));
      await untilRead(socket, at + 1);
    }
    await client.answers(2);

    expect(seen).toEqual(['POST /x {"a":1}', 'PUT /y abc']);
  });

  test.each([
    ['a length', (body: string) => post(body)],
    [
      'chunks',
      (body: string) =>
        `${head('POST /x HTTP/1.1', 'Transfer-Encoding: chunked')}${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`,
    ],
  ])('a request in the body of another one is its body, with %s', async (_name, make) => {
    const inner = `${get('/evil')}0\r\n\r\n${get('/evil')}`;
    const text = make(inner) + get('/next');

    for (const at of [1, text.indexOf('GET /evil'), text.indexOf('0\r\n\r\nGET'), text.length - 5]) {
      const { seen, ...server } = echoing();
      const { client, socket } = await accept(server);
      client.send(text.slice(0, at));
      await untilRead(socket, at);
      client.send(text.slice(at));
      await client.answers(2);

      expect(seen).toEqual([`POST /x ${inner}`, 'GET /next ']);
      client.end();
    }
  });

  test('what can be no request is not waited for', async () => {
    for (const begun of ['\x16\x03', 'get ', '\r\r', 'GET / HTTP/1.1\n']) {
      const { client } = await accept();

      client.send(begun);

      expect((await client.answersUntilClose()).map(({ status }) => status)).toEqual([400]);
    }
  });
});

describe('a request that ends its connection', () => {
  test.each([
    ['of HTTP/1.0', 'POST /x HTTP/1.0\r\nContent-Length: 2\r\n\r\n{}'],
    ['with Connection: close', post('{}', 'Connection: close')],
    ['with an Upgrade', post('{}', 'Connection: upgrade', 'Upgrade: h2c')],
  ])('%s is the last one', async (_name, last) => {
    const { seen, ...server } = echoing();
    const { client } = await accept(server);

    client.send(post('1') + last + post('3'));

    expect((await client.answersUntilClose()).map(({ body }) => body)).toEqual(['1', '{}']);
    expect(seen).toEqual(['POST /x 1', 'POST /x {}']);
  });

  test('by a body that was not waited for, which comes all the same, is the last one', async () => {
    const targets: string[] = [];
    const { client } = await accept({
      onRequest: (request, response) => {
        targets.push(request.target);
        give(response, 'no');
      },
    });

    client.send(post('x'.repeat(100_000)) + get('/behind'));

    expect((await client.answersUntilClose()).map(({ body }) => body)).toEqual(['no']);
    expect(targets).toEqual(['/x']);
  });

  test('by being malformed is the last one, but those before it are answered', async () => {
    const { client, next } = await accept();
    client.send(`${get('/a')}${head('POST /b HTTP/1.1', 'Transfer-Encoding: chunked')}zz\r\n${get('/c')}`);
    const [first, second] = [await next(), await next()];
    const body = reader();
    second.request.read(body);
    expect(await body.outcome).toBe('request.framing');

    give(second.response, 'malformed');
    give(first.response, 'fine');

    expect((await client.answersUntilClose()).map((answer) => answer.body)).toEqual(['fine', 'malformed']);
  });
});

describe('what is no request, behind answers that are open', () => {
  const refused: [string, string, number][] = [
    ['garbage', 'garbage\r\n\r\n', 400],
    ['what can not become a head', '\x16\x03', 400],
    ['two Hosts', head('GET /c HTTP/1.1', 'Host: b'), 400],
    ['an Expect that nobody knows', post('{}', 'Expect: x'), 417],
    ['a head that is too large', head('GET /c HTTP/1.1', `X: ${'x'.repeat(20_000)}`), 431],
    ['CONNECT', head('CONNECT a:1 HTTP/1.1'), 404],
  ];

  test.each(refused)('%s is refused when they are over', async (_name, text, status) => {
    const { client, socket, next } = await accept();
    const all = `${get('/a')}${get('/b')}${text}${get('/d')}`;
    client.send(all);
    const [first, second] = [await next(), await next()];
    await untilRead(socket, all.length);

    second.response.writeHead(200, ['content-length', '6']);
    second.response.write(Buffer.from('sec'));
    give(first.response, 'first');
    await client.until((received) => received.endsWith('sec'));
    await turns(3);
    expect(client.isClosed).toBe(false);
    second.response.end(Buffer.from('ond'));

    const answers = await client.answersUntilClose();
    expect(answers.map((answer) => answer.status)).toEqual([200, 200, status]);
    expect(answers.slice(0, 2).map(({ body }) => body)).toEqual(['first', 'second']);
    expect(answers[2]?.headers.get('connection')).toBe('close');
  });

  test('is not spoken of behind an answer that ends the connection, or is cut', async () => {
    for (const isCut of [true, false]) {
      const { client, socket, next } = await accept();
      const all = `${get('/a')}garbage\r\n\r\n`;
      client.send(all);
      const { response } = await next();
      await untilRead(socket, all.length);
      response.closes = true;
      response.writeHead(200, ['content-length', '4']);
      response.write(Buffer.from('ha'));

      if (isCut) response.breakOff(Buffer.alloc(0));
      else response.end(Buffer.from('lf'));

      await client.closed;
      expect(client.received.endsWith(isCut ? '\r\n\r\nha' : '\r\n\r\nhalf')).toBe(true);
    }
  });
});

describe('behind an answer that was broken off', () => {
  test('nothing is run', async () => {
    const targets: string[] = [];
    const { client } = await accept({
      onRequest: (request, response) => {
        targets.push(request.target);
        response.writeHead(200, []);
        response.breakOff(Buffer.from('half'));
      },
    });

    client.send(get('/a') + get('/b'));
    await client.closed;

    expect(targets).toEqual(['/a']);
  });

  test('nothing more is run where others were before it was', async () => {
    const targets: string[] = [];
    const responses: HttpResponse[] = [];
    const { client, socket } = await accept({
      onRequest: (request, response) => {
        targets.push(request.target);
        responses.push(response);
      },
    });
    const begun = get('/a') + get('/b') + get('/c');
    client.send(begun);
    await untilRead(socket, begun.length);

    responses[1]?.breakOff(Buffer.alloc(0));
    client.send(get('/d'));
    await untilRead(socket, begun.length + get('/d').length);
    for (const response of responses.slice(0, 1)) give(response, 'a');

    expect((await client.answersUntilClose()).map(({ body }) => body)).toEqual(['a']);
    expect(targets).toEqual(['/a', '/b', '/c']);
  });
});

test('an answer that goes on until its connection ends is cut with a reset, also where only its writer is done', async () => {
  const { client, socket, connection, next } = await accept();
  const reset = vi.spyOn(socket, 'resetAndDestroy');
  client.socket.pause();
  client.send('GET /x HTTP/1.0\r\n\r\n');
  const { response } = await next();
  response.writeHead(200, []);
  response.end(Buffer.alloc(50_000_000, 'x'));

  connection.destroy();
  await new Promise<void>((resolve) => response.onClose(resolve));

  // Not seen by a client in Node, which takes a reset behind unread bytes for an end.
  expect(reset).toHaveBeenCalledOnce();
  expect(response.isFinished).toBe(false);
});

describe('time', () => {
  test('an idle connection is told that it may be used for a minute, and closed a little later', async () => {
    const { client, connection, next } = await accept();
    client.send(get('/'));
    const { response } = await next();
    give(response, 'a');
    const answer = await client.answer();
    await new Promise<void>((resolve) => response.onClose(resolve));

    connection.checkTime(later(61_000));
    client.send(get('/again'));
    give((await next()).response, 'b');
    await client.answers(2);
    connection.checkTime(later(66_000));
    await client.closed;

    expect(answer.headers.get('keep-alive')).toBe('timeout=60');
    expect(parseAnswers(client.received).map(({ body }) => body)).toEqual(['a', 'b']);
  });

  test('a connection that says nothing is told that it is late', async () => {
    const { client, connection } = await accept();

    connection.checkTime(later(headMs - 1_000));
    expect(client.isClosed).toBe(false);
    connection.checkTime(later(headMs));

    expect((await client.answersUntilClose()).map(({ status }) => status)).toEqual([408]);
  });

  test('a head that is begun on an idle connection has its own time, however it drips', async () => {
    const { client, connection, next, socket } = await accept();
    const before = get('/').length;
    client.send(get('/'));
    const { response } = await next();
    give(response, 'a');
    await new Promise<void>((resolve) => response.onClose(resolve));
    client.send('GET');
    await untilRead(socket, before + 3);
    const begunAt = performance.now();
    client.send(' /');
    await untilRead(socket, before + 5);

    connection.checkTime(begunAt + headMs);

    expect((await client.answersUntilClose()).map(({ status }) => status)).toEqual([200, 408]);
  });

  test('is the handler’s own as long as a body or an answer is open', async () => {
    const { client, connection, next } = await accept();
    client.send(post('{}').slice(0, -1));
    const { request, response } = await next();
    const body = reader();
    request.read(body);

    connection.checkTime(later(1_000_000));
    client.send('}GET / HT');
    await body.outcome;
    connection.checkTime(later(1_000_000));
    give(response, 'done');
    await client.answer();
    client.send('TP/1.1\r\n\r\n');

    expect((await next()).request.target).toBe('/');
  });
});

describe('a client that leaves in the middle of a body', () => {
  test.each([
    ['a length', head('POST /x HTTP/1.1', 'Content-Length: 9')],
    ['chunks', `${head('POST /x HTTP/1.1', 'Transfer-Encoding: chunked')}9\r\n`],
  ])('of %s fails it, for who reads it and for who asks later', async (_name, text) => {
    for (const leave of ['reset', 'end'] as const) {
      const early = reader();
      const late = reader();
      const { client, next, socket } = await accept();
      client.send(`${text}abc`);
      const { request, response } = await next();
      if (leave === 'end') request.read(early);
      await untilRead(socket, text.length + 3);

      client[leave]();
      await new Promise<void>((resolve) => response.onClose(resolve));
      if (leave === 'reset') request.read(late);

      const { got, outcome } = leave === 'end' ? early : late;
      expect([got.text, await outcome]).toEqual(['abc', 'client.left']);
      expect([request.isComplete, request.whole()]).toEqual([false, undefined]);
    }
  });
});

describe('a body that its handler does not ask for yet', () => {
  test('is held, and given whole', async () => {
    const { client, next, socket } = await accept();
    const text = post('{"a":1}');
    client.send(text.slice(0, -3));
    const { request, response } = await next();
    expect(request.whole()).toBeUndefined();
    client.send(text.slice(-3));
    await untilRead(socket, text.length);
    const body = reader();

    request.read(body);

    expect(await body.outcome).toBe('whole');
    expect(body.got.text).toBe('{"a":1}');
    give(response, 'done');
    expect((await client.answer()).body).toBe('done');
  });

  test('that came with its head needs no reading', async () => {
    const { client, next } = await accept();
    client.send(post('{}'));

    expect((await next()).request.whole()?.toString()).toBe('{}');
  });

  test('is not taken from the client beyond a little, until the handler asks', async () => {
    const { client, next, socket } = await accept();
    const bytes = 10_000_000;
    client.send(head('POST /x HTTP/1.1', `Content-Length: ${bytes}`)).send(Buffer.alloc(bytes, 'x'));
    const { request, response } = await next();
    while (!socket.isPaused()) await turns(1);

    await turns(100);

    // What is held, one read beyond it, and what the socket itself keeps ready.
    expect(socket.bytesRead).toBeLessThan(64 * 1024 * 4);
    const body = reader();
    request.read(body);
    expect(await body.outcome).toBe('whole');
    expect(body.got.bytes).toBe(bytes);
    give(response, 'done');
    expect((await client.answer()).headers.get('connection')).toBe('keep-alive');
  });

  test('does not stop its connection once it is here, though it is never asked for', async () => {
    const { client, next, socket } = await accept();
    const text = post('x'.repeat(70_000));
    client.send(text.slice(0, 60_000));
    const { response } = await next();
    await untilRead(socket, 60_000);
    // With the last piece it is more than is held, and whole.
    client.send(text.slice(60_000));
    await untilRead(socket, text.length);

    give(response, 'a');
    client.send(get('/next'));

    expect((await next()).request.target).toBe('/next');
  });

  test('does not keep a refused client from reading its refusal', async () => {
    const { client, next, socket } = await accept();
    client.send(head('POST /x HTTP/1.1', 'Content-Length: 10000000')).send(Buffer.alloc(5_000_000, 'x'));
    const { response } = await next();
    while (!socket.isPaused()) await turns(1);

    give(response, 'no');

    expect((await client.answersUntilClose()).map(({ body }) => body)).toEqual(['no']);
  });
});

describe('what has arrived and waits for the end of the turn', () => {
  /** Does something in that moment. */
  async function meanwhile(text: string, act: (connection: Connection) => void): Promise<Accepted> {
    holdClock();
    const accepted = await accept();
    accepted.socket.once('data', () => act(accepted.connection));
    accepted.client.send(text);
    await untilRead(accepted.socket, text.length);
    await turns(2);
    return accepted;
  }

  test.each([
    ['is overdue', (connection: Connection) => connection.checkTime(later(1_000_000))],
    ['ends because the server stops', (connection: Connection) => connection.drain()],
  ])('is served though its connection %s', async (_name, act) => {
    const { client, next } = await meanwhile(get('/'), act);

    give((await next()).response, 'a');

    expect((await client.answer()).body).toBe('a');
  });

  test('is served though the client ends its half', async () => {
    holdClock();
    const { client, socket } = await accept(echoing());
    socket.pause();
    client.send(post('last'));
    await untilRead(socket, post('last').length);
    client.socket.end();
    await turns(2);
    socket.resume();

    expect((await client.answersUntilClose()).map(({ body }) => body)).toEqual(['last']);
  });

  test('keeps no connection of a server that stops where it is nothing', async () => {
    const { client } = await meanwhile('\r\n', (connection) => connection.drain());

    expect(await client.answersUntilClose()).toEqual([]);
  });
});

describe('Upgrade', () => {
  const upgrade = head('GET /x HTTP/1.1', 'Connection: Upgrade', 'Upgrade: echo');
  const takeOver: NonNullable<Server['onUpgrade']> = (request, socket, begun) => {
    socket.write(`HTTP/1.1 101 Switching Protocols\r\n\r\n${request.target} ${begun.toString()}`);
    socket.pipe(socket);
  };

  test('hands the socket over, with what came behind the head', async () => {
    const { client, connection } = await accept({ onUpgrade: takeOver });
    client.send(`${upgrade}hello`);
    await client.until((received) => received.endsWith('/x hello'));

    client.send(get('/is-no-request'));
    connection.checkTime(later(1_000_000));
    connection.drain();

    await client.until((received) => received.endsWith(get('/is-no-request')));
  });

  test('keeps what comes before the other side listens', async () => {
    const upgraded = queue<Socket>();
    const { client, socket } = await accept({ onUpgrade: (_request, taken) => upgraded.put(taken) });
    client.send(upgrade);
    const taken = await upgraded.take();
    client.send('early');
    await untilRead(socket, upgrade.length + 5);
    await turns(3);

    const [bytes] = await once(taken, 'data');

    expect(String(bytes)).toBe('early');
  });

  test('keeps what comes in the turn in which the head still waits', async () => {
    holdClock();
    const upgraded = queue<Socket>();
    const { client, socket } = await accept({ onUpgrade: (_request, taken) => upgraded.put(taken) });
    socket.pause();
    client.send(upgrade);
    await untilRead(socket, upgrade.length);
    client.send('early');
    await untilRead(socket, upgrade.length + 5);
    socket.resume();
    const taken = await upgraded.take();

    const [bytes] = await once(taken, 'data');

    expect(String(bytes)).toBe('early');
  });

  test('in HTTP/1.0 is answered as if it had none', async () => {
    const { client, next } = await accept({ onUpgrade: takeOver });
    client.send('GET /x HTTP/1.0\r\nConnection: upgrade, keep-alive\r\nUpgrade: echo\r\n\r\n');

    give((await next()).response, 'none');

    const answer = await client.answer();
    expect([answer.body, answer.headers.get('connection')]).toEqual(['none', 'keep-alive']);
  });

  test('behind an answer that is open is answered as if it had none', async () => {
    const { client, next } = await accept({ onUpgrade: takeOver });
    client.send(get('/a') + upgrade);

    for (const { request, response } of [await next(), await next()]) give(response, request.target);

    expect((await client.answersUntilClose()).map(({ body }) => body)).toEqual(['/a', '/x']);
  });
});
