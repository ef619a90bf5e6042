import { connect as connectPlain, isIP } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { unfitInValue } from '../http/field-lines.ts';
import { Turn } from '../http/tick.ts';
import { SwapRemoveList } from '../swap-remove-list.ts';
import { HostConnection, type Keeper } from './host-connection.ts';
import type { Upstream } from './upstream.ts';

/** A request as a host gets it. */
export interface HostRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** Flat list of names and values. */
  readonly headers: readonly string[];
  readonly body?: Buffer;
}

export interface PoolOptions {
  readonly timeouts: Keeper['timeouts'];
  /** One for all that the process has to do at once; its own, where nothing is said. */
  readonly turn?: Turn | undefined;
}

// Longer ones meet the peer's own closing, and a POST that meets it can't be sent again.
const keepAliveMs = 4_000;
/** How much sooner than the host says an idle connection is given up: its last request must still arrive. */
const keepAliveMarginMs = 2_000;
const probeMs = 60_000;
/** How often the clock is read: what is overdue ends up to two ticks late, and never early. */
const tickMs = 500;
// A blank in a path would make two words of it.
const unfitInPath = /[^!-~]/;

/**
 * Connections to one origin: HTTP/1.1, one request at a time on each, no redirects, bodies as they come. There
 * may be as many as are asked for at once; how many that is, others decide (Admission).
 */
export class Pool implements Keeper {
  readonly timeouts: Keeper['timeouts'];
  readonly turn: Turn;
  nowMs = performance.now();
  readonly #url: URL;
  readonly #open = new SwapRemoveList<HostConnection>();
  /** The one that was used last is at the end, and is taken first. */
  #idle: HostConnection[] = [];
  /** Those whose answers ended in this turn of the event loop. */
  readonly #resting: HostConnection[] = [];
  readonly #endRest = () => {
    for (const connection of this.#resting.splice(0)) this.#idle.push(connection);
  };
  #clock: NodeJS.Timeout | undefined;
  /** Of the last TLS connection, so that the next one begins in one round trip less. */
  #session: Buffer | undefined;
  #isClosed = false;

  constructor(origin: string, { timeouts, turn = new Turn() }: PoolOptions) {
    this.#url = new URL(origin);
    this.timeouts = timeouts;
    this.turn = turn;
  }

  /** Sends a request on a connection that is free, or a new one. What becomes of it, `upstream` is told. */
  send(request: HostRequest, upstream: Upstream): void {
    const problem = this.#isClosed ? 'the provider is no longer in use' : unfitPart(request);
    if (problem !== undefined) return upstream.fail({ kind: 'unreachable', cause: new Error(problem) });
    const connection = this.#takeIdle() ?? this.#connect();
    upstream.begin(connection);
    connection.send(
      `${request.method} ${request.path} HTTP/1.1\r\nhost: ${this.#url.host}\r\n`,
      request,
      upstream,
    );
  }

  /** Ends idle connections; those in use end with their answers. */
  close(): void {
    this.#isClosed = true;
    for (const connection of [...this.#idle.splice(0), ...this.#resting.splice(0)]) connection.destroy();
  }

  idle(connection: HostConnection, forMs: number | undefined): void {
    const ms = Math.min(keepAliveMs, forMs === undefined ? keepAliveMs : forMs - keepAliveMarginMs);
    if (this.#isClosed || ms <= 0) return connection.destroy();
    connection.idleUntilMs = this.nowMs + ms;
    // What the host has sent beyond its answer, or that it closes, may be read only later in this turn: the next
    // request must not go out before, lest it gets that for an answer.
    if (this.#resting.push(connection) === 1) setImmediate(this.#endRest);
  }

  closed(connection: HostConnection): void {
    this.#open.remove(connection);
    if (this.#open.items.length > 0) return;
    clearInterval(this.#clock);
    this.#clock = undefined;
    this.#idle = [];
  }

  #takeIdle(): HostConnection | undefined {
    for (let each = this.#idle.pop(); each !== undefined; each = this.#idle.pop()) {
      if (each.isIdle && each.idleUntilMs > this.nowMs) return each;
      each.destroy();
    }
    return undefined;
  }

  #connect(): HostConnection {
    if (this.#clock === undefined) {
      this.nowMs = performance.now();
      this.#clock = setInterval(() => this.#tick(), tickMs).unref();
    }
    const isTls = this.#url.protocol === 'https:';
    const socket = isTls ? this.#connectTls() : connectPlain(this.#address());
    socket.setNoDelay(true);
    socket.setKeepAlive(true, probeMs);
    const connection = new HostConnection(socket, isTls ? 'secureConnect' : 'connect', this);
    this.#open.add(connection);
    return connection;
  }

  #connectTls() {
    const address = this.#address();
    const socket = connectTls({
      ...address,
      ...(isIP(address.host) === 0 ? { servername: address.host } : {}),
      ...(this.#session === undefined ? {} : { session: this.#session }),
      ALPNProtocols: ['http/1.1'],
    });
    socket.on('session', (session) => {
      this.#session = session;
    });
    // Should the host choke on it, the next connection begins without.
    socket.on('error', () => {
      this.#session = undefined;
    });
    return socket;
  }

  #address(): { host: string; port: number } {
    const { hostname, port, protocol } = this.#url;
    return {
      host: hostname.replace(/^\[|\]$/g, ''),
      port: Number(port || (protocol === 'https:' ? 443 : 80)),
    };
  }

  #tick(): void {
    this.nowMs = performance.now();
    for (const connection of [...this.#open.items]) connection.checkTime(this.nowMs - tickMs);
    this.#idle = this.#idle.filter((each) => {
      const isGood = each.isIdle && each.idleUntilMs > this.nowMs;
      if (!isGood) each.destroy();
      return isGood;
    });
  }
}

function unfitPart({ path, headers }: HostRequest): string | undefined {
  if (unfitInPath.test(path)) return 'the path has a character that no path can have';
  for (let i = 0; i < headers.length; i += 2) {
    if (unfitInValue.test(headers[i + 1] as string))
      return `the header ${headers[i]} has a character that no header can have`;
  }
  return undefined;
}
