import { connect, type Socket } from 'node:net';

/** An answer as its bytes came over the socket. */
export interface RawAnswer {
  readonly status: number;
  /** By lower-case name; of equal names all values, in order. */
  readonly headers: ReadonlyMap<string, readonly string[]>;
  readonly body: Buffer;
  /** Whether the framing said that this was all; a cut answer is not whole. */
  readonly isWhole: boolean;
}

/** A TCP connection on which a test writes what it likes and reads answers one by one. */
export interface RawConnection {
  readonly socket: Socket;
  write(...pieces: readonly (string | Buffer)[]): Promise<void>;
  /** The next answer, whole or cut by the end of the connection. Rejects where there is none. */
  answer(): Promise<RawAnswer>;
  /** Resolves when the other side has closed. */
  readonly closed: Promise<void>;
}

export function openRaw(port: number): RawConnection {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  let received = Buffer.alloc(0);
  let chunks: Buffer[] = [];
  let isToLook = false;
  let isClosed = false;
  let wake: () => void = () => undefined;
  socket.on('data', (chunk) => {
    chunks.push(chunk);
    // A long answer is looked at now and then only: at every chunk it would take quadratic time.
    if (received.length < 1_000_000) return wake();
    if (isToLook) return;
    isToLook = true;
    setTimeout(() => {
      isToLook = false;
      wake();
    }, 10);
  });
  const closed = new Promise<void>((resolve) => {
    socket.on('close', () => {
      isClosed = true;
      wake();
      resolve();
    });
  });
  socket.on('error', () => undefined); // what came before it is what counts
  return {
    socket,
    closed,
    write: async (...pieces) => {
      for (const piece of pieces) {
        await new Promise<void>((resolve) => socket.write(piece, () => resolve()));
        // One turn of the loop, so that the pieces travel on their own.
        await new Promise<void>((resolve) => setImmediate(resolve));
      }
    },
    answer: async () => {
      for (;;) {
        received = Buffer.concat([received, ...chunks]);
        chunks = [];
        const parsed = parseAnswer(received, isClosed);
        if (parsed !== undefined) {
          received = received.subarray(parsed.length);
          return parsed.answer;
        }
        if (isClosed)
          throw new Error(`the connection closed after ${received.length} bytes, without an answer`);
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
  };
}

/** One connection, one request, one answer. */
export async function sendRaw(port: number, ...pieces: readonly (string | Buffer)[]): Promise<RawAnswer> {
  const connection = openRaw(port);
  try {
    void connection.write(...pieces); // the answer may come before all of it is taken
    return await connection.answer();
  } finally {
    connection.socket.destroy();
  }
}

type Body = object | string | Buffer;

/** A request that posts with the project key, head and body. */
export function postText(
  key: string,
  path: string,
  body: Body,
  headers: readonly string[] = ['Content-Type: application/json', `X-Api-Key: ${key}`],
): readonly [head: string, body: Buffer] {
  const text = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
  const bytes = Buffer.from(text as string);
  const lines = [`POST ${path} HTTP/1.1`, 'Host: localhost:4100', ...headers];
  return [head(...lines, `Content-Length: ${bytes.length}`), bytes];
}

/** Sends it on a connection of its own, and reads the answer to its end, or to where it is cut. */
export function postRaw(
  { port, key }: { readonly port: number; readonly key: string },
  path: string,
  body: Body,
  headers?: readonly string[],
): Promise<RawAnswer> {
  return sendRaw(port, ...postText(key, path, body, headers));
}

/** The text of a request's head, its lines given without ends. */
export function head(...lines: readonly string[]): string {
  return `${lines.join('\r\n')}\r\n\r\n`;
}

function parseAnswer(bytes: Buffer, isClosed: boolean): { answer: RawAnswer; length: number } | undefined {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const [first = '', ...lines] = bytes.toString('latin1', 0, end).split('\r\n');
  const status = Number(first.split(' ')[1]);
  if (status === 100) {
    const later = parseAnswer(bytes.subarray(end + 4), isClosed);
    return later && { answer: later.answer, length: later.length + end + 4 };
  }
  const headers = new Map<string, string[]>();
  for (const line of lines) {
    const colon = line.indexOf(':');
    const name = line.slice(0, colon).toLowerCase();
    headers.set(name, [...(headers.get(name) ?? []), line.slice(colon + 1).trim()]);
  }
  const body = parseBody(bytes.subarray(end + 4), headers);
  if (!body.isWhole && !isClosed) return undefined;
  return {
    answer: { status, headers, body: body.bytes, isWhole: body.isWhole },
    length: end + 4 + body.length,
  };
}

function parseBody(rest: Buffer, headers: ReadonlyMap<string, readonly string[]>) {
  const announced = headers.get('content-length')?.[0];
  if (announced !== undefined) {
    const bytes = rest.subarray(0, Number(announced));
    return { bytes, length: bytes.length, isWhole: bytes.length === Number(announced) };
  }
  const chunks: Buffer[] = [];
  let at = 0;
  for (;;) {
    const lineEnd = rest.indexOf('\r\n', at);
    if (lineEnd < 0) return { bytes: Buffer.concat(chunks), length: rest.length, isWhole: false };
    const size = Number.parseInt(rest.toString('latin1', at, lineEnd), 16);
    const from = lineEnd + 2;
    if (rest.length < from + size + 2) {
      chunks.push(rest.subarray(from, from + size));
      return { bytes: Buffer.concat(chunks), length: rest.length, isWhole: false };
    }
    if (size === 0) return { bytes: Buffer.concat(chunks), length: from + 2, isWhole: true };
    chunks.push(rest.subarray(from, from + size));
    at = from + size + 2;
  }
}
