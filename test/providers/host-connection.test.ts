import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { Turn } from '../../src/http/tick.ts';
import { HostConnection, type Keeper } from '../../src/providers/host-connection.ts';
import type { HostRequest } from '../../src/providers/pool.ts';
import { holdClock } from '../http/turning.ts';
import { Reader, startWireHost, until, type WireHost, type WireRequest } from './wire.ts';

const small: HostRequest = { method: 'POST', path: '/', headers: ['x-a', 'b'], body: Buffer.from('{}') };
const lines = 'POST / HTTP/1.1\r\nhost: h\r\n';
const timeouts = { connectMs: 1_000, headersMs: 2_000, idleMs: 3_000 };

class TestKeeper implements Keeper {
  readonly timeouts = timeouts;
  readonly turn = new Turn();
  nowMs = 0;
  /** What the connection said each time that it was free. */
  readonly freed: (number | undefined)[] = [];
  closedCount = 0;

  idle(_connection: HostConnection, forMs: number | undefined): void {
    this.freed.push(forMs);
  }

  closed(): void {
    this.closedCount += 1;
  }
}

const hosts: WireHost[] = [];
const sockets: Socket[] = [];

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await Promise.all(hosts.splice(0).map((host) => host.stop()));
});

async function start(...options: Parameters<typeof startWireHost>): Promise<WireHost> {
  const host = await startWireHost(...options);
  hosts.push(host);
  return host;
}

function open(port: number) {
  const socket = connect(port, '127.0.0.1');
  sockets.push(socket);
  const keeper = new TestKeeper();
  return { socket, keeper, connection: new HostConnection(socket, 'connect', keeper) };
}

/** A host that takes requests and answers nothing: the test writes what it likes to the last one's socket. */
async function silent(options: Parameters<typeof startWireHost>[1] = {}) {
  const requests: WireRequest[] = [];
  const host = await start((request) => requests.push(request), options);
  const { socket, keeper, connection } = open(host.port);
  return {
    host,
    socket,
    keeper,
    connection,
    requests,
    ask: async (reader = new Reader(), request = small) => {
      reader.upstream.begin(connection);
      connection.send(lines, request, reader.upstream);
      const count = requests.length + 1;
      await until(() => requests.length >= count);
      return { reader, there: (requests.at(-1) as WireRequest).socket };
    },
  };
}

/** One whose host writes an answer at once, and may end its side or reset behind it. */
async function answered(bytes: string, how: 'stay' | 'end' | 'reset' = 'stay', request = small) {
  const host = await silent();
  const { reader, there } = await host.ask(new Reader(), request);
  there.write(bytes, 'latin1', () => {
    if (how === 'end') there.end();
    if (how === 'reset') there.resetAndDestroy();
  });
  return { ...host, there, outcome: await reader.outcome };
}

const ok = 'HTTP/1.1 200 OK\r\n';

interface AnswerCase {
  readonly name: string;
  readonly bytes: string;
  readonly status?: number;
  readonly body: string;
  /** Whether the host ends its side behind it. */
  readonly ends?: true;
  readonly isKept: boolean;
}

