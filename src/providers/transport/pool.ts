import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher, Pool as UndiciPool } from 'undici';
import type { ProviderConfig } from '../../config/build/providers.ts';
import { type FailureCode, GatewayError } from '../../errors.ts';
import { type SwapRemoveItem, SwapRemoveList } from '../../lib/swap-remove-list.ts';
import { type Paused, TickQueue } from '../../lib/tick-queue.ts';
import { AnswerHeaders } from '../headers.ts';
import type { ConnectOptions } from './connect.ts';
import type { HostConnection, HostDispatch } from './host-client.ts';
import { openPool } from './open-pool.ts';

// Connections to one host, and the requests that are under way on them.

/** A request as a host gets it. */
export interface HostRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** Flat list of names and values. */
  readonly headers: readonly string[];
  readonly body?: Buffer;
}

/** Consumes an answer's body, piece by piece. */
export interface BodySink {
  /** False asks for a pause until `resume`. */
  data(chunk: Buffer): boolean;
  end(): void;
  fail(error: GatewayError): void;
}

/** An answer whose head has arrived. */
export interface ProviderAnswer {
  readonly status: number;
  readonly headers: AnswerHeaders;
  /** Whether bytes of the body may have arrived that have not been piped. */
  readonly isBehind: boolean;
  /** The body if all of it is here, so that it need not be piped. Absent where nobody can tell. */
  whole?(): Buffer | undefined;
  /** Starts piping the body into the sink; call once. */
  pipe(sink: BodySink): void;
  resume(): void;
  /** Pipes now what waits for the end of the tick. */
  flush(): void;
  /** Abandons the exchange: closes the connection and stops calling the sink. */
  abort(): void;
}

/** Why there is no answer. `wasSent`: whether the provider may have worked on the request. */
export interface UpstreamFailure {
  readonly error: GatewayError;
  readonly wasSent: boolean;
}

export type UpstreamTimeouts = Pick<ProviderConfig['timeouts'], 'connectMs' | 'headersMs' | 'idleMs'>;

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
  /** Its clock, in milliseconds; coarse. */
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

/** Why a host gave no whole answer, and what the exchange fails with. */
const hostFailures = {
  unreachable: ['provider.unreachable', "the provider can't be reached"],
  'slow connect': ['provider.unreachable', 'the provider did not accept a connection in time'],
  slow: ['provider.timeout', 'the provider took too long to answer'],
  'large head': ['provider.broken_response', "the provider's headers are too large"],
  broken: ['provider.broken_response', 'the provider cut its answer short, or sent what is no HTTP answer'],
} as const satisfies Record<string, readonly [FailureCode, string]>;
type HostFailure = keyof typeof hostFailures;

/** How it ended. */
type RequestEnd = GatewayError | 'complete' | 'aborted';

/** Maximum bytes that wait for the end of the tick, or for the sink, before the host is paused. */
const waitingBytes = 64 * 1024;
const nothing = Buffer.alloc(0);
const noHeaders = new AnswerHeaders();
/** Most interim answers (1xx) that a host may send before its answer. */
const interimAnswers = 16;

/** One request at a provider and its answer: undici's handler on one side, what the gateway reads on the other. */
export class Upstream implements ProviderAnswer, Dispatcher.DispatchHandler, SwapRemoveItem, Paused {
  place = -1;
  status = 0;
  headers = noHeaders;
  /** When the request began to leave, by `performance.now()`; 0 before that. */
  sentAtMs = 0;
  readonly #settle: (failure: UpstreamFailure | undefined) => void;
  #pool: Pool | undefined;
  #connection: HostConnection | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  /** `sent`: the provider may work on the request. */
  #phase: 'connecting' | 'sent' | 'body' | 'over' = 'connecting';
  /** A time of the pool's clock. */
  #dueAtMs = Number.POSITIVE_INFINITY;
  #interim = 0;
  /** The connection has ended: the parser still delivers what it has, paused or not. */
  #isFlushing = false;
  /** Whether the body is delimited by the end of the connection. */
  #isCloseDelimited = false;
  /** Undefined again once it has been notified of the end. */
  #sink: BodySink | undefined;
  /** Whether the sink asked for a pause, which only itself may end. */
  #sinkWaits = false;
  /** What has arrived and has not been piped; undefined if there is nothing. */
  #waiting: Buffer[] | undefined;
  #waitingBytes = 0;
  #isScheduled = false;
  #outcome: RequestEnd | undefined;
  /** Whether the host is paused until a later tick. */
  #lacksTime = false;
  /** Made when first needed: an answer that comes as one piece is piped at once. */
  #atEndOfTick: (() => void) | undefined;

