import { connect, type Socket } from 'node:net';

/** One answer as it stood on the wire. */
export interface RawAnswer {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

/** A client that writes what it is told, byte for byte, and keeps what comes back. */
export class RawConnection {
  readonly socket: Socket;
  /** Resolves when the other side has ended or reset the connection. */
  readonly closed: Promise<void>;
  #received = Buffer.alloc(0);
  #isClosed = false;
  #changed: () => void = () => undefined;

  constructor(port: number) {
    // The half that we write stays open when the server ends its own, as with clients that send a long body.
    this.socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    this.socket.setNoDelay(true);
    this.socket.on('error', () => undefined); // a reset is one way to be closed
    this.socket.on('data', (chunk: Buffer) => {
      this.#received = Buffer.concat([this.#received, chunk]);
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

  get received(): string {
    return this.#received.toString('latin1');
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  send(text: string | Buffer): this {
    this.socket.write(typeof text === 'string' ? Buffer.from(text, 'latin1') : text);
    return this;
  }

  /** Waits until that holds for what has been received; fails when the connection closes first. */
  async until(holds: (received: string) => boolean): Promise<void> {
    while (!holds(this.received)) {
      if (this.#isClosed) throw new Error(`closed after ${JSON.stringify(this.received)}`);
      await new Promise<void>((resolve) => {
        this.#changed = resolve;
      });
    }
  }

  /** Waits for that many whole answers (interim ones left out). */
  async answers(count: number): Promise<RawAnswer[]> {
    await this.until((received) => parseAnswers(received).length >= count);
    return parseAnswers(this.received);
  }

  async answer(): Promise<RawAnswer> {
    const [first] = await this.answers(1);
    if (first === undefined) throw new Error('no answer');
    return first;
  }

  /** Everything that came until the server closed. */
  async answersUntilClose(): Promise<RawAnswer[]> {
    await this.closed;
    return parseAnswers(this.received);
  }

  /** Leaves with a reset, as a killed process does. */
  reset(): void {
    this.socket.resetAndDestroy();
  }

  end(): void {
    this.socket.destroy();
  }
}

/** The whole answers in a text; of one that is not whole yet, nothing. */
export function parseAnswers(text: string): RawAnswer[] {
  const answers: RawAnswer[] = [];
  let rest = text;
  for (;;) {
    const headEnd = rest.indexOf('\r\n\r\n');
    if (headEnd < 0) return answers;
    const [statusLine = '', ...lines] = rest.slice(0, headEnd).split('\r\n');
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1]);
    if (Number.isNaN(status)) throw new Error(`no status line: ${JSON.stringify(statusLine)}`);
    const headers = new Map(
      lines.map((line) => {
        const colon = line.indexOf(':');
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
      }),
    );
    rest = rest.slice(headEnd + 4);
    if (status < 200) continue;
    const length = Number(headers.get('content-length') ?? 0);
    if (rest.length < length) return answers;
    answers.push({ status, headers, body: rest.slice(0, length) });
    rest = rest.slice(length);
  }
}