const answers: readonly AnswerCase[] = [
  {
    name: 'a length',
    bytes: `${ok}request-id: r\r\ncontent-length: 12\r\n\r\nhello\r\n\r\nyou`,
    body: 'hello\r\n\r\nyou',
    isKept: true,
  },
  { name: 'the length 0', bytes: `${ok}request-id: r\r\ncontent-length: 0\r\n\r\n`, body: '', isKept: true },
  {
    name: 'chunks',
    bytes: `${ok}request-id: r\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhe\r\nl\r\nC;x="\xe9"\r\n, you there!\r\n0\r\n\r\n`,
    body: 'he\r\nl, you there!',
    isKept: true,
  },
  {
    name: 'chunks with trailers',
    bytes: `${ok}request-id: r\r\ntransfer-encoding: chunked\r\n\r\n0003;a;b=c\r\nabc\r\n00000;z\r\nx-trailer: 1\r\nrequest-id: of the trailer\r\n\r\n`,
    body: 'abc',
    isKept: true,
  },
  {
    name: 'no chunk but the last',
    bytes: `${ok}request-id: r\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`,
    body: '',
    isKept: true,
  },
  {
    name: 'nothing that tells the length',
    bytes: `${ok}request-id: r\r\n\r\nhello\r\n\r\n`,
    body: 'hello\r\n\r\n',
    ends: true,
    isKept: false,
  },
  { name: 'nothing at all', bytes: `${ok}request-id: r\r\n\r\n`, body: '', ends: true, isKept: false },
  {
    name: '204',
    bytes: 'HTTP/1.1 204 No Content\r\nrequest-id: r\r\n\r\n',
    status: 204,
    body: '',
    isKept: true,
  },
  {
    name: '304',
    bytes: 'HTTP/1.1 304 Not Modified\r\nrequest-id: r\r\n\r\n',
    status: 304,
    body: '',
    isKept: true,
  },
  {
    name: 'interim answers',
    bytes: `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nrequest-id: early\r\n\r\n${ok}request-id: r\r\ncontent-length: 2\r\n\r\n{}`,
    body: '{}',
    isKept: true,
  },
  {
    name: 'HTTP/1.0',
    bytes: 'HTTP/1.0 200 OK\r\nrequest-id: r\r\n\r\nhello',
    body: 'hello',
    ends: true,
    isKept: false,
  },
  {
    name: 'HTTP/1.0 with a length',
    bytes: 'HTTP/1.0 200 OK\r\nrequest-id: r\r\ncontent-length: 5\r\n\r\nhello',
    body: 'hello',
    isKept: false,
  },
  {
    name: 'HTTP/1.0 that stays',
    bytes: 'HTTP/1.0 200 OK\r\nrequest-id: r\r\nconnection: keep-alive\r\ncontent-length: 5\r\n\r\nhello',
    body: 'hello',
    isKept: true,
  },
  {
    name: 'a length and connection: close',
    bytes: `${ok}request-id: r\r\nconnection: close\r\ncontent-length: 5\r\n\r\nhello`,
    body: 'hello',
    isKept: false,
  },
  {
    name: 'chunks and connection: close',
    bytes: `${ok}request-id: r\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n`,
    body: 'x',
    isKept: false,
  },
];

describe.each(answers)('an answer with $name', ({ bytes, status = 200, body, ends, isKept }) => {
  test('is the same however it is cut into packets', async () => {
    let it = await silent();

    for (let cut = 1; cut <= bytes.length; cut += 1) {
      const { reader, there } = await it.ask();
      const before = it.socket.bytesRead;
      there.write(bytes.slice(0, cut), 'latin1');
      await until(() => it.socket.bytesRead === before + cut);
      if (cut < bytes.length) there.write(bytes.slice(cut), 'latin1');
      if (ends) there.end();
      const outcome = await reader.outcome;

      expect(outcome, `cut at ${cut}`).toMatchObject({
        status,
        body,
        headers: ['request-id', 'r'],
        failure: undefined,
      });
      expect(it.connection.isIdle, `cut at ${cut}`).toBe(isKept);
      if (!isKept) it = await silent();
    }

    if (isKept) expect(it.host.connections()).toBe(1);
  });

  test('is the same byte by byte', async () => {
    const it = await silent();
    const { reader, there } = await it.ask();

    for (let at = 0; at < bytes.length; at += 1) {
      there.write(bytes.slice(at, at + 1), 'latin1');
      await until(() => it.socket.bytesRead === at + 1);
    }
    if (ends) there.end();

    expect(await reader.outcome).toMatchObject({ status, body, headers: ['request-id', 'r'] });
    expect(it.connection.isIdle).toBe(isKept);
  });

  test.each(['extra', 'HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nevil', '\r\n'])(
    'and %j behind it ends the connection',
    async (extra) => {
      if (ends) return; // it would belong to the body
      const { outcome, keeper, connection } = await answered(bytes + extra);

      expect(outcome).toMatchObject({ status, body, failure: undefined });
      expect(connection.isIdle).toBe(false);
      await until(() => keeper.closedCount === 1);
    },
  );

  test('and cut short fails, with what has come before it', async () => {
    if (ends) return; // nobody could tell
    for (const how of ['end', 'reset'] as const) {
      const { outcome, connection } = await answered(bytes.slice(0, -1), how);

      expect([outcome.failure, connection.isIdle], how).toEqual(['provider.broken_response', false]);
      if (how === 'end') expect(body.startsWith(outcome.body)).toBe(true);
    }
  });
});