  /** `settle` is called once: with nothing when the head is here, or with the failure. */
  constructor(settle: (failure: UpstreamFailure | undefined) => void) {
    this.#settle = settle;
  }

  /** For the pool: the request is being sent. */
  begin(pool: Pool): void {
    this.#pool = pool;
    this.#dueAtMs = pool.nowMs + pool.timeouts.connectMs;
  }

  /** For the client: the connection that the request waits for, or is sent on immediately. */
  assign(connection: HostConnection): void {
    this.#connection = connection;
  }

  /** For the pool: ends the request if it is overdue. A host that we have paused is not late. */
  checkTime(nowMs: number): void {
    if (nowMs <= this.#dueAtMs || this.#isPaused) return;
    if (this.#phase === 'connecting') this.#giveUp('slow connect', 'the connection took too long');
    else if (this.#phase === 'sent') this.#giveUp('slow', 'the head took too long');
    else if (this.#phase === 'body') this.#giveUp('slow', 'nothing came for too long');
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#phase === 'over')
      return this.#connection?.giveUp(controller, new Error('the request was given up'));
    this.#phase = 'sent';
    this.sentAtMs = performance.now();
    this.#delay('headersMs');
  }

  onResponseStart(_controller: unknown, status: number, headers: IncomingHttpHeaders): void {
    if (this.#phase === 'over') return;
    if (status < 200) return this.#countInterim();
    const { 'transfer-encoding': coding, 'content-length': length } = headers;
    // llhttp accepts other codings too, which leave the end of the body undefined.
    if (coding !== undefined && coding.toLowerCase() !== 'chunked') {
      return this.#giveUp('broken', 'nobody can tell where the body ends');
    }
    this.#isCloseDelimited = coding === undefined && length === undefined && status !== 204 && status !== 304;
    this.#phase = 'body';
    this.#delay('idleMs');
    this.status = status;
    this.headers = new AnswerHeaders(headers);
    const { ticks } = this.#startedPool;
    if (ticks.isBusy) ticks.later(() => this.#headArrived());
    else this.#headArrived();
  }

  #headArrived(): void {
    if (this.#outcome !== 'aborted') this.#settle(undefined);
  }

  onResponseData(controller: Dispatcher.DispatchController, piece: Buffer): void {
    if (this.#phase !== 'body') return;
    this.#delay('idleMs');
    if (this.#waiting === undefined) this.#waiting = [piece];
    else this.#waiting.push(piece);
    this.#waitingBytes += piece.length;
    this.#schedule();
    if (this.#isFlushing) return;
    if (!this.#lacksTime) this.#lacksTime = !this.#startedPool.ticks.pieces.take(piece.length, this);
    if (this.#sinkWaits || this.#lacksTime || this.#waitingBytes > waitingBytes) controller.pause();
  }

  /** For the budget of pieces: there is time again. */
  goOn(): void {
    this.#lacksTime = false;
    if (!this.#sinkWaits) this.#resumeSoon();
  }

  /** What the connections of one tick bring is handled together, and what a read brings as one piece. */
  #schedule(): void {
    if (this.#isScheduled || this.#sink === undefined || this.#sinkWaits) return;
    this.#isScheduled = true;
    this.#atEndOfTick ??= () => {
      this.#isScheduled = false;
      this.#deliver();
    };
    this.#startedPool.ticks.soon(this.#atEndOfTick);
  }

  /** Pipes what has arrived, and how it ended. */
  #deliver(): void {
    const sink = this.#sink;
    if (sink === undefined || this.#sinkWaits) return;
    const piece = this.#takeWaiting();
    if (piece !== undefined) {
      this.#sinkWaits = !sink.data(piece);
      if (this.#sinkWaits) return;
    }
    const outcome = this.#outcome;
    if (outcome === undefined) return this.#resumeSoon();
    this.#sink = undefined;
    if (outcome === 'complete') sink.end();
    else if (outcome !== 'aborted') sink.fail(outcome);
  }

  #takeWaiting(): Buffer | undefined {
    const waiting = this.#waiting;
    if (waiting === undefined) return undefined;
    const piece = waiting.length === 1 ? waiting[0] : Buffer.concat(waiting, this.#waitingBytes);
    this.#waiting = undefined;
    this.#waitingBytes = 0;
    return piece;
  }

  flush(): void {
    this.#deliver();
  }

  onResponseEnd(): void {
    if (this.#phase === 'over') return;
    const socket = this.#connection?.socket;
    // libuv reports a reset right after data as an end, but then the socket has no peer any more.
    if (this.#isCloseDelimited && socket?.remoteAddress === undefined) {
      return this.fail('broken', new Error('the host reset the connection'));
    }
    // The host answered before it had read the whole request: it could take the rest for another request.
    if ((socket?.writableLength ?? 0) > 0) socket?.destroy();
    this.#finish('complete');
    if (!this.#isScheduled) this.#deliver();
  }

  onResponseError(_controller: unknown, cause: Error & { readonly code?: string }): void {
    if (cause.code === 'UND_ERR_HEADERS_OVERFLOW') this.fail('large head', cause);
    else this.fail(this.sentAtMs > 0 ? 'broken' : 'unreachable', cause);
  }

  fail(kind: HostFailure, cause: Error): void {
    if (this.#phase === 'over') return;
    const [code, message] = hostFailures[kind];
    const error = new GatewayError(code, message, { cause });
    this.#finish(error);
    if (this.status === 0) this.#settle({ error, wasSent: this.sentAtMs > 0 });
    else if (!this.#isScheduled) this.#deliver();
  }

  whole(): Buffer | undefined {
    return this.#outcome === 'complete' ? (this.#takeWaiting() ?? nothing) : undefined;
  }

  pipe(sink: BodySink): void {
    this.#sink = sink;
    this.#deliver();
  }

  get isBehind(): boolean {
    return this.#waiting !== undefined || this.#isPaused;
  }

  /** Whether the host is paused. */
  get #isPaused(): boolean {
    return this.#phase === 'body' && this.#controller?.paused === true;
  }

  resume(): void {
    this.#sinkWaits = false;
    this.#deliver();
  }

  #resumeSoon(): void {
    // undici must not be called from within one of its own callbacks, not even another answer's.
    if (this.#isPaused && !this.#lacksTime) queueMicrotask(() => this.#resumeNow());
  }

  /** For the connection: it has ended. The request must not be aborted until undici has noticed that as well. */
  connectionEnded(): void {
    if (!this.#isPaused) return;
    this.#isFlushing = true;
    this.#resumeNow();
  }

  #resumeNow(): void {
    if (!this.#isPaused) return;
    this.#delay('idleMs');
    this.#controller?.resume();
  }

  abort(): void {
    this.#sink = undefined;
    this.#waiting = undefined;
    if (this.#phase === 'over') {
      this.#outcome = 'aborted';
      return;
    }
    this.#finish('aborted');
    this.#connection?.giveUp(this.#controller, new Error('the request was given up'));
  }

  #countInterim(): void {
    this.#interim += 1;
    if (this.#interim > interimAnswers)
      this.#giveUp('broken', 'the host sends one interim answer after another');
  }

  #giveUp(kind: HostFailure, what: string): void {
    const cause = new Error(what);
    this.fail(kind, cause);
    this.#connection?.giveUp(this.#controller, cause);
  }

  #finish(outcome: RequestEnd): void {
    this.#phase = 'over';
    this.#outcome = outcome;
    this.#connection?.ended(this);
    this.#pool?.ended(this);
  }

  /** Only after it has begun. */
  get #startedPool(): Pool {
    return this.#pool as Pool;
  }

  #delay(timeout: keyof UpstreamTimeouts): void {
    const { nowMs, timeouts } = this.#startedPool;
    this.#dueAtMs = nowMs + timeouts[timeout];
  }
}
