import { brotliCompressSync, gzipSync } from 'node:zlib';
import { framesOf } from '../kit/amazon-stream.ts';
import { allCases } from '../kit/answers.ts';
import type { Behaviour, HostConnection } from '../kit/faulty-host.ts';

function caseOf(name: HostConnection['dialect']) {
  const found = allCases.find(({ dialect }) => dialect === name);
  if (found === undefined) throw new Error(`there is no dialect ${name}`);
  return found;
}

function headOf(connection: HostConnection, more: readonly string[] = [], status = '200 OK'): string {
  const ofStream = connection.isFramed ? 'application/vnd.amazon.eventstream' : 'text/event-stream';
  const type = connection.isStream ? ofStream : 'application/json';
  return `${[`HTTP/1.1 ${status}`, `content-type: ${type}`, ...more].join('\r\n')}\r\n\r\n`;
}

function chunk(text: string | Buffer): Buffer {
  const bytes = Buffer.from(text);
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);
}

const chunked = 'transfer-encoding: chunked';
const hugeEvent = `data: {"type":"x","x":"${'x'.repeat(2_000_000)}"}\n\n`;
const lastChunk = '0\r\n\r\n';

/** Events in the form in which the host is asked for them. */
const inFormOf = ({ isFramed }: HostConnection, events: string): Buffer =>
  isFramed ? framesOf(events) : Buffer.from(events);

function bodyOf(connection: HostConnection): Buffer {
  const { events, plain } = caseOf(connection.dialect);
  return connection.isStream ? inFormOf(connection, events.join('')) : Buffer.from(plain);
}

/** The first events of a stream, or the first half of a whole answer. */
function beginning(connection: HostConnection): Buffer {
  const { events, plain } = caseOf(connection.dialect);
  if (!connection.isStream) return Buffer.from(plain.slice(0, plain.length / 2));
  return inFormOf(connection, events.slice(0, Math.ceil(events.length / 3)).join(''));
}

export const behaves: Behaviour = (connection) => {
  const body = bodyOf(connection);
  const head = headOf(connection, [`content-length: ${body.length}`]);
  return connection.write(Buffer.concat([Buffer.from(head), body]));
};

/** Does one thing after the other, as far as the connection takes it. */
const inTurn =
  (...steps: readonly Behaviour[]): Behaviour =>
  async (connection) => {
    for (const step of steps) await step(connection);
  };

const writes =
  (text: string | Buffer | ((connection: HostConnection) => string | Buffer)): Behaviour =>
  (connection) =>
    connection.write(typeof text === 'function' ? text(connection) : text);

const begins = writes((connection) => headOf(connection, [chunked]));
const beginsToAnswer = inTurn(
  begins,
  writes((connection) => chunk(beginning(connection))),
);
const ends: Behaviour = ({ socket }) => socket.end();
const resets: Behaviour = ({ socket }) => socket.resetAndDestroy();
const endsBody = writes(lastChunk);

/** An answer whose body is made of the usual one; `length` is announced in place of its own. */
const announces =
  (
    lines: readonly string[],
    make: (body: Buffer) => string | Buffer = (body) => body,
    length?: (own: number) => number,
  ) =>
  async (connection: HostConnection) => {
    const body = Buffer.from(make(bodyOf(connection)) as string);
    const announced = length?.(body.length) ?? body.length;
    await connection.write(headOf(connection, [...lines, `content-length: ${announced}`]));
    await connection.write(body);
  };

function error(status: number): Behaviour {
  return (connection) => {
    const body = `{"error":{"type":"api_error","message":"no, not with ${connection.credential}"}}`;
    const lines = ['content-type: application/json', 'retry-after: 3', `content-length: ${body.length}`];
    return connection.write(`HTTP/1.1 ${status} No\r\n${lines.join('\r\n')}\r\n\r\n${body}`);
  };
}

export interface Expected {
  readonly status: number;
  /** Of the gateway's own errors, or of the event that ends a stream. */
  readonly reason?: string;
  /** Whether a client of the host's own dialect has its finish reason before the break. */
  readonly isPastFinish?: boolean;
}

const fine: Expected = { status: 200 };
const broken: Expected = { status: 502, reason: 'provider.broken_response' };
const late: Expected = { status: 504, reason: 'provider.timeout' };
const cutBroken: Expected = { status: 200, reason: 'provider.broken_response' };
const cutLate: Expected = { status: 200, reason: 'provider.timeout' };

interface Traits {
  /** What clients are told if the host's streams have no last event, after which nothing matters. */
  readonly unmarked?: Expected;
  /** It lasts until the exchange's time is over: only at full scale. */
  readonly isSlow?: boolean;
}

export interface Fault extends Traits {
  readonly name: string;
  readonly does: Behaviour;
  readonly plain: Expected;
  readonly streamed: Expected | 'the provider’s own error';
}

type Row = readonly [
  name: string,
  plain: Fault['plain'],
  streamed: Fault['streamed'],
  does: Behaviour,
  traits?: Traits,
];

const refused: Expected = { status: 502, reason: 'provider.credentials_rejected' };
const pastFinish = { unmarked: { ...cutBroken, isPastFinish: true } };

