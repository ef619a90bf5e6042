import { Pool as UndiciPool } from 'undici';
import { SwapRemoveList } from '../swap-remove-list.ts';
import { TickQueue } from '../tick-queue.ts';
import { connectTo } from './connect.ts';
import { HostClient, type HostDispatch } from './host-client.ts';
import type { Upstream, UpstreamTimeouts } from './upstream.ts';

/** A request as a host gets it. */
export interface HostRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** Flat list of names and values. */
  readonly headers: readonly string[];
  readonly body?: Buffer;
}

export interface PoolOptions {
  readonly timeouts: UpstreamTimeouts;
  /** PEM certificates of authorities beyond Node's own. */
  readonly ca?: string | undefined;
  /** URL of the proxy that connections are tunnelled through, with its credentials. */
  readonly proxy?: string | undefined;
  readonly ticks?: TickQueue;
}

// Longer ones meet the peer's own closing, and a POST that meets it can't be sent again.
const keepAliveMs = 4_000;
/** How much sooner than the host announces an idle connection is closed: its last request must still arrive. */
const keepAliveMarginMs = 2_000;
const answerHeadBytes = 32 * 1024;
/** How often the clock is read: what is overdue ends up to two intervals late, and never early. */
const intervalMs = 500;

/**
 * Connections to one origin, by undici: HTTP/1.1, one request at a time on each, no redirects, bodies as they
 * come. It opens as many as are asked for at once; Admission decides how many that is, so that nothing ever
 * waits in undici's own queue, which has neither a bound nor a clock.
 */
export class Pool {
  readonly timeouts: UpstreamTimeouts;
  readonly ticks: TickQueue;
  nowMs = performance.now();
  readonly #undici: UndiciPool;
  readonly #inFlight = new SwapRemoveList<Upstream>();
  #clock: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(origin: string, { timeouts, ca, proxy, ticks = new TickQueue() }: PoolOptions) {
    this.timeouts = timeouts;
    this.ticks = ticks;
    const connect = connectTo(endpointOf(new URL(origin)), { ca, proxy });
    this.#undici = new UndiciPool(origin, {
      pipelining: 1,
      keepAliveTimeout: keepAliveMs,
      keepAliveMaxTimeout: keepAliveMs,
      keepAliveTimeoutThreshold: keepAliveMarginMs,
      maxHeaderSize: answerHeadBytes,
      // undici's own timers are coarse, and know nothing of the time before the request is written.
      headersTimeout: 0,
      bodyTimeout: 0,
      factory: (url, options) => new HostClient(url, options, connect),
    });
  }

  /** Sends a request on a connection that is free, or a new one. `upstream` is notified of what becomes of it. */
  send({ method, path, headers, body }: HostRequest, upstream: Upstream): void {
    if (this.#isClosed) {
      return upstream.fail({ kind: 'unreachable', cause: new Error('the provider is no longer in use') });
    }
    this.#startClock();
    this.#inFlight.add(upstream);
    upstream.begin(this);
    const request: HostDispatch = {
      method,
      path,
      headers: headers as string[],
      body: body ?? null,
      upstream,
    };
    this.#undici.dispatch(request, upstream);
  }

  /** Closes idle connections; those in use close with their answers. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    void this.#undici.close(); // nobody waits for what is still in flight
  }

  /** For the upstream: its request is over. */
  ended(upstream: Upstream): void {
    this.#inFlight.remove(upstream);
  }

  #startClock(): void {
    if (this.#clock !== undefined) return;
    this.nowMs = performance.now();
    this.#clock = setInterval(() => this.#checkTimes(), intervalMs).unref();
  }

  #checkTimes(): void {
    this.nowMs = performance.now();
    for (const upstream of [...this.#inFlight.items]) upstream.checkTime(this.nowMs - intervalMs);
    if (this.#inFlight.items.length > 0) return;
    clearInterval(this.#clock);
    this.#clock = undefined;
  }
}

function endpointOf({ hostname, port, protocol }: URL) {
  const isTls = protocol === 'https:';
  return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || (isTls ? 443 : 80)), isTls };
}
