import { randomBytes } from 'node:crypto';
import { setImmediate as nextTick } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { HttpResponse } from '../../src/http/response.ts';
import { TickQueue } from '../../src/lib/tick-queue.ts';
import type { RawConnection } from '../kit/raw.ts';
import { get, give, type Serving, serve } from './serving.ts';

interface Asked extends Serving {
  readonly client: RawConnection;
  readonly response: HttpResponse;
}

/** A client that has sent a request, and the answer to it, which the test writes. */
async function ask(text = get('/')): Promise<Asked> {
  const serving = await serve();
  const client = serving.open().send(text);
  const { response } = await serving.next();
  return { ...serving, response, client };
}

/** Two answers of one connection. */
async function askTwice() {
  const serving = await ask(get('/first') + get('/second'));
  const { response: second } = await serving.next();
  return { ...serving, first: serving.response, second };
}

/** The head of a stream, and its first piece. */
function begin(response: HttpResponse, text: string): void {
  response.writeHead(200, []);
  response.write(Buffer.from(text));
}

const closed = (response: HttpResponse) => new Promise<void>((resolve) => response.onClose(resolve));
const bodyOf = ({ received }: RawConnection) => received.slice(received.indexOf('\r\n\r\n') + 4);
const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;
const whole = (received: string) => received.endsWith('\r\n0\r\n\r\n');

describe('a body of unknown length', () => {
  test('may have its last piece with its end, and its head before all pieces', async () => {
    const { client, response } = await ask();

    response.writeHead(200, []);
    response.flushHead();
    await client.until((received) => received.endsWith('\r\n\r\n'));
    response.end(Buffer.from('last'));

    await client.until(whole);
    expect(bodyOf(client)).toBe('4\r\nlast\r\n0\r\n\r\n');
  });

  test('has each piece behind its flushed head as a chunk of its own, whatever bytes and however many', async () => {
    const { client, response } = await ask();
    const pieces = [Buffer.from('é\r\n'), randomBytes(16), randomBytes(16_384), randomBytes(16_385)];

    response.writeHead(200, []);
    response.flushHead();
    for (const piece of pieces) response.write(piece);
    response.end();

    await client.until(whole);
    const chunks = pieces.map((piece) => chunk(piece.toString('latin1'))).join('');
    expect(bodyOf(client)).toBe(`${chunks}0\r\n\r\n`);
  });

  test('writes nothing for an empty piece, above all not the last chunk', async () => {
    const { client, response } = await ask();
    begin(response, 'half');

    expect(response.write(Buffer.alloc(0))).toBe(true);
    response.breakOff(Buffer.alloc(0));

    await client.closed;
    expect(bodyOf(client)).toBe('4\r\nhalf\r\n');
  });

  test('is complete with its end: what is written afterwards is dropped', async () => {
    const { client, response } = await ask();
    response.writeHead(200, []);
    response.end(Buffer.from('all'));

    response.write(Buffer.from('more'));
    response.end(Buffer.from('more'));
    response.breakOff(Buffer.from('more'));
    await closed(response);

    await client.until(whole);
    expect(bodyOf(client)).toBe('3\r\nall\r\n0\r\n\r\n');
    expect(client.isClosed).toBe(false);
  });
});

describe('a body of a known length', () => {
  test.each([0, 1, 16_384, 16_385, 3_000_000])('of %i bytes arrives as it was given', async (bytes) => {
    const { client, response } = await ask();
    const body = randomBytes(bytes);

    response.writeHead(200, ['content-length', String(bytes)]);
    response.end(body);

    const answer = await client.answer();
    expect(answer.body.equals(body)).toBe(true);
    await closed(response);
    expect(response.isFinished).toBe(true);
  });

  test.each([
    ['a 204', get('/'), 204],
    ['a 304', get('/'), 304],
    ['an answer to HEAD', 'HEAD / HTTP/1.1\r\nHost: a\r\n\r\n', 200],
  ])('has none behind %s, which a client takes for whole at its head', async (_what, text, status) => {
    const { client, response, next } = await ask(text);
    response.writeHead(status, ['x-a', 'none']);
    response.write(Buffer.from('piece'));
    response.end(Buffer.from('piece'));
    client.send(get('/again'));
    give((await next()).response, 'next');

    await client.until((received) => received.endsWith('next'));

    const [first = '', second] = client.received.split('\r\n\r\n');
    expect(first).toContain('\r\nx-a: none\r\n');
    expect(first).not.toMatch(/transfer-encoding|content-length/);
    expect(second).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  });
});

