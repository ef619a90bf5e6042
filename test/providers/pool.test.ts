import { createServer } from 'node:net';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { collectGarbage } from '../../src/gateway/collect-garbage.ts';
import { PieceBudget, TickQueue } from '../../src/lib/tick-queue.ts';
import { type HostRequest, Pool } from '../../src/providers/transport/pool.ts';
import { listening } from '../kit/listening.ts';
import { type RawRequest, startRawHost } from '../kit/raw-host.ts';
import { Reader, until } from './wire.ts';

const timeouts = { connectMs: 60_000, headersMs: 60_000, idleMs: 60_000 };
const small: HostRequest = { method: 'POST', path: '/a?b', headers: [], body: Buffer.from('{}') };
const ok = 'HTTP/1.1 200 OK\r\n';

afterEach(() => {
  vi.useRealTimers();
});

function poolAt(origin: string, changed: Partial<typeof timeouts> = {}, ticks?: TickQueue): Pool {
  const pool = new Pool(origin, { timeouts: { ...timeouts, ...changed }, ...(ticks && { ticks }) });
  onTestFinished(() => pool.close());
  return pool;
}

function ask(pool: Pool, request: Partial<HostRequest> = {}, reader = new Reader()): Reader {
  pool.send({ ...small, ...request }, reader.upstream);
  return reader;
}

/** Asks, and lets the turn of the event loop pass in which the answer ended. */
async function askAndRest(pool: Pool, request: Partial<HostRequest> = {}, reader = new Reader()) {
  const outcome = await ask(pool, request, reader).outcome;
  await until(() => true);
  return outcome;
}

/** A host that tells each request over which connection it came. */
function numbering({ lines = '', behind = '' } = {}) {
  return ({ socket, connection }: RawRequest) => {
    const body = String(connection);
    socket.write(`${ok}${lines}content-length: ${body.length}\r\n\r\n${body}${behind}`);
  };
}

/** The pool's clock stands still but for what `vi` is told; sockets go on. */
function holdClock(): void {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
}

describe('connections', () => {
  test('rest for the turn of the event loop in which their answer ended', async () => {
    const host = await startRawHost(numbering());
    const pool = poolAt(host.url);
    const second = new Reader();
    const first = new Reader();
    void first.outcome.then(() => ask(pool, {}, second));
    ask(pool, {}, first);

    expect((await second.outcome).body).toBe('2');
    await until(() => true);
    expect((await ask(pool).outcome).failure).toBeUndefined();
    expect(host.connections()).toBe(2);
  });

  test('keep nothing of an exchange that is over', async () => {
    const host = await startRawHost(numbering());
    const pool = poolAt(host.url);
    const asked = async () => {
      const reader = new Reader();
      await askAndRest(pool, { body: Buffer.alloc(100_000, ' ') }, reader);
      return new WeakRef(reader.upstream);
    };
    const upstream = await asked();
    for (let turns = 0; turns < 10 && upstream.deref() !== undefined; turns += 1) {
      await until(() => true);
      collectGarbage();
    }

    expect(upstream.deref()).toBeUndefined();
    expect(host.connections()).toBe(1);
  });

  test.each([
    ['a byte too much', { behind: 'x' }],
    ['an answer too much', { behind: `${ok}content-length: 4\r\n\r\nevil` }],
    ['connection: close', { lines: 'connection: close\r\n' }],
    ['connection: close and a byte too much', { lines: 'connection: close\r\n', behind: 'x' }],
    ['a host that closes it before long', { lines: 'keep-alive: timeout=2\r\n' }],
  ])('are not taken again behind %s', async (_name, options) => {
    const host = await startRawHost(numbering(options));
    const pool = poolAt(host.url);

    for (const body of ['1', '2', '3']) {
      expect(await askAndRest(pool)).toMatchObject({ body, failure: undefined });
    }
  });

  test('are not reused if extra bytes arrive in a separate read', async () => {
    // Of a read that fills the 64 KiB that there are for one, the next follows in the same turn.
    const readBytes = 64 * 1024;
    const evil = `${ok}content-length: 4\r\n\r\nevil`;
    const host = await startRawHost(({ socket, connection }) => {
      const length = 3 * readBytes - `${ok}content-length: 196000\r\n\r\n`.length;
      const body = String(connection).repeat(length);
      socket.write(`${ok}content-length: ${length}\r\n\r\n${body}${evil}${evil}${evil}`);
    });
    const pool = poolAt(host.url);

    for (const number of ['1', '2', '3']) {
      const outcome = await ask(pool).outcome;
      expect([[...new Set(outcome.body)], outcome.failure]).toEqual([[number], undefined]);
    }
  });

  test('are not reused by a request made as soon as the answer ends, if an extra byte follows it', async () => {
    const host = await startRawHost(numbering({ behind: `${ok}content-length: 4\r\n\r\nevil` }));
    const pool = poolAt(host.url);
    const second = new Reader();
    const first = new Reader();
    const end = first.end.bind(first);
    first.end = () => {
      end();
      ask(pool, {}, second);
    };
    ask(pool, {}, first);

    expect((await first.outcome).body).toBe('1');
    expect((await second.outcome).body).toBe('2');
  });
});

