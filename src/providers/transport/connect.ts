import { connect as connectPlain, isIP, type Socket, type TcpNetConnectOpts } from 'node:net';
import * as tls from 'node:tls';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import { Pool } from 'undici';
import { decodePercent } from '../../decode-percent.ts';

/** The server that a connection is opened to. */
interface Endpoint {
  /** A name or an address, without brackets. */
  readonly host: string;
  readonly port: number;
  readonly isTls: boolean;
}

/** Connections to an endpoint through an HTTP proxy, by CONNECT (RFC 9110, section 9.3.6). */
class Tunnel {
  readonly #proxy: Pool;
  readonly #path: string;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(proxy: string, { host, port }: Endpoint, ca: string | undefined) {
    const url = new URL(proxy);
    this.#path = `${host.includes(':') ? `[${host}]` : host}:${port}`;
    this.#headers = { host: this.#path, ...credentials(url) };
    this.#proxy = new Pool(url.origin, {
      headersTimeout: 0, // the caller has a timeout
      ...(ca !== undefined && url.protocol === 'https:' && { connect: { secureContext: contextWith(ca) } }),
    });
  }

  /** Opens one and calls back once, unless it is aborted first. */
  open(opened: (error: Error | null, socket: Socket | null) => void): AbortController {
    const abort = new AbortController();
    const options = { path: this.#path, headers: this.#headers, signal: abort.signal };
    this.#proxy.connect(options, (error, answer) => {
      if (error !== null) return abort.signal.aborted ? undefined : opened(unreached(error), null);
      const socket = answer.socket as Socket; // undici's own connection to the proxy
      if (answer.statusCode >= 200 && answer.statusCode < 300) return opened(null, socket);
      socket.on('error', () => undefined).destroy();
      opened(refused(answer.statusCode), null);
    });
    return abort;
  }
}

function credentials({ username, password }: URL): Readonly<Record<string, string>> {
  if (username === '' && password === '') return {};
  const text = `${decodePercent(username)}:${decodePercent(password)}`;
  return { 'proxy-authorization': `Basic ${Buffer.from(text).toString('base64')}` };
}

function unreached(cause: Error): Error {
  return new Error(`the proxy can't be reached: ${cause.message}`, { cause });
}

function refused(status: number): Error {
  const what = status === 407 ? 'asks for other credentials' : 'refused the tunnel';
  return new Error(`the proxy ${what} (${status})`);
}

type Connected = (error: Error | null, socket: Socket | null) => void;

/** Stops a connection attempt, or ends the resulting connection. */
export interface Attempted {
  destroy(error: Error): void;
}

/** Opens a connection and calls back once. */
export type Connect = (connected: Connected) => Attempted;

export interface ConnectOptions {
  /** PEM certificates of authorities beyond Node's own. */
  readonly ca?: string | undefined;
  /** URL of a proxy to tunnel through, with its credentials. */
  readonly proxy?: string | undefined;
}

const probeMs = 60_000;

/** Makes connections to an endpoint. TLS sessions are resumed, but never across endpoints. */
export function connectTo(endpoint: Endpoint, { ca, proxy }: ConnectOptions): Connect {
  const secure = endpoint.isTls ? tlsTo(endpoint, ca) : undefined;
  if (proxy !== undefined) return through(new Tunnel(proxy, endpoint, ca), secure);
  return (connected) => {
    const socket = secure === undefined ? plainTo(endpoint) : secure(endpoint);
    settleOnce(socket, secure === undefined ? 'connect' : 'secureConnect', connected);
    return socket;
  };
}

type Secure = (under: Pick<Endpoint, 'host' | 'port'> | { readonly socket: Socket }) => Socket;

function through(tunnel: Tunnel, secure: Secure | undefined): Connect {
  return (connected) => {
    let isOver = false;
    let socket: Socket | undefined;
    const opening = tunnel.open((error, plain) => {
      if (isOver || plain === null) return isOver ? plain?.destroy() : connected(error, null);
      socket = secure === undefined ? plain : secure({ socket: plain });
      if (secure !== undefined) return settleOnce(socket, 'secureConnect', connected);
      plain.on('error', () => undefined); // undici listens from now on
      connected(null, plain);
    });
    return {
      destroy: (error) => {
        isOver = true;
        if (socket !== undefined) return void socket.destroy(error);
        opening.abort();
        connected(error, null);
      },
    };
  };
}

function plainTo({ host, port }: Endpoint): Socket {
  // Node 22's default; one read of the socket fills it.
  const options: TcpNetConnectOpts & { highWaterMark: number } = { host, port, highWaterMark: 64 * 1024 };
  return connectPlain(options);
}

function tlsTo({ host }: Endpoint, ca: string | undefined): Secure {
  let session: Buffer | undefined;
  // Created once, because loading all of Node's authorities takes milliseconds.
  const secureContext = ca === undefined ? undefined : contextWith(ca);
  return (under) => {
    const options: ConnectionOptions = {
      ...under,
      ...(isIP(host) === 0 ? { servername: host } : {}),
      ...(session === undefined ? {} : { session }),
      ...(secureContext === undefined ? {} : { secureContext }),
      ALPNProtocols: ['http/1.1'],
    };
    // The certificate is checked against `host` even if the socket leads to a proxy.
    const socket = connectTls('socket' in under ? { ...options, host } : options);
    socket.on('session', (next) => {
      session = next;
    });
    // In case the host rejects the session, the next connection starts without one.
    const forget = () => {
      session = undefined;
    };
    socket.once('error', forget).once('secureConnect', () => socket.off('error', forget));
    return socket;
  };
}

function settleOnce(socket: Socket, event: 'connect' | 'secureConnect', connected: Connected): void {
  let isSettled = false;
  socket.setNoDelay(true).setKeepAlive(true, probeMs);
  socket.once(event, () => {
    isSettled = true;
    connected(null, socket);
  });
  socket.on('error', (error) => {
    if (isSettled) return; // undici listens from then on
    isSettled = true;
    connected(error, null);
  });
}

/** A TLS context that trusts further certificate authorities besides Node's own. */
function contextWith(ca: string): tls.SecureContext {
  return tls.createSecureContext({ ca: [...ownAuthorities(), ca] });
}

/** From Node 22.15 on with those of NODE_EXTRA_CA_CERTS and, where asked for, of the system. */
function ownAuthorities(): readonly string[] {
  const { getCACertificates } = tls as { getCACertificates?: (type: 'default') => readonly string[] };
  return getCACertificates?.('default') ?? tls.rootCertificates;
}
