import type { Socket } from 'node:net';
import { askedOf, isFramed } from './answers.ts';
import { type RawHost, startRawHost } from './raw-host.ts';

/** One request as the host read it, and what it may do to the connection. */
export interface HostConnection {
  readonly socket: Socket;
  readonly dialect: ReturnType<typeof askedOf>['dialect'];
  readonly isStream: boolean;
  /** Whether it is asked for a stream in frames, as Bedrock's. */
  readonly isFramed: boolean;
  /** The credential that came with it, for hosts that repeat it in their words. */
  readonly credential: string;
  /** Writes, and waits until that has left or the connection is gone. */
  write(bytes: string | Buffer): Promise<void>;
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
      ...askedOf({ target: path, body }),
      isFramed: isFramed(path),
      credential:
        /\r\n(?:x-api-key: |x-goog-api-key: |authorization: Bearer )(\S+)/i.exec(head)?.[1] ?? 'none',
      write: (bytes) => new Promise((resolve) => socket.write(bytes, () => setImmediate(resolve))),
    }),
  );
  return {
    ...host,
    does: (next) => {
      behaviour = next;
    },
  };
}
