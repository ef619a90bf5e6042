import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises';
import type { GatewayError } from '../../src/errors.ts';
import { type BodySink, Upstream } from '../../src/providers/transport/upstream.ts';

/** A request as it came over the wire. */
export interface WireRequest {
  readonly path: string;
  readonly head: string;
  readonly body: Buffer;
  readonly socket: Socket;
  /** Which connection it came on, from 1. */
  readonly connection: number;
}

export interface WireHost {
  readonly url: string;
  readonly port: number;
  /** Connections that were ever made. */
  readonly connections: () => number;
  /** Connections that are open. */
  readonly sockets: ReadonlySet<Socket>;
  readonly stop: () => Promise<void>;
}

/** A host that answers whole requests with bytes of its own. `headOnly` answers before the body is here. */
export async function startWireHost(
  answer: (request: WireRequest) => void,
  { headOnly = false, address = '127.0.0.1' } = {},
): Promise<WireHost> {
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    const connection = connections;
    sockets.add(socket);
    socket.setNoDelay(true);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    let bytes: Buffer = Buffer.alloc(0);
    socket.on('data', (more: Buffer) => {
      bytes = bytes.length === 0 ? more : Buffer.concat([bytes, more]);
      for (;;) {
        const end = bytes.indexOf('\r\n\r\n');
        if (end < 0) return;
        const head = bytes.toString('latin1', 0, end);
        const length = headOnly ? 0 : Number(/\r\ncontent-length: (\d+)/.exec(head)?.[1] ?? 0);
        if (bytes.length < end + 4 + length) return;
        const body = bytes.subarray(end + 4, end + 4 + length);
        bytes = bytes.subarray(end + 4 + length);
        answer({ path: head.split(' ')[1] ?? '', head, body, socket, connection });
        if (headOnly) socket.pause();
      }
    });
  });
  server.listen(0, address);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${address.includes(':') ? `[${address}]` : address}:${port}`,
    port,
    connections: () => connections,
    sockets,
    stop: async () => {
      const done = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      await done;
    },
  };
}

/** What somebody who asked got. */
export interface Outcome {
  /** 0 where no head came. */
  readonly status: number;
  readonly headers: readonly string[];
  readonly body: string;
  /** The code of the failure that it ended with. */
  readonly failure: string | undefined;
  readonly cause: (Error & { readonly code?: string }) | undefined;
  readonly wasSent: boolean | undefined;
}

/** Somebody who asks once and reads the whole answer. */
export class Reader implements BodySink {
  readonly upstream: Upstream;
  readonly outcome: Promise<Outcome>;
  /** Resolves when the head is here, or the failure. */
  readonly head: Promise<void>;
  readonly pieces: Buffer[] = [];
  readonly onData: (piece: Buffer, reader: Reader) => boolean;
  isOver = false;
  #settle: (outcome: Outcome) => void = () => undefined;

  constructor(onData: (piece: Buffer, reader: Reader) => boolean = () => true) {
    this.onData = onData;
    this.outcome = new Promise((resolve) => {
      this.#settle = resolve;
    });
    let begun: () => void = () => undefined;
    this.head = new Promise((resolve) => {
      begun = resolve;
    });
    this.upstream = new Upstream((failure) => {
      begun();
      if (failure === undefined) return this.upstream.pipe(this);
      this.#finish(failure.error, failure.wasSent);
    });
  }

  get text(): string {
    return Buffer.concat(this.pieces).toString('latin1');
  }

  data(piece: Buffer): boolean {
    if (this.isOver) throw new Error('there is more behind the end');
    this.pieces.push(Buffer.from(piece));
    return this.onData(piece, this);
  }

  end(): void {
    this.#finish(undefined, undefined);
  }

  fail(error: GatewayError): void {
    this.#finish(error, undefined);
  }

  #finish(error: GatewayError | undefined, wasSent: boolean | undefined): void {
    if (this.isOver) throw new Error('it ended twice');
    this.isOver = true;
    const headers: string[] = [];
    this.upstream.headers.passOn(headers, (value) => value);
    const failure = error?.code;
    const cause = error?.cause as Outcome['cause'];
    this.#settle({ status: this.upstream.status, headers, body: this.text, failure, cause, wasSent });
  }
}

/** Lets the event loop turn until something is so: for what the kernel does between two sockets of a test. */
export async function until(isSo: () => boolean): Promise<void> {
  // What takes longer waits for a time-out, and turning all the while would cost a core.
  for (let turns = 0; turns === 0 || !isSo(); turns += 1) await (turns < 500 ? turn() : pause(2));
}

/** Numbers from 0 to 1 that are the same in every run. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
