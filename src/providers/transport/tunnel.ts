import type { Socket } from 'node:net';
import { Pool } from 'undici';
import { decodePercent } from '../../decode-percent.ts';
import { contextWith } from './authorities.ts';

/** The server that a connection is opened to. */
export interface Endpoint {
  /** A name or an address, without brackets. */
  readonly host: string;
  readonly port: number;
  readonly isTls: boolean;
}

/** Connections to an endpoint through an HTTP proxy, by CONNECT (RFC 9110, section 9.3.6). */
export class Tunnel {
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