describe('headers', () => {
  test.each(['a\r\nset-cookie: b', 'a\n', '\r', '\0', '\x1f', '\x7f', 'Ā', '😀'])(
    '%j cannot be one, and another answer may be given instead',
    async (value) => {
      const { client, response } = await ask();

      expect(() => response.writeHead(200, ['x-a', value])).toThrow(TypeError);
      expect(response.headersSent).toBe(false);
      give(response, 'instead');

      const { status, body } = await client.answer();
      expect([status, String(body)]).toEqual([200, 'instead']);
      expect(client.received).not.toMatch(/x-a|transfer-encoding/);
    },
  );

  test.each([
    [get('/'), 'keep-alive', 'timeout=60'],
    [get('/', 'Connection: close'), 'close', undefined],
    ['GET / HTTP/1.0\r\n\r\n', 'close', undefined],
    ['GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n', 'keep-alive', 'timeout=60'],
  ])('to %j tell what becomes of the connection', async (text, connection, keepAlive) => {
    const { client, response, next } = await ask(text);

    give(response, 'done');

    const { headers } = await client.answer();
    expect([headers.get('connection')?.[0], headers.get('keep-alive')?.[0]]).toEqual([connection, keepAlive]);
    expect(headers.get('date')?.[0]).toMatch(/^\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT$/);
    if (connection === 'close') return client.closed;
    client.send(get('/again'));
    expect((await next()).request.target).toBe('/again');
  });
});

describe('an answer that is not begun with one head', () => {
  test('is written behind its head, and keeps that if a second one is written', async () => {
    const { client, response } = await ask();

    expect(() => response.write(Buffer.from('a'))).toThrow('an answer begins with its head');
    expect(() => response.end(Buffer.from('a'))).toThrow('an answer begins with its head');
    response.writeHead(200, ['content-length', '4', 'x-a', 'first']);
    expect(() => response.writeHead(500, ['x-a', 'second'])).toThrow('an answer has only one head');
    response.end(Buffer.from('body'));

    const answer = await client.answer();
    expect([answer.status, answer.headers.get('x-a'), String(answer.body)]).toEqual([200, ['first'], 'body']);
  });

  test('can be broken off, without an error event before its head', async () => {
    const { client, response } = await ask();

    response.breakOff(Buffer.from('words'));
    response.write(Buffer.from('more'));
    response.end();

    await client.closed;
    expect(client.received).toBe('');
    await closed(response);
    expect(response.isFinished).toBe(false);
  });
});

describe('an answer that lasts until its connection ends', () => {
  const old = 'GET / HTTP/1.0\r\n\r\n';

  /** How the connection ends. */
  const ending = ({ socket }: RawConnection) =>
    new Promise<string>((resolve) => {
      socket.once('end', () => resolve('as if it were whole'));
      socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? ''));
    });

  test.each([
    ['where it is broken off', ({ response }: Asked) => response.breakOff(Buffer.alloc(0))],
    ['where the client ends its half before', ({ client }: Asked) => client.socket.end()],
    ['where the server’s time to stop is over', ({ listener }: Asked) => listener.drain()],
  ])('is cut with a reset %s', async (_where, cut) => {
    const asked = await ask(old);
    const { client, response } = asked;
    const ended = ending(client);
    begin(response, 'half');
    await client.until((received) => received.endsWith('half'));

    await cut(asked);

    expect(await ended).toBe('ECONNRESET');
    await closed(response);
    expect(response.isFinished).toBe(false);
  });

  test('ends as a whole one where it is, though the client’s half ends before all has left', async () => {
    const { client, response } = await ask(old);
    const ended = ending(client);
    client.socket.pause();
    response.writeHead(200, []);
    response.end(Buffer.alloc(10_000_000, 'x'));
    client.socket.end();

    client.socket.resume();

    expect(await ended).toBe('as if it were whole');
    expect(bodyOf(client)).toHaveLength(10_000_000);
  });
});

