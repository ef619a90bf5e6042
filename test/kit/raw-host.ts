import { createServer, type Socket } from 'node:net';
import { type Listening, listening } from './listening.ts';

/** A request as it came over the wire. */
export interface RawRequest {
  readonly path: string;
  readonly head: string;
  readonly body: Buffer;
  readonly socket: Socket;
  /** Which connection it came on, from 1. */
  readonly connection: number;
}

export interface RawHost extends Listening {
  /** Connections that were ever made. */
  readonly connections: () => number;
  /** Whole requests that came. */
  readonly requests: () => number;
}

/** A host that answers whole requests with bytes of its own, HTTP or not. */
export async function startRawHost(
  answer: (request: RawRequest) => unknown,
  address?: string,
): Promise<RawHost> {
  let connections = 0;
  let requests = 0;
  const server = createServer((socket) => {
    connections += 1;
    const connection = connections;
    socket.setNoDelay(true);
    socket.on('error', () => undefined); // what it does to others is done to it
    let bytes: Buffer = Buffer.alloc(0);
    socket.on('data', (more: Buffer) => {
      bytes = bytes.length === 0 ? more : Buffer.concat([bytes, more]);
      for (;;) {
        const end = bytes.indexOf('\r\n\r\n');
        if (end < 0) return;
        const head = bytes.toString('latin1', 0, end);
        const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
        if (bytes.length < end + 4 + length) return;
        const body = bytes.subarray(end + 4, end + 4 + length);
        bytes = bytes.subarray(end + 4 + length);
        requests += 1;
        void answer({ path: head.split(' ')[1] ?? '', head, body, socket, connection });
      }
    });
  });
  return { ...(await listening(server, address)), connections: () => connections, requests: () => requests };
}