const drips: Behaviour = (connection) => {
  // Of a frame its own bytes, of which it has more than there is time for.
  const frame = framesOf(`data: {"type":"ping","x":"${'x'.repeat(1_000)}"}`);
  let dropped = 0;
  const drop = () => {
    if (!connection.isStream) return ' ';
    if (!connection.isFramed) return ':\n';
    dropped += 1;
    return frame.subarray(dropped - 1, dropped);
  };
  const timer = setInterval(() => connection.socket.write(chunk(drop())), 50);
  connection.socket.once('close', () => clearInterval(timer));
};

const saysAnError = writes((connection) => {
  const { dialect, credential } = connection;
  const said = `{"type":"error","error":{"code":500,"message":"no, not with ${credential}"}}\n\n`;
  return chunk(dialect === 'gemini' ? said : inFormOf(connection, `event: error\ndata: ${said}`));
});

const broken200 = (connection: HostConnection) =>
  Buffer.concat([
    Buffer.from(headOf(connection, [chunked])),
    chunk(connection.isStream ? inFormOf(connection, 'data: {"id":"x","choi\n\n') : '{"id":"x","choi'),
    Buffer.from(lastChunk),
  ]);

/**
 * What providers do wrong, and what clients are told; `elsewhere` is a host that nobody may be sent to. Bombs and answers
 * without end: providers/decode.
 */
export function faultsOf(elsewhere: () => string): readonly Fault[] {
  const redirect = () =>
    `HTTP/1.1 307 Elsewhere\r\nlocation: ${elsewhere()}/v1/messages\r\ncontent-length: 0\r\n\r\n`;
  const more = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}and more';
  // biome-ignore format: a fault a line
  const rows: readonly Row[] = [
    ['accepts and closes', broken, broken, ends],
    ['resets at once', broken, broken, resets],
    ['resets after its headers', broken, cutBroken, inTurn(begins, resets)],
    ['resets in the middle', broken, cutBroken, inTurn(beginsToAnswer, resets)],
    ['closes in the middle', broken, cutBroken, inTurn(beginsToAnswer, ends)],
    ['ends its body properly, in the middle of the answer', broken, cutBroken, inTurn(beginsToAnswer, endsBody)],
    ['sends no HTTP at all', broken, broken, ({ socket }) => socket.end('SSH-2.0-OpenSSH\r\n')],
    ['sends a length and chunks', broken, broken, ({ socket }) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n')],
    ['sends a status that is no number', broken, broken, ({ socket }) => socket.end('HTTP/1.1 abc OK\r\n\r\n')],
    ['sends a switch of protocols', broken, broken, ({ socket }) => socket.end('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n')],
    ['answers with a page', broken, broken, writes('HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 13\r\n\r\n<html></html>')],
    ['answers with nothing', broken, cutBroken, announces([], () => '')],
    ['stalls before its headers', late, late, () => undefined],
    ['stalls in its headers', late, late, writes('HTTP/1.1 200 OK\r\nx-')],
    ['stalls in the middle', late, cutLate, beginsToAnswer],
    ['drips without end', late, cutLate, inTurn(begins, drips), { isSlow: true }],
    ...[500, 503, 429, 529].map((status): Row => [`answers ${status} and repeats the key`, { status }, { status }, error(status)]),
    ...[401, 403].map((status): Row => [`answers ${status} and repeats the key`, refused, refused, error(status)]),
    ['ends its stream with an error that repeats the key', { status: 500 }, 'the provider’s own error', (connection) => (connection.isStream ? inTurn(beginsToAnswer, saysAnError, endsBody) : error(500))(connection)],
    ['answers with an error of 1 MB', broken, broken, writes(`HTTP/1.1 500 No\r\ncontent-length: 1000000\r\n\r\n${'x'.repeat(1_000_000)}`)],
    ['answers with broken JSON', broken, cutBroken, writes(broken200)],
    // The last event of a stream says that it is whole.
    ['announces more than it sends', broken, fine, inTurn(announces([], undefined, (own) => own + 10), ends), pastFinish],
    ['announces less than it sends', broken, cutBroken, (connection) => announces([], undefined, () => beginning(connection).length - 20)(connection)],
    ['sends headers of 40 KB', broken, broken, writes((connection) => headOf(connection, [`x-a: ${'a'.repeat(40_000)}`]))],
    ['sends one event of 2 MB', broken, cutBroken, inTurn(beginsToAnswer, writes((connection) => chunk(inFormOf(connection, hugeEvent))), endsBody)],
    ['redirects to another host', broken, broken, writes(redirect)],
    ['compresses unasked', fine, fine, announces(['content-encoding: gzip'], (body) => gzipSync(body))],
    ['compresses twice', broken, broken, announces(['content-encoding: gzip, br'], (body) => brotliCompressSync(gzipSync(body)))],
    ['sends 103 before 200', fine, fine, inTurn(writes('HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'), behaves)],
    ['sends 100 before 200, unasked, which undici does not take', broken, broken, inTurn(writes('HTTP/1.1 100 Continue\r\n\r\n'), behaves)],
    ['closes a connection that it said would stay', fine, fine, inTurn(behaves, ends)],
    ['goes on after its answer', fine, fine, announces([], (body) => Buffer.concat([body, Buffer.from(more)]), (own) => own - more.length)],
    ['goes on after its last event', broken, fine, inTurn(begins, writes((connection) => chunk(bodyOf(connection))), writes(chunk('  ')), ends), pastFinish],
  ];
  return rows.map(([name, plain, streamed, does, traits]) => ({ name, plain, streamed, does, ...traits }));
}
