import type { AddressInfo } from 'node:net';
import { createServer, type Socket } from 'node:net';
import type { SpokenDialect } from './answers.ts';

export type HostDialect = SpokenDialect;

/** One request as the host read it, and what it may do to the connection. */
export interface HostConnection {
  readonly socket: Socket;
  readonly dialect: HostDialect;
  readonly isStream: boolean;
  /** The credential that came with it, for hosts that repeat it in their words. */
  readonly credential: string;
  /** Writes, and waits until the other side has taken it; false when the connection is gone. */
  write(bytes: string | Buffer): Promise<boolean>;
}

export type Behaviour = (connection: HostConnection) => unknown;

export interface FaultyHost {
  readonly url: string;
  readonly requests: number;
  does(next: Behaviour): void;
  close(): Promise<void>;
}

/** A provider on loopback that speaks TCP and does to HTTP what it is told to. */
export async function startFaultyHost(): Promise<FaultyHost> {
  const sockets = new Set<Socket>();
  let behaviour: Behaviour = ({ socket }) => socket.destroy();
  let requests = 0;
  const server = createServer((socket) => {
    sockets.add(socket);
    let received = Buffer.alloc(0);
    socket.on('error', () => undefined); // what it does to others is done to it
    socket.on('close', () => sockets.delete(socket));
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk]);
      const request = parseRequest(received);
      if (request === undefined) return;
      received = Buffer.alloc(0);
      requests += 1;
      void behaviour({ socket, ...request, write: (bytes) => write(socket, bytes) });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get requests() {
      return requests;
    },
    does: (next) => {
      behaviour = next;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

function parseRequest(bytes: Buffer) {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const head = bytes.toString('latin1', 0, end);
  const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
  if (bytes.length < end + 4 + length) return undefined;
  const path = head.split(' ', 2)[1] ?? '';
  return {
    dialect: dialectAt(path),
    isStream: path.includes(':stream') || /"stream": ?true/.test(bytes.toString('utf8', end)),
    credential: /\r\n(?:x-api-key: |x-goog-api-key: |authorization: Bearer )(\S+)/i.exec(head)?.[1] ?? 'none',
  };
}

function dialectAt(path: string): HostDialect {
  if (path.endsWith('/messages')) return 'messages';
  if (path.endsWith('/responses')) return 'responses';
  return path.startsWith('/v1beta/') ? 'gemini' : 'chat';
}

/** Waits for `drain` where the other side is slow, so that an endless answer is no memory of ours. */
function write(socket: Socket, bytes: string | Buffer): Promise<boolean> {
  if (socket.destroyed) return Promise.resolve(false);
  if (socket.write(bytes)) return new Promise((resolve) => setImmediate(() => resolve(!socket.destroyed)));
  return new Promise((resolve) => {
    const settle = () => {
      socket.off('drain', settle).off('close', settle);
      resolve(!socket.destroyed);
    };
    socket.on('drain', settle).on('close', settle);
  });
}