describe('the end of an answer that is settled', () => {
  /** A tick that lasts as long as a test wants. */
  class HeldTicks extends TickQueue {
    isHeld = true;
    readonly steps: (() => void)[] = [];

    override get isBusy(): boolean {
      return this.isHeld;
    }

    override later(step: () => void): void {
      if (this.isHeld) this.steps.push(step);
      else super.later(step);
    }

    end(): void {
      this.isHeld = false;
      for (const step of this.steps.splice(0)) step();
    }
  }

  /** Answers of a tick that is about to end, each to a client of its own. */
  async function endInTick(bodies: readonly string[], waiting: () => Promise<void> | undefined) {
    const ticks = new HeldTicks();
    const { open, next } = await serve({ ticks });
    const events: string[] = [];
    const clients = bodies.map(() => open());
    const asked = [];
    for (const [i, client] of clients.entries()) {
      client.send(get(`/${i}`));
      await expect.poll(() => ticks.steps.length).toBeGreaterThan(0);
      for (const step of ticks.steps.splice(0)) step();
      asked.push(await next());
    }
    for (const [i, { response }] of asked.entries()) {
      response.beforeEnd({
        settle: () => events.push(`${i} ends`),
        commit: () => {
          events.push(`${i} leaves`);
          return waiting();
        },
      });
      give(response, bodies[i] ?? '');
    }
    return { ticks, events, clients, responses: asked.map(({ response }) => response) };
  }

  test('leaves at the end of the tick, when all that end in it are settled', async () => {
    const { ticks, events, clients } = await endInTick(['first', 'second'], () => undefined);
    const before = [...events];

    ticks.end();

    expect(before).toEqual(['0 ends', '1 ends']);
    expect(events).toEqual(['0 ends', '1 ends', '0 leaves', '1 leaves']);
    for (const [i, text] of ['first', 'second'].entries()) {
      await clients[i]?.until((received) => received.endsWith(text));
    }
  });

  test.each([9, 16_385])('of %i bytes waits until that is written down', async (bytes) => {
    let written: () => void = () => undefined;
    const waiting = new Promise<void>((resolve) => {
      written = resolve;
    });
    const { ticks, clients, responses } = await endInTick(['x'.repeat(bytes)], () => waiting);
    ticks.end();
    for (let tick = 0; tick < 5; tick += 1) await nextTick();
    const received = clients[0]?.received;

    written();

    expect([received, responses[0]?.isEnded]).toEqual(['', true]);
    await clients[0]?.until((text) => text.endsWith('x'.repeat(bytes)));
  });

  test('leaves, settled, when its client ends its half', async () => {
    const { ticks, events, clients } = await endInTick(['whole'], () => undefined);
    ticks.isHeld = false; // others have ended since

    clients[0]?.socket.end();

    await clients[0]?.until((received) => received.endsWith('whole'));
    ticks.end();
    expect(events).toEqual(['0 ends', '0 leaves']);
  });

  test('is written down if its client has left by then', async () => {
    const { ticks, events, clients, responses } = await endInTick(['lost'], () => undefined);
    clients[0]?.socket.resetAndDestroy();
    await Promise.all(responses.map(closed));

    ticks.end();

    expect(events).toEqual(['0 ends', '0 leaves']);
  });
});

