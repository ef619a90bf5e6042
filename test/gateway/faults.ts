import { brotliCompressSync, gzipSync } from 'node:zlib';
import { allCases } from '../kit/answers.ts';
import type { Behaviour, HostConnection } from '../kit/faulty-host.ts';

function caseOf(name: HostConnection['dialect']) {
  const found = allCases.find(({ dialect }) => dialect === name);
  if (found === undefined) throw new Error(`there is no dialect ${name}`);
  return found;
}

function headOf(connection: HostConnection, more: readonly string[] = [], status = '200 OK'): string {
  const type = connection.isStream ? 'text/event-stream' : 'application/json';
  return `${[`HTTP/1.1 ${status}`, `content-type: ${type}`, ...more].join('\r\n')}\r\n\r\n`;
}

function chunk(text: string | Buffer): Buffer {
  const bytes = Buffer.from(text);
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);
}

const chunked = 'transfer-encoding: chunked';
const hugeEvent = chunk(`data: {"x":"${'x'.repeat(10_000_000)}"}\n\n`);
const lastChunk = '0\r\n\r\n';

function bodyOf({ dialect, isStream }: HostConnection): string {
  const { events, plain } = caseOf(dialect);
  return isStream ? events.join('') : plain;
}

/** The first events of a stream, or the first half of a whole answer. */
function beginning({ dialect, isStream }: HostConnection): string {
  const { events, plain } = caseOf(dialect);
  return isStream ? events.slice(0, Math.ceil(events.length / 3)).join('') : plain.slice(0, plain.length / 2);
}

export const behaves: Behaviour = (connection) => {
  const body = bodyOf(connection);
  return connection.write(`${headOf(connection, [`content-length: ${Buffer.byteLength(body)}`])}${body}`);
};

async function begin(connection: HostConnection): Promise<void> {
  await connection.write(headOf(connection, [chunked]));
  await connection.write(chunk(beginning(connection)));
}

function error(status: number): Behaviour {
  return (connection) => {
    const body = `{"error":{"type":"api_error","message":"no, not with ${connection.credential}"}}`;
    const lines = ['content-type: application/json', 'retry-after: 3', `content-length: ${body.length}`];
    return connection.write(`HTTP/1.1 ${status} No\r\n${lines.join('\r\n')}\r\n\r\n${body}`);
  };
}

/** One event of the host's dialect that says something, for streams without an end. */
function wordEvent({ dialect }: HostConnection): string {
  return caseOf(dialect).events.find((event) => event.includes('Grüße')) ?? '';
}

export interface Expected {
  readonly status: number;
  /** Of the gateway's own errors, or of the event that ends a stream. */
  readonly reason?: string;
  /** Whether a client of the host's own dialect has its finish reason before the break. */
  readonly isPastFinish?: boolean;
}

const fine: Expected = { status: 200 };
export const broken: Expected = { status: 502, reason: 'provider.broken_response' };
export const late: Expected = { status: 504, reason: 'provider.timeout' };
const cutBroken: Expected = { status: 200, reason: 'provider.broken_response' };
export const cutLate: Expected = { status: 200, reason: 'provider.timeout' };

export interface Fault {
  readonly name: string;
  readonly does: Behaviour;
  readonly plain: Expected;
  readonly streamed: Expected | 'the provider’s own error';
  /** What clients are told if the host's streams have no last event, after which nothing matters. */
  readonly unmarked?: Expected;
  /** It takes much memory: one client after the other, and only at full scale. */
  readonly isHeavy?: boolean;
  /** It lasts until the exchange's time is over: only at full scale. */
  readonly isSlow?: boolean;
  /** It sends so much that on a busy machine its time may be over before its size is too large. */
  readonly mayBeLate?: boolean;
}

const nonsense: readonly (readonly [string, string])[] = [
  ['no HTTP at all', 'SSH-2.0-OpenSSH\r\n'],
  [
    'a length and chunks',
    'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n',
  ],
  ['a status that is no number', 'HTTP/1.1 abc OK\r\n\r\n'],
  ['a switch of protocols', 'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'],
];