describe('an answer without a length that a reset ends is not complete', () => {
  test('when the reset comes later', async () => {
    const it = await silent();
    const { reader, there } = await it.ask();
    there.write(`${ok}\r\nhello`);
    await until(() => reader.text === 'hello');
    there.resetAndDestroy();

    expect(await reader.outcome).toMatchObject({
      body: 'hello',
      failure: 'provider.broken_response',
      cause: { code: 'ECONNRESET' },
    });
  });

  test('when it comes with the last bytes', async () => {
    const it = await silent();
    const { reader, there } = await it.ask();
    there.write(`${ok}\r\nhello`);
    there.resetAndDestroy();

    expect((await reader.outcome).failure).toBe('provider.broken_response');
  });
});

describe('a request', () => {
  test('is written as it was given, and its length told', async () => {
    const it = await silent();
    await it.ask(new Reader(), { ...small, body: Buffer.from('{"é":"\xff"}') });

    expect(it.requests[0]?.head).toBe(`${lines}connection: keep-alive\r\nx-a: b\r\ncontent-length: 11`);
    expect(it.requests[0]?.body.toString()).toBe('{"é":"\xff"}');
  });

  test.each([0, 1, 16 * 1024, 16 * 1024 + 1, 3_000_000])(
    'arrives with a body of %i bytes',
    async (length) => {
      const it = await silent();
      const body = Buffer.from(Uint8Array.from({ length }, (_each, at) => (at * 7) % 256));

      await it.ask(new Reader(), { ...small, body });

      expect(it.requests[0]?.body.equals(body)).toBe(true);
    },
  );

  test('without a body tells no length', async () => {
    const it = await silent();
    await it.ask(new Reader(), { method: 'GET', path: '/', headers: [] });

    expect(it.requests[0]?.head).toBe(`${lines}connection: keep-alive`);
  });
});

describe('a connection is kept', () => {
  test.each([
    ['', undefined],
    ['keep-alive: timeout=5\r\n', 5_000],
    ['keep-alive: max=1, timeout=120\r\n', 120_000],
  ])('behind an answer with %j', async (line, forMs) => {
    const { keeper } = await answered(`${ok}${line}content-length: 2\r\n\r\n{}`);

    expect(keeper.freed).toEqual([forMs]);
  });

  test('and given back once for each answer', async () => {
    const it = await silent();

    for (let i = 1; i <= 3; i += 1) {
      const { reader, there } = await it.ask();
      there.write(`${ok}content-length: 1\r\n\r\n${i}`);
      expect((await reader.outcome).body).toBe(String(i));
      expect(it.keeper.freed.length).toBe(i);
    }

    expect(it.host.connections()).toBe(1);
  });

  test('where the reader paused while the last piece came, whether the end comes with it or later', async () => {
    const it = await silent();
    for (const [first, second] of [
      ['4\r\nlast\r\n0\r\n\r\n', ''],
      ['4\r\nlast\r\n', '0\r\n\r\n'],
    ] as const) {
      const { reader, there } = await it.ask(new Reader(() => false));
      there.write(`${ok}transfer-encoding: chunked\r\n\r\n${first}`);
      await until(() => reader.text === 'last');
      if (second !== '') {
        expect(it.socket.isPaused()).toBe(true);
        there.write(second);
        reader.upstream.resume();
      }

      expect(await reader.outcome).toMatchObject({ body: 'last', failure: undefined });
      expect([it.connection.isIdle, it.socket.isPaused()]).toEqual([true, false]);
    }
  });
});