describe('an answer after another one', () => {
  test('waits for its turn', async () => {
    const { client, first, second } = await askTwice();
    give(second, 'x'.repeat(100_000));
    give(first, 'first');

    const answers = await client.answers(2);

    expect(answers.map(({ body }) => body.length)).toEqual([5, 100_000]);
  });

  test('that has begun before its turn goes on in chunks, in their order', async () => {
    const { client, first, second } = await askTwice();
    second.writeHead(200, []);
    second.flushHead();
    second.write(Buffer.from('a'));
    give(first, 'whole');
    await closed(first);

    second.write(Buffer.from('b'));
    second.end(Buffer.from('c'));

    await client.until(whole);
    expect(client.received.endsWith(`\r\n\r\n${chunk('a')}${chunk('b')}${chunk('c')}0\r\n\r\n`)).toBe(true);
  });

  test('that is broken off waits for its turn, and then cuts the connection', async () => {
    const { client, first, second } = await askTwice();
    begin(second, 'half');
    second.breakOff(Buffer.from('sorry'));
    give(first, 'whole');

    await client.closed;

    expect(client.received).toMatch(/\r\n\r\nwholeHTTP\/1\.1 200 OK\r\n/);
    expect(client.received.endsWith(`\r\n\r\n${chunk('half')}${chunk('sorry')}`)).toBe(true);
    await closed(second);
    expect([first.isFinished, second.isFinished]).toEqual([true, false]);
  });

  test('is lost with one that is broken off', async () => {
    const { client, first, second } = await askTwice();
    give(second, 'never seen');
    first.writeHead(200, ['content-length', '10']);
    first.breakOff(Buffer.from('half'));

    await client.closed;
    await closed(second);

    expect(bodyOf(client)).toBe('half');
    expect([first.isFinished, second.isFinished]).toEqual([false, false]);
  });
});

describe('a client that does not read', () => {
  test.each([
    { size: 100_000, isFlushed: false },
    { size: 1_000, isFlushed: true },
  ])('makes the writer of $size bytes pause until it does', async ({ size, isFlushed }) => {
    const { client, response } = await ask();
    client.socket.pause();
    const piece = Buffer.alloc(size, 'x');
    let written = 0;
    response.writeHead(200, []);
    if (isFlushed) response.flushHead();
    while (response.write(piece) && written < 100_000_000) written += piece.length;
    expect(written).toBeLessThan(50_000_000);
    let times = 0;
    const goOn = new Promise<void>((resolve) =>
      response.onDrain(() => {
        times += 1;
        resolve();
      }),
    );

    client.socket.resume();
    await goOn;
    response.end();

    await client.until(whole);
    expect(times).toBe(1);
  });

  test('loses the connection a while after its answer was broken off', async () => {
    const { client, response } = await ask();
    client.socket.pause();
    const piece = Buffer.alloc(100_000, 'x');
    response.writeHead(200, []);
    for (let i = 0; i < 200; i += 1) response.write(piece);

    response.breakOff(Buffer.from('sorry'));

    await closed(response);
    expect(response.isFinished).toBe(false);
  });
});

describe('a client that leaves', () => {
  test('ends every answer of its connection, also queued ones', async () => {
    const { client, first, second } = await askTwice();
    begin(second, 'a');

    client.reset();
    await Promise.all([closed(first), closed(second)]);

    expect([first, second].map(({ isClosed, isFinished }) => [isClosed, isFinished])).toEqual([
      [true, false],
      [true, false],
    ]);
    expect(second.write(Buffer.from('b'))).toBe(true);
  });

  test('is reported immediately if it has already left, and later writes do no harm', async () => {
    const { client, response } = await ask();
    client.reset();
    await closed(response);
    let isTold = false;

    response.onClose(() => {
      isTold = true;
    });
    response.writeHead(200, []);
    response.write(Buffer.from('a'));
    response.end();

    expect(isTold).toBe(true);
    expect(response.isFinished).toBe(false);
  });
});