describe('idle connections', () => {
  test.each([
    ['nothing', '', 4_000],
    ['3 s', 'keep-alive: timeout=3\r\n', 1_000],
  ])(
    'are closed after four seconds, or two before the host does, which says %s',
    async (_what, lines, keptMs) => {
      holdClock();
      const host = await startRawHost(numbering({ lines }));
      const pool = poolAt(host.url);
      await askAndRest(pool);
      vi.advanceTimersByTime(keptMs - 500);
      expect((await askAndRest(pool)).body).toBe('1');
      vi.advanceTimersByTime(keptMs);
      await until(() => host.sockets.size === 0);

      expect((await askAndRest(pool)).body).toBe('2');
    },
  );

  test('are closed with the pool, immediately or after their answer', async () => {
    const waiting: RawRequest[] = [];
    const host = await startRawHost((request) => waiting.push(request));
    const pool = poolAt(host.url);
    const [first, second, third] = [ask(pool), ask(pool), ask(pool)];
    await until(() => waiting.length === 3);
    numbering()(waiting[0] as RawRequest);
    await Promise.race([first.outcome, second.outcome, third.outcome]);
    pool.close();
    await until(() => host.sockets.size === 2);
    for (const request of waiting.slice(1)) numbering()(request);

    const outcomes = await Promise.all([first.outcome, second.outcome, third.outcome]);
    expect(outcomes.map(({ failure }) => failure)).toEqual([undefined, undefined, undefined]);
    await until(() => host.sockets.size === 0);
    expect(await ask(pool).outcome).toMatchObject({
      failure: 'provider.unreachable',
      wasSent: false,
      cause: { message: 'the provider is no longer in use' },
    });
  });

  test('keep no clock going', async () => {
    holdClock();
    const host = await startRawHost(numbering());
    const pool = poolAt(host.url);
    await askAndRest(pool);
    expect(vi.getTimerCount()).toBe(1);
    vi.advanceTimersByTime(500);

    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('a time-out', () => {
  /** By the pool's clock, in steps that are finer than its own. */
  async function lateness(reader: Reader, limitMs: number, tolerableMs = 1_100): Promise<number> {
    for (let at = 0; at <= limitMs + tolerableMs; at += 100) {
      await until(() => true);
      if (reader.isOver) return at - limitMs;
      vi.advanceTimersByTime(100);
    }
    return Number.POSITIVE_INFINITY;
  }

  function expectInTime(lateMs: number): void {
    expect(lateMs).toBeGreaterThanOrEqual(0);
    expect(lateMs).toBeLessThanOrEqual(1_100);
  }

  test.each([0, 100, 300, 499])(
    'of the head is never early, and late by a second at most (%i)',
    async (phaseMs) => {
      holdClock();
      const waiting: RawRequest[] = [];
      const host = await startRawHost((request) => waiting.push(request));
      const pool = poolAt(host.url, { headersMs: 2_000 });
      ask(pool); // the clock runs already when the second one begins
      await until(() => waiting.length === 1);
      numbering()(waiting[0] as RawRequest);
      await until(() => true);
      vi.advanceTimersByTime(phaseMs);
      const reader = ask(pool);
      await until(() => waiting.length === 2);

      expectInTime(await lateness(reader, 2_000));
      expect((await reader.outcome).failure).toBe('provider.timeout');
    },
  );

  test('of the body is never early, and late by a second at most', async () => {
    holdClock();
    const waiting: RawRequest[] = [];
    const host = await startRawHost((request) => waiting.push(request));
    const reader = ask(poolAt(host.url, { idleMs: 2_000 }));
    await until(() => waiting.length === 1);
    waiting[0]?.socket.write(`${ok}\r\na`);
    await until(() => reader.text === 'a');
    vi.advanceTimersByTime(1_900);
    waiting[0]?.socket.write('b');
    await until(() => reader.text === 'ab');

    expectInTime(await lateness(reader, 2_000));
    expect(await reader.outcome).toMatchObject({ body: 'ab', failure: 'provider.timeout' });
  });

  test('of a peer that does not speak TLS', async () => {
    holdClock();
    let hasHello = false;
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => {
        hasHello = true;
      });
    });
    const { port } = await listening(server);
    const reader = ask(poolAt(`https://127.0.0.1:${port}`, { connectMs: 2_000 }));
    await until(() => hasHello);

    expectInTime(await lateness(reader, 2_000));
    expect(await reader.outcome).toMatchObject({ failure: 'provider.unreachable', wasSent: false });
  });
});

describe('a request', () => {
  test.each([
    ['127.0.0.1', '127.0.0.1'],
    ['::1', '[::1]'],
  ])('to %s names the host with its port', async (address, named) => {
    const heads: string[] = [];
    const host = await startRawHost((request) => {
      heads.push(request.head);
      numbering()(request);
    }, address);

    expect((await ask(poolAt(host.url), { headers: ['x-a', 'b'] }).outcome).body).toBe('1');
    expect(heads).toEqual([
      `POST /a?b HTTP/1.1\r\nhost: ${named}:${host.port}\r\nconnection: keep-alive\r\nx-a: b\r\ncontent-length: 2`,
    ]);
  });

  test.each([
    ['a line end in a value', { headers: ['x-a', 'b\r\nc: d'] }],
    ['a carriage return in a value', { headers: ['x-a', 'b\r'] }],
    ['a zero in a value', { headers: ['x-a', '\0'] }],
    ['a character whose lower byte is a line end', { headers: ['x-a', 'b\u010dc\u010a'] }],
    ['a blank in the path', { path: '/a b' }],
    ['a line end in the path', { path: '/a\r\nc: d' }],
    ['a character in the path whose lower byte is a line end', { path: '/\u010d\u010a' }],
  ])('with %s is not sent', async (_name, request) => {
    const host = await startRawHost(numbering());

    const outcome = await ask(poolAt(host.url), request).outcome;

    expect(outcome).toMatchObject({ status: 0, failure: 'provider.unreachable', wasSent: false });
    expect(outcome.cause?.message).toMatch(/^invalid (?:x-a header|request path)$/);
    expect(host.connections()).toBe(0);
  });
});

test('answers in single bytes from many hosts are read in turns, some pieces in each tick, and arrive whole', async () => {
  const pieces = 3_000;
  const budget = 100;
  const answer = Buffer.from(
    `${ok}transfer-encoding: chunked\r\n\r\n${'1\r\nx\r\n'.repeat(pieces)}0\r\n\r\n`,
  );
  const ticks = new TickQueue(new PieceBudget(budget));
  let inTick = 0;
  let most = 0;
  const count = (piece: Buffer) => {
    if (inTick === 0) {
      setImmediate(() => {
        inTick = 0;
      });
    }
    inTick += piece.length;
    most = Math.max(most, inTick);
    return true;
  };

  const readers: Reader[] = [];
  for (let number = 0; number < 5; number += 1) {
    const host = await startRawHost(({ socket }) => void socket.write(answer));
    readers.push(ask(poolAt(host.url, {}, ticks), {}, new Reader(count)));
  }
  const outcomes = await Promise.all(readers.map(({ outcome }) => outcome));

  expect(outcomes.map(({ body }) => body.length)).toEqual(Array.from({ length: 5 }, () => pieces));
  // In one tick two budgets may fall due, and each host's first piece after it.
  expect(most).toBeLessThan(3 * budget);
});

test('the end of a pause for the budget does not end one that the reader asked for', async () => {
  const answer = `${ok}transfer-encoding: chunked\r\n\r\n${'1\r\nx\r\n'.repeat(5)}0\r\n\r\n`;
  const host = await startRawHost(({ socket }) => void socket.write(answer));
  const pool = poolAt(host.url, {}, new TickQueue(new PieceBudget(1)));
  let pieces = 0;
  const reader: Reader = new Reader(() => {
    pieces += 1;
    // The reader goes on by itself before the budget is there, and then can't take more.
    if (pieces === 1) queueMicrotask(() => reader.upstream.resume());
    return pieces !== 2;
  });

  ask(pool, {}, reader);
  await until(() => pieces >= 2);
  for (let tick = 0; tick < 20; tick += 1) await new Promise((resolve) => setImmediate(resolve));
  const whilePaused = pieces;
  reader.upstream.resume();
  const { body } = await reader.outcome;

  expect({ whilePaused, length: body.length }).toEqual({ whilePaused: 2, length: 5 });
});

describe('what has arrived', () => {
  const chunks = (...texts: string[]) => texts.map((text) => `${text.length}\r\n${text}\r\n`).join('');

  test('with one read is piped as one piece', async () => {
    const answer = `${ok}transfer-encoding: chunked\r\n\r\n${chunks('a', 'bc', 'd')}0\r\n\r\n`;
    const host = await startRawHost(({ socket }) => void socket.write(answer));
    const reader = new Reader();

    await ask(poolAt(host.url), {}, reader).outcome;

    expect(reader.pieces.map(String)).toEqual(['abcd']);
  });

  /** The test says when a tick ends. */
  class HeldTicks extends TickQueue {
    readonly steps: (() => void)[] = [];

    override soon(step: () => void): void {
      this.steps.push(step);
    }

    end(): void {
      for (const step of this.steps.splice(0)) step();
    }
  }

  /** A tick in which these have arrived, and what is behind them. */
  async function tickOf(text: string) {
    const ticks = new HeldTicks();
    const host = await startRawHost(({ socket }) => {
      socket.write(`${ok}transfer-encoding: chunked\r\n\r\n`);
      void until(() => reader.upstream.status === 200).then(() => socket.write(text));
    });
    const reader: Reader = ask(poolAt(host.url, {}, ticks));
    await until(() => ticks.steps.length > 0);
    return { ticks, reader, upstream: reader.upstream };
  }

  test('in a tick is piped at its end, and then the end of the answer', async () => {
    const { ticks, reader, upstream } = await tickOf(`${chunks('a', 'b')}0\r\n\r\n`);

    const before = { pieces: reader.pieces.length, isOver: reader.isOver, isBehind: upstream.isBehind };
    ticks.end();

    expect(before).toEqual({ pieces: 0, isOver: false, isBehind: true });
    expect(reader.pieces.map(String)).toEqual(['ab']);
    expect([reader.isOver, upstream.isBehind]).toEqual([true, false]);
  });

  test('is piped earlier for a reader that must know all of it, and then once', async () => {
    const { ticks, reader, upstream } = await tickOf(chunks('a'));

    upstream.flush();
    const before = reader.pieces.map(String);
    ticks.end();

    expect([before, reader.pieces.map(String)]).toEqual([['a'], ['a']]);
  });

  test('is not piped any more once the answer is abandoned', async () => {
    const { ticks, reader, upstream } = await tickOf(chunks('a'));

    upstream.abort();
    ticks.end();

    expect(reader.pieces).toEqual([]);
  });
});
