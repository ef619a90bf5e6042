import type { Socket } from 'node:net';
import type { SpokenDialect } from './answers.ts';
import { type RawHost, startRawHost } from './raw-host.ts';

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

export interface FaultyHost extends RawHost {
  does(next: Behaviour): void;
}

/** A provider on loopback that speaks TCP and does to HTTP what it is told to. */
export async function startFaultyHost(): Promise<FaultyHost> {
  let behaviour: Behaviour = ({ socket }) => socket.destroy();
  const host = await startRawHost(({ path, head, body, socket }) =>
    behaviour({
      socket,
      dialect: dialectAt(path),
      isStream: path.includes(':stream') || /"stream": ?true/.test(body.toString()),
      credential:
        /\r\n(?:x-api-key: |x-goog-api-key: |authorization: Bearer )(\S+)/i.exec(head)?.[1] ?? 'none',
      write: (bytes) => write(socket, bytes),
    }),
  );
  return {
    ...host,
    does: (next) => {
      behaviour = next;
    },
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