describe('a connection is not kept', () => {
  test('where the host answers before it has read the request', async () => {
    const it = await silent({ headOnly: true });
    const { reader, there } = await it.ask(new Reader(), { ...small, body: Buffer.alloc(20_000_000) });
    there.write('HTTP/1.1 413 Too Large\r\ncontent-length: 4\r\n\r\nlong');

    expect(await reader.outcome).toMatchObject({ status: 413, body: 'long', failure: undefined });
    expect([it.connection.isIdle, it.keeper.freed]).toEqual([false, []]);
  });

  test('where the exchange is given up in the middle of the answer, whose rest nobody gets', async () => {
    const it = await silent();
    const reader = new Reader((_piece, { upstream }) => {
      upstream.abort();
      return true;
    });
    const { there } = await it.ask(reader);
    there.write(
      `${ok}transfer-encoding: chunked\r\n\r\n1\r\na\r\n1\r\nb\r\n0\r\n\r\nHTTP/1.1 200 OK\r\n\r\n`,
    );
    await until(() => it.keeper.closedCount === 1);

    expect([reader.text, reader.isOver, it.connection.isIdle, it.keeper.freed]).toEqual([
      'a',
      false,
      false,
      [],
    ]);
  });

  test.each(['before it is connected', 'before the head', 'before the pipe'])(
    'where the exchange is given up %s',
    async (when) => {
      const it = await silent();
      const reader = new Reader();
      if (when === 'before it is connected') {
        reader.upstream.begin(it.connection);
        it.connection.send(lines, small, reader.upstream);
        reader.upstream.abort();
      } else {
        const { there } = await it.ask(reader);
        if (when === 'before the pipe') there.write(`${ok}content-le`);
        reader.upstream.abort();
      }
      await until(() => it.keeper.closedCount === 1);

      expect([reader.isOver, it.keeper.freed]).toEqual([false, []]);
      if (when === 'before it is connected') expect(it.requests).toEqual([]);
    },
  );
});

describe('an idle connection ends', () => {
  async function idle() {
    const it = await answered(`${ok}content-length: 2\r\n\r\n{}`);
    expect(it.connection.isIdle).toBe(true);
    return it;
  }

  test.each(['x', 'HTTP/1.1 408 Request Timeout\r\nconnection: close\r\n\r\n', '0\r\n\r\n'])(
    'when the host sends %j',
    async (bytes) => {
      const { there, keeper, connection } = await idle();
      there.write(bytes);
      await until(() => keeper.closedCount === 1);

      expect(connection.isIdle).toBe(false);
    },
  );

  test('as soon as bytes of the host are read, before anybody looks at them', async () => {
    holdClock();
    const { there, socket, connection } = await idle();
    const arrived = new Promise((resolve) => socket.once('data', () => resolve(connection.isIdle)));
    there.write(`${ok}content-length: 4\r\n\r\nevil`);

    expect(await arrived).toBe(false);
  });

  test('as soon as the end of the host is read', async () => {
    const { there, socket, connection } = await idle();
    const ended = new Promise((resolve) => socket.once('end', () => resolve(connection.isIdle)));
    there.end();

    expect(await ended).toBe(false);
  });

  test('when the host resets it', async () => {
    const { there, keeper, connection } = await idle();
    there.resetAndDestroy();
    await until(() => keeper.closedCount === 1);

    expect(connection.isIdle).toBe(false);
  });
});

