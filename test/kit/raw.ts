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

/** A client that writes what it is told, byte for byte, and keeps what comes back. */
export class RawConnection {
  readonly socket: Socket;
  /** Resolves when the other side has ended or reset the connection. */
  readonly closed: Promise<void>;
  #chunks: Buffer[] = [];
  #isClosed = false;
  #changed: () => void = () => undefined;

  constructor(port: number) {
    // The half that we write stays open when the server ends its own, as with clients that send a long body.
    this.socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
    this.socket.on('error', () => undefined); // a reset is one way to be closed
    this.socket.on('data', (chunk) => {
      this.#chunks.push(chunk);
      this.#changed();
    });
    this.closed = new Promise((resolve) => {
      const close = () => {
        this.#isClosed = true;
        this.#changed();
        resolve();
      };
      this.socket.on('end', close).on('close', close);
    });
  }

  get #bytes(): Buffer {
    const bytes = Buffer.concat(this.#chunks);
    this.#chunks = [bytes];
    return bytes;
  }

  get received(): string {
    return this.#bytes.toString('latin1');
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  send(text: string | Buffer): this {
    this.socket.write(typeof text === 'string' ? Buffer.from(text, 'latin1') : text);
    return this;
  }

  /** Sends pieces that travel on their own. */
  async write(...pieces: readonly (string | Buffer)[]): Promise<void> {
    for (const piece of pieces) {
      await new Promise<void>((resolve) => this.socket.write(piece, () => resolve()));
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
  }

  /** Waits until that holds for what has been received; fails when the connection closes first. */
  until(holds: (received: string) => boolean): Promise<void> {
    return this.#until(() => holds(this.received));
  }

  /** Waits for that many answers (interim ones left out); one that the end of the connection cut, only if asked for. */
  async answers(count: number, { mayBeCut = false } = {}): Promise<RawAnswer[]> {
    const found = () => parseAnswers(this.#bytes, mayBeCut && this.#isClosed);
    await this.#until(() => found().length >= count);
    return found();
  }

  async answer(options?: { mayBeCut?: boolean }): Promise<RawAnswer> {
    const [first] = await this.answers(1, options);
    if (first === undefined) throw new Error('no answer');
    return first;
  }

  /** The whole answers that came until the server closed. */
  async answersUntilClose(): Promise<RawAnswer[]> {
    await this.closed;
    return parseAnswers(this.#bytes, false);
  }

  /** Leaves with a reset, as a killed process does. */
  reset(): void {
    this.socket.resetAndDestroy();
  }

  end(): void {
    this.socket.destroy();
  }

  async #until(isSo: () => boolean): Promise<void> {
    while (!isSo()) {
      if (this.#isClosed) throw new Error(`closed after ${JSON.stringify(this.received)}`);
      await new Promise<void>((resolve) => {
        this.#changed = resolve;
      });
    }
  }
}

/** One connection, one request, one answer. */
export async function sendRaw(port: number, ...pieces: readonly (string | Buffer)[]): Promise<RawAnswer> {
  const connection = new RawConnection(port);
  try {
    void connection.write(...pieces); // the answer may come before all of it is taken
    return await connection.answer({ mayBeCut: true });
  } finally {
    connection.end();
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

/** The answers in these bytes, interim ones left out; a cut one only if nothing more can come. */
export function parseAnswers(bytes: Buffer, isAll = true): RawAnswer[] {
  const answers: RawAnswer[] = [];
  let rest = bytes;
  for (;;) {
    const end = rest.indexOf('\r\n\r\n');
    if (end < 0) return answers;
    const [first = '', ...lines] = rest.toString('latin1', 0, end).split('\r\n');
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(first)?.[1]);
    if (Number.isNaN(status)) throw new Error(`no status line: ${JSON.stringify(first)}`);
    const headers = new Map<string, string[]>();
    for (const line of lines) {
      const colon = line.indexOf(':');
      const name = line.slice(0, colon).toLowerCase();
      headers.set(name, [...(headers.get(name) ?? []), line.slice(colon + 1).trim()]);
    }
    rest = rest.subarray(end + 4);
    if (status < 200) continue;
    const { bytes: body, length, isWhole } = parseBody(rest, headers);
    if (!isWhole && !isAll) return answers;
    answers.push({ status, headers, body, isWhole });
    rest = rest.subarray(length);
  }
}

function parseBody(rest: Buffer, headers: ReadonlyMap<string, readonly string[]>) {
  if (!headers.has('transfer-encoding')) {
    const announced = Number(headers.get('content-length') ?? 0);
    const bytes = rest.subarray(0, announced);
    return { bytes, length: bytes.length, isWhole: bytes.length === announced };
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