/** What providers do wrong, and what clients are told; `elsewhere` is a host that nobody may be sent to. */
export const faultsOf = (elsewhere: () => string): readonly Fault[] => [
  { name: 'accepts and closes', does: ({ socket }) => socket.end(), plain: broken, streamed: broken },
  { name: 'resets at once', does: ({ socket }) => socket.resetAndDestroy(), plain: broken, streamed: broken },
  {
    name: 'resets after its headers',
    does: async (connection) => {
      await connection.write(headOf(connection, [chunked]));
      connection.socket.resetAndDestroy();
    },
    plain: broken,
    streamed: cutBroken,
  },
  {
    name: 'resets in the middle',
    does: async (connection) => {
      await begin(connection);
      connection.socket.resetAndDestroy();
    },
    plain: broken,
    streamed: cutBroken,
  },
  {
    name: 'closes in the middle',
    does: async (connection) => {
      await begin(connection);
      connection.socket.end();
    },
    plain: broken,
    streamed: cutBroken,
  },
  {
    name: 'ends its body properly, in the middle of the answer',
    does: async (connection) => {
      await begin(connection);
      await connection.write(lastChunk);
    },
    plain: broken,
    streamed: cutBroken,
  },
  ...nonsense.map(([name, bytes]) => ({
    name: `sends ${name}`,
    does: ({ socket }: HostConnection) => socket.end(bytes),
    plain: broken,
    streamed: broken,
  })),
  {
    name: 'answers with a page',
    does: ({ write }) =>
      write('HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 13\r\n\r\n<html></html>'),
    plain: broken,
    streamed: broken,
  },
  {
    name: 'answers with nothing',
    does: (connection) => connection.write(headOf(connection, ['content-length: 0'])),
    plain: broken,
    streamed: cutBroken,
  },
  { name: 'stalls before its headers', does: () => undefined, plain: late, streamed: late },
  {
    name: 'stalls in its headers',
    does: ({ write }) => write('HTTP/1.1 200 OK\r\nx-'),
    plain: late,
    streamed: late,
  },
  { name: 'stalls in the middle', does: begin, plain: late, streamed: cutLate },
  {
    name: 'drips without end',
    isSlow: true,
    does: async (connection) => {
      await connection.write(headOf(connection, [chunked]));
      const timer = setInterval(() => connection.socket.write(chunk(connection.isStream ? ':\n' : ' ')), 50);
      connection.socket.once('close', () => clearInterval(timer));
    },
    plain: late,
    streamed: cutLate,
  },
  ...[500, 503, 429, 529].map((status) => ({
    name: `answers ${status} and repeats the key`,
    does: error(status),
    plain: { status },
    streamed: { status },
  })),
  ...[401, 403].map((status) => ({
    name: `answers ${status} and repeats the key`,
    does: error(status),
    plain: { status: 502, reason: 'provider.credentials_rejected' },
    streamed: { status: 502, reason: 'provider.credentials_rejected' },
  })),
  {
    name: 'ends its stream with an error that repeats the key',
    does: async (connection) => {
      const message = `no, not with ${connection.credential}`;
      if (!connection.isStream) return error(500)(connection);
      await begin(connection);
      const said = `{"type":"error","error":{"code":500,"message":"${message}"}}\n\n`;
      await connection.write(chunk(connection.dialect === 'gemini' ? said : `event: error\ndata: ${said}`));
      return connection.write(lastChunk);
    },
    plain: { status: 500 },
    streamed: 'the provider’s own error',
  },
  {
    name: 'answers with an error of 1 MB',
    does: async (connection) => {
      const body = 'x'.repeat(1_000_000);
      await connection.write(`HTTP/1.1 500 No\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
    },
    plain: broken,
    streamed: broken,
  },
  {
    name: 'answers with broken JSON',
    does: async (connection) => {
      const body = connection.isStream ? 'data: {"id":"x","choi\n\n' : '{"id":"x","choi';
      await connection.write(`${headOf(connection, [chunked])}${chunk(body)}${lastChunk}`);
    },
    plain: broken,
    streamed: cutBroken,
  },
  {
    name: 'announces more than it sends',
    does: async (connection) => {
      const body = bodyOf(connection);
      await connection.write(
        `${headOf(connection, [`content-length: ${Buffer.byteLength(body) + 10}`])}${body}`,
      );
      connection.socket.end();
    },
    plain: broken,
    streamed: fine, // its last event says that it is whole
    unmarked: { ...cutBroken, isPastFinish: true },
  },
  {
    name: 'announces less than it sends',
    does: async (connection) => {
      const body = bodyOf(connection);
      const announced = Math.floor(Buffer.byteLength(beginning(connection)) - 20);
      await connection.write(`${headOf(connection, [`content-length: ${announced}`])}${body}`);
    },
    plain: broken,
    streamed: cutBroken,
  },
  {
    name: 'sends headers of 40 KB',
    does: async (connection) =>
      void (await connection.write(headOf(connection, [`x-a: ${'a'.repeat(40_000)}`]))),
    plain: broken,
    streamed: broken,
  },
  {
    name: 'sends a body of 200 MB in chunks',
    does: async (connection) => {
      await connection.write(headOf(connection, [chunked]));
      const piece = chunk(' '.repeat(1_000_000));
      for (let i = 0; i < 200; i += 1) if (!(await connection.write(piece))) return;
    },
    plain: broken,
    streamed: cutBroken,
    isHeavy: true,
    mayBeLate: true,
  },
  {
    name: 'announces a body of 200 MB',
    does: async (connection) => {
      await connection.write(headOf(connection, ['content-length: 200000000']));
      const piece = ' '.repeat(1_000_000);
      for (let i = 0; i < 200; i += 1) if (!(await connection.write(piece))) return;
    },
    plain: broken,
    streamed: cutBroken,
    isHeavy: true,
    mayBeLate: true,
  },
  {
    name: 'streams without end',
    does: async (connection) => {
      await begin(connection);
      const events = chunk(connection.isStream ? wordEvent(connection).repeat(100) : ' '.repeat(10_000));
      while (await connection.write(events));
    },
    plain: broken,
    streamed: cutLate,
    isHeavy: true,
    mayBeLate: true,
  },
  {
    name: 'sends one event of 10 MB',
    does: async (connection) => {
      await begin(connection);
      await connection.write(hugeEvent);
      await connection.write(lastChunk);
    },
    plain: broken,
    streamed: cutBroken,
    isHeavy: true,
    mayBeLate: true,
  },
  {
    name: 'redirects to another host',
    does: ({ write }) =>
      write(`HTTP/1.1 307 Elsewhere\r\nlocation: ${elsewhere()}/v1/messages\r\ncontent-length: 0\r\n\r\n`),
    plain: broken,
    streamed: broken,
  },
  {
    name: 'compresses unasked',
    does: async (connection) => {
      const body = gzipSync(bodyOf(connection));
      await connection.write(
        headOf(connection, ['content-encoding: gzip', `content-length: ${body.length}`]),
      );
      await connection.write(body);
    },
    plain: fine,
    streamed: fine,
  },
  {
    name: 'compresses twice',
    does: async (connection) => {
      const body = brotliCompressSync(gzipSync(bodyOf(connection)));
      await connection.write(
        headOf(connection, ['content-encoding: gzip, br', `content-length: ${body.length}`]),
      );
      await connection.write(body);
    },
    plain: broken,
    streamed: broken,
  },
  {
    name: 'sends a bomb of 200 MB in 200 KB',
    does: async (connection) => {
      // Members one after the other are one gzip file, made without having its content at hand.
      const body = Buffer.concat(Array<Buffer>(200).fill(gzipSync(Buffer.alloc(1_000_000, ' '))));
      await connection.write(
        headOf(connection, ['content-encoding: gzip', `content-length: ${body.length}`]),
      );
      await connection.write(body);
    },
    plain: broken,
    streamed: cutBroken,
    isHeavy: true,
    mayBeLate: true, // a machine that is busy takes seconds to unpack it
  },
  {
    name: 'sends 103 before 200',
    does: async (connection) => {
      await connection.write('HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n');
      await behaves(connection);
    },
    plain: fine,
    streamed: fine,
  },
  {
    name: 'sends 100 before 200, unasked, which undici does not take',
    does: async (connection) => {
      await connection.write('HTTP/1.1 100 Continue\r\n\r\n');
      await behaves(connection);
    },
    plain: broken,
    streamed: broken,
  },
  {
    name: 'closes a connection that it said would stay',
    does: async (connection) => {
      await behaves(connection);
      connection.socket.end();
    },
    plain: fine,
    streamed: fine,
  },
  {
    name: 'goes on after its answer',
    does: (connection) => {
      const body = bodyOf(connection);
      const head = headOf(connection, [`content-length: ${Buffer.byteLength(body)}`]);
      return connection.write(`${head}${body}HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}and more`);
    },
    plain: fine,
    streamed: fine,
  },
  {
    name: 'goes on after its last event',
    does: async (connection) => {
      await connection.write(headOf(connection, [chunked]));
      await connection.write(chunk(bodyOf(connection)));
      await connection.write(chunk('  '));
      connection.socket.end();
    },
    plain: broken,
    streamed: fine,
    unmarked: { ...cutBroken, isPastFinish: true },
  },
];