describe('fails', () => {
  test.each([
    ['nothing but a line end', '\r\n'],
    ['no HTTP', 'hello'],
    ['HTTP/2', 'HTTP/2 200 OK\r\n\r\n'],
    ['another version', 'HTTP/1.2 200 OK\r\n\r\n'],
    ['a request', 'POST / HTTP/1.1\r\n\r\n'],
    ['a header without a colon', `${ok}hello\r\n\r\n`],
    ['a folded header', `${ok}a: b\r\n c\r\n\r\n`],
    ['two lengths', `${ok}content-length: 1\r\ncontent-length: 2\r\n\r\nab`],
    ['a length and chunks', `${ok}content-length: 3\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`],
    ['another coding', `${ok}transfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n`],
    ['a change of the protocol', 'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\n\r\n'],
    ['an interim answer that is broken', `HTTP/1.1 100 Continue\r\nx\r\n\r\n${ok}content-length: 0\r\n\r\n`],
  ])('before its head: %s', async (_name, bytes) => {
    const { outcome, connection, keeper } = await answered(bytes);

    expect(outcome).toMatchObject({ status: 0, failure: 'provider.broken_response', wasSent: true });
    expect([connection.isIdle, keeper.freed]).toEqual([false, []]);
  });

  test.each([
    ['no number', 'x\r\n'],
    ['a negative number', '-1\r\n'],
    ['a prefix', '0x1\r\na\r\n'],
    ['an empty line', '\r\n1\r\n'],
    ['a blank before it', ' 1\r\na\r\n'],
    ['a blank behind it', '1 \r\na\r\n'],
    ['a line feed alone', '1\na\r\n'],
    ['a carriage return in an extension', '1;a\rb\r\na\r\n'],
    ['a number too large', '1000000000000000\r\n'],
    ['a line without an end', '1'.repeat(5_000)],
    ['a chunk longer than it', '1\r\nab\r\n'],
    ['a line feed alone behind the chunk', '1\r\na\n0\r\n\r\n'],
    ['a trailer without a colon', '0\r\nx\r\n\r\n'],
    ['trailers without an end', `0\r\n${'x: yyyyyyyyyyyyyyyyyyyyyyyyyyyyyy\r\n'.repeat(1_000)}`],
  ])('for the size of a chunk: %s', async (_name, chunk) => {
    const { outcome, connection } = await answered(
      `${ok}transfer-encoding: chunked\r\n\r\n3\r\nabc\r\n${chunk}`,
    );

    expect(outcome).toMatchObject({ status: 200, failure: 'provider.broken_response' });
    expect(outcome.body.startsWith('abc')).toBe(true);
    expect(connection.isIdle).toBe(false);
  });

  test.each(['end', 'reset'] as const)('where the host goes without a word: %s', async (how) => {
    const { outcome } = await answered('', how);

    expect(outcome).toMatchObject({ status: 0, failure: 'provider.broken_response', wasSent: true });
  });

  test('at once where the host ends its side while the request is still on its way', async () => {
    const it = await silent({ headOnly: true });
    const { reader, there } = await it.ask(new Reader(), { ...small, body: Buffer.alloc(20_000_000) });
    there.end();

    expect(await reader.outcome).toMatchObject({ failure: 'provider.broken_response', wasSent: true });
  });

  test('where nobody listens', async () => {
    const host = await startWireHost(() => undefined);
    await host.stop();
    const { connection } = open(host.port);
    const reader = new Reader();
    connection.send(lines, small, reader.upstream);

    expect(await reader.outcome).toMatchObject({
      failure: 'provider.unreachable',
      wasSent: false,
      cause: { code: 'ECONNREFUSED' },
    });
  });

  test('where the reader throws, instead of ending the program', async () => {
    for (const framing of [
      'content-length: 3\r\n\r\nabc',
      'transfer-encoding: chunked\r\n\r\n3\r\nabc\r\n',
    ]) {
      const it = await silent();
      const { reader, there } = await it.ask(
        new Reader(() => {
          throw new Error('a mistake');
        }),
      );
      there.write(ok + framing);

      expect(await reader.outcome).toMatchObject({ cause: { message: 'a mistake' } });
    }
  });
});

describe('a head', () => {
  const limit = 32 * 1024;
  const headOf = (length: number) => {
    const rest = `${ok}content-length: 2\r\nx: `;
    return rest + 'x'.repeat(length - rest.length);
  };

  test('of 32 KiB is taken, wherever it is cut', async () => {
    const bytes = `${headOf(limit)}\r\n\r\n{}`;
    const it = await silent();
    for (const cut of [1, limit - 1, limit, limit + 1, limit + 2, limit + 3, limit + 4]) {
      const { reader, there } = await it.ask();
      const before = it.socket.bytesRead;
      there.write(bytes.slice(0, cut));
      await until(() => it.socket.bytesRead === before + cut);
      there.write(bytes.slice(cut));
      expect((await reader.outcome).body, `cut at ${cut}`).toBe('{}');
    }
  });

  test.each(['\r\n\r\n{}', ''])('of a byte more is refused (%j behind it)', async (end) => {
    const { outcome } = await answered(`${headOf(limit + 1)}${end === '' ? 'xxxx' : end}`);

    expect([outcome.failure, outcome.cause?.message]).toEqual([
      'provider.broken_response',
      'the head is too large',
    ]);
  });

  test('of interim answers may be as large each', async () => {
    const interim = `HTTP/1.1 103 Early Hints\r\nx: ${'x'.repeat(20_000)}\r\n\r\n`;
    const { outcome } = await answered(`${interim.repeat(4)}${ok}content-length: 2\r\n\r\n{}`);

    expect(outcome.body).toBe('{}');
  });
});

