import { connect as connectPlain, isIP, type Socket, type TcpNetConnectOpts } from 'node:net';
import * as tls from 'node:tls';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import { Pool } from 'undici';
import { addressAttemptMs } from '../../lib/address-attempts.ts';
import { decodePercent } from '../../lib/decode-percent.ts';
import { messageOfError } from '../../lib/message-of.ts';

/** The server that a connection is opened to. */
interface HostAddress {
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

  constructor(proxy: string, { host, port }: HostAddress, options: Reach) {
    const url = new URL(proxy);
    // undici's own connections would be checked against the name of the tunnel's other end.
    const connect = connectWithin(options.connectMs, connectDirectly(endpointOf(url), options));
    this.#path = `${host.includes(':') ? `[${host}]` : host}:${port}`;
    this.#headers = { host: this.#path, ...credentials(url) };
    this.#proxy = new Pool(url.origin, {
      headersTimeout: 0, // the caller has a timeout
      connect: (_options, connected) =>
        connect((...[error, socket]) =>
          socket === null
            ? connected(error ?? unreached(new Error('no connection')), null)
            : connected(null, socket),
        ),
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

/** What a proxy does not do, or why it can't be reached: the host behind it is not to blame. */
export class ProxyError extends Error {}

function unreached(cause: Error): ProxyError {
  return new ProxyError(`the proxy can't be reached: ${messageOfError(cause)}`, { cause });
}

function refused(status: number): ProxyError {
  const what = status === 407 ? 'asks for other credentials' : 'refused the tunnel';
  return new ProxyError(`the proxy ${what} (${status})`);
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
  /** Longest time to connect; each address of a name gets a share of it. */
  readonly connectMs: number;
  /** URL of a proxy to tunnel through, with its credentials. */
  readonly proxy?: string | undefined;
}

const probeMs = 60_000;

/** How an endpoint is reached without a proxy. */
interface Reach {
  readonly secureContext: tls.SecureContext | undefined;
  readonly connectMs: number;
}

/** Makes connections to an endpoint. TLS sessions are resumed, but never across endpoints. */
export function connectTo(endpoint: HostAddress, { ca, connectMs, proxy }: ConnectOptions): Connect {
  // Created once, because loading all of Node's authorities takes milliseconds.
  const reach = { connectMs, secureContext: ca === undefined ? undefined : contextWith(ca) };
  if (proxy === undefined) return connectDirectly(endpoint, reach);
  return through(new Tunnel(proxy, endpoint, reach), endpoint.isTls ? tlsTo(endpoint, reach) : undefined);
}

/** The server of a URL. */
export function endpointOf({ hostname, port, protocol }: URL): HostAddress {
  const isTls = protocol === 'https:';
  return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || (isTls ? 443 : 80)), isTls };
}

function connectDirectly(endpoint: HostAddress, reach: Reach): Connect {
  const secure = endpoint.isTls ? tlsTo(endpoint, reach) : undefined;
  return (connected) => {
    const socket = secure === undefined ? plainTo(endpoint, reach) : secure(endpoint);
    settleOnce(socket, secure === undefined ? 'connect' : 'secureConnect', connected);
    return socket;
  };
}

type Secure = (under: Pick<HostAddress, 'host' | 'port'> | { readonly socket: Socket }) => Socket;

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

/** Gives an attempt up by itself: undici leaves that to whoever makes its connections. */
function connectWithin(connectMs: number, connect: Connect): (connected: Connected) => void {
  return (connected) => {
    const late = setTimeout(() => attempted.destroy(new Error('no connection in time')), connectMs);
    const attempted = connect((error, socket) => {
      clearTimeout(late);
      connected(error, socket);
    });
  };
}

function plainTo({ host, port }: HostAddress, { connectMs }: Reach): Socket {
  const options: TcpNetConnectOpts & { highWaterMark: number } = {
    host,
    port,
    autoSelectFamilyAttemptTimeout: addressAttemptMs(connectMs),
    highWaterMark: 64 * 1024, // Node 22's default; one read of the socket fills it
  };
  return connectPlain(options);
}

function tlsTo({ host }: HostAddress, { secureContext, connectMs }: Reach): Secure {
  let session: Buffer | undefined;
  return (under) => {
    const options: ConnectionOptions & Pick<TcpNetConnectOpts, 'autoSelectFamilyAttemptTimeout'> = {
      ...under,
      autoSelectFamilyAttemptTimeout: addressAttemptMs(connectMs),
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
