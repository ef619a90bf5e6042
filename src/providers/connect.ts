import { connect as connectPlain, isIP, type Socket, type TcpNetConnectOpts } from 'node:net';
import { connect as connectTls } from 'node:tls';

/** The server that a connection is opened to. */
export interface Endpoint {
  /** A name or an address, without brackets. */
  readonly host: string;
  readonly port: number;
  readonly isTls: boolean;
}

export type Connected = (error: Error | null, socket: Socket | null) => void;

/** What stops a connection attempt, or ends the connection that came of it. */
export interface Attempted {
  destroy(error: Error): void;
}

/** Opens a connection and calls back once. */
export type Connect = (connected: Connected) => Attempted;

const probeMs = 60_000;

/** Connects to an endpoint, straight. TLS sessions are resumed, never one of another endpoint. */
export function directly(endpoint: Endpoint): Connect {
  const open = endpoint.isTls ? tlsTo(endpoint) : () => plainTo(endpoint);
  return (connected) => {
    const socket = open();
    socket.setNoDelay(true).setKeepAlive(true, probeMs);
    settleOnce(socket, endpoint, connected);
    return socket;
  };
}

function plainTo({ host, port }: Endpoint): Socket {
  // What Node 22 has as its default: a read of the socket fills it.
  const options: TcpNetConnectOpts & { highWaterMark: number } = { host, port, highWaterMark: 64 * 1024 };
  return connectPlain(options);
}

function tlsTo({ host, port }: Endpoint): () => Socket {
  let session: Buffer | undefined;
  return () => {
    const socket = connectTls({
      host,
      port,
      ...(isIP(host) === 0 ? { servername: host } : {}),
      ...(session === undefined ? {} : { session }),
      ALPNProtocols: ['http/1.1'],
    });
    socket.on('session', (next) => {
      session = next;
    });
    // Should the host choke on it, the next connection begins without.
    const forget = () => {
      session = undefined;
    };
    socket.once('error', forget).once('secureConnect', () => socket.off('error', forget));
    return socket;
  };
}

function settleOnce(socket: Socket, { isTls }: Endpoint, connected: Connected): void {
  let isSettled = false;
  socket.once(isTls ? 'secureConnect' : 'connect', () => {
    isSettled = true;
    connected(null, socket);
  });
  socket.on('error', (error) => {
    if (isSettled) return; // undici listens from then on
    isSettled = true;
    connected(error, null);
  });
}