describe('by the clock', () => {
  test('a connection that is not there in time fails, and nothing was sent', async () => {
    const host = await start(() => undefined);
    const { connection } = open(host.port);
    const reader = new Reader();
    connection.send(lines, small, reader.upstream);
    connection.checkTime(timeouts.connectMs);
    expect(reader.isOver).toBe(false);
    connection.checkTime(timeouts.connectMs + 1);

    expect(await reader.outcome).toMatchObject({ failure: 'provider.unreachable', wasSent: false });
  });

  test('a head that is not there in time fails, interim answers or not', async () => {
    const it = await silent();
    it.keeper.nowMs = 500;
    const { reader, there } = await it.ask();
    it.keeper.nowMs = 2_000;
    there.write('HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 200 O');
    await until(() => it.socket.bytesRead > 30);
    await until(() => true); // they may wait for the end of the turn
    it.connection.checkTime(2_500);
    expect(reader.isOver).toBe(false);
    it.connection.checkTime(2_501);

    expect(await reader.outcome).toMatchObject({ failure: 'provider.timeout', wasSent: true });
  });

  test('a gap in the body counts from its last byte', async () => {
    const it = await silent();
    const { reader, there } = await it.ask();
    there.write(`${ok}content-length: 3\r\n\r\na`);
    await until(() => reader.text === 'a');
    it.keeper.nowMs = 2_900;
    it.connection.checkTime(2_900);
    there.write('b');
    await until(() => reader.text === 'ab');
    it.connection.checkTime(5_900);
    expect(reader.isOver).toBe(false);
    it.connection.checkTime(5_901);

    expect(await reader.outcome).toMatchObject({ body: 'ab', failure: 'provider.timeout' });
  });

  test("a pause is not the host's silence, which counts anew behind it", async () => {
    const it = await silent();
    const { reader, there } = await it.ask(new Reader(() => false));
    there.write(`${ok}content-length: 3\r\n\r\na`);
    await until(() => reader.text === 'a');
    it.connection.checkTime(1_000_000);
    expect(reader.isOver).toBe(false);
    it.keeper.nowMs = 1_000_000;
    reader.upstream.resume();
    it.connection.checkTime(1_003_000);
    expect(reader.isOver).toBe(false);
    it.connection.checkTime(1_003_001);

    expect((await reader.outcome).failure).toBe('provider.timeout');
  });

  test('a host whose bytes wait for the end of the turn is not late', async () => {
    holdClock();
    const it = await silent();
    const { reader, there } = await it.ask();
    it.socket.once('data', () => it.connection.checkTime(1_000_000));
    there.write(`${ok}content-length: 2\r\n\r\n{}`);

    expect(await reader.outcome).toMatchObject({ body: '{}', failure: undefined });
  });

  test('an idle connection is never overdue', async () => {
    const { connection } = await answered(`${ok}content-length: 0\r\n\r\n`);
    connection.checkTime(1_000_000);

    expect(connection.isIdle).toBe(true);
  });
});

test('a pause keeps the bytes with the host, and nothing is lost', async () => {
  const it = await silent();
  const body = Buffer.alloc(8_000_000, 'abcdefg');
  const reader = new Reader(() => false);
  const { there } = await it.ask(reader);
  there.write(`${ok}content-length: ${body.length}\r\n\r\n`);
  there.write(body);
  await until(() => reader.pieces.length > 0);
  for (let turn = 0; turn < 50; turn += 1) await until(() => true);
  const held = it.socket.bytesRead;
  while (!reader.isOver) {
    reader.upstream.resume();
    await until(() => reader.isOver || it.socket.isPaused());
  }

  expect(held).toBeLessThan(1_000_000);
  expect(Buffer.concat(reader.pieces).equals(body)).toBe(true);
});
