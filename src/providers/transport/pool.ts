import type { Pool as UndiciPool } from 'undici';
import { SwapRemoveList } from '../../lib/swap-remove-list.ts';
import { TickQueue } from '../../lib/tick-queue.ts';
import type { ConnectOptions } from './connect.ts';
import type { HostDispatch } from './host-client.ts';
import { openPool } from './open-pool.ts';
import type { Upstream, UpstreamTimeouts } from './upstream.ts';

/** A request as a host gets it. */
export interface HostRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** Flat list of names and values. */
  readonly headers: readonly string[];
  readonly body?: Buffer;
}

export interface PoolOptions extends Omit<ConnectOptions, 'connectMs'> {
  readonly timeouts: UpstreamTimeouts;
  readonly ticks?: TickQueue;
}

/** How often the clock is read: timeouts fire up to two intervals late, and never early. */
const intervalMs = 500;

/**
 * Connections to one origin, by undici: HTTP/1.1, one request at a time on each, no redirects, bodies as they come. It
 * opens as many as are needed; Admission limits how many that is, so that nothing ever waits in undici's own queue, which
 * has neither a bound nor a timeout.
 */
export class Pool {
  readonly timeouts: UpstreamTimeouts;
  readonly ticks: TickQueue;
  nowMs = performance.now();
  readonly #open: () => UndiciPool;
  #undici: UndiciPool | undefined;
  readonly #inFlight = new SwapRemoveList<Upstream>();
  #clock: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(origin: string, { timeouts, ca, proxy, ticks = new TickQueue() }: PoolOptions) {
    this.timeouts = timeouts;
    this.ticks = ticks;
    this.#open = () => openPool(origin, { ca, connectMs: timeouts.connectMs, proxy });
  }

  /** Sends a request on an idle connection, or a new one. `upstream` is notified of its progress. */
  send({ method, path, headers, body }: HostRequest, upstream: Upstream): void {
    if (this.#isClosed) {
      return upstream.fail('unreachable', new Error('the provider is no longer in use'));
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
    this.#undici ??= this.#open();
    this.#undici.dispatch(request, upstream);
  }

  /** Closes idle connections; those in use close with their answers. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    void this.#undici?.close(); // not awaited: requests in flight finish by themselves
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
