import type { ServerResponse } from 'node:http';
import type { Dialect, Usage } from '../dialects/dialect.ts';
import { StreamObserver } from '../dialects/stream-observer.ts';
import { GatewayError } from '../errors.ts';
import type { BodySink, ProviderAnswer } from '../providers/upstream.ts';
import type { Exchange } from './exchange.ts';

// How long the last event may take to leave before the socket is destroyed under it.
const cutGraceMs = 1_000;

interface StreamOptions {
  readonly answer: ProviderAnswer;
  readonly dialect: Dialect;
  /** Flat list of names and values. */
  readonly headers: readonly string[];
}

/**
 * Passes an event stream on as it comes: the provider's chunks are the client's chunks. Resolves with the
 * usage when the answer is complete, or when the client left; throws where the stream was cut, after having
 * told the client so.
 */
export function relayStream(exchange: Exchange, options: StreamOptions): Promise<Usage | undefined> {
  const { response } = exchange;
  response.writeHead(options.answer.status, [
    ...options.headers,
    'cache-control',
    'no-cache',
    'x-accel-buffering',
    'no',
  ]);
  // Without it the head waits for the first event, and clients wait for the head.
  response.flushHeaders();
  return new Promise((resolve, reject) => {
    const sink = new StreamSink(exchange, options, (error, usage) =>
      error ? reject(error) : resolve(usage),
    );
    options.answer.pipe(sink);
  });
}

class StreamSink implements BodySink {
  readonly #exchange: Exchange;
  readonly #response: ServerResponse;
  readonly #answer: ProviderAnswer;
  readonly #dialect: Dialect;
  readonly #observer: StreamObserver;
  readonly #settle: (error: GatewayError | undefined, usage?: Usage) => void;
  // The lifetime may be over already, and then calls back before it has given its function.
  #forget: () => void = () => undefined;
  #isPaused = false;
  readonly #resume = () => {
    this.#isPaused = false;
    this.#answer.resume();
  };
  #bytes = 0;
  #isOver = false;

  constructor(
    exchange: Exchange,
    { answer, dialect }: StreamOptions,
    settle: (error: GatewayError | undefined, usage?: Usage) => void,
  ) {
    this.#exchange = exchange;
    this.#response = exchange.response;
    this.#answer = answer;
    this.#dialect = dialect;
    this.#observer = new StreamObserver(dialect);
    this.#settle = settle;
    this.#forget = exchange.lifetime.onEnd(() => this.#lifetimeEnded());
  }

  data(chunk: Buffer): boolean {
    if (this.#isOver) return true;
    if (this.#bytes === 0) this.#exchange.noteFirstByte();
    this.#bytes += chunk.length;
    try {
      this.#observer.observe(chunk);
    } catch (error) {
      this.#answer.abort();
      this.fail(error as GatewayError); // the observer throws nothing else
      return true;
    }
    if (this.#response.write(chunk)) return true;
    // What was under way still comes after a pause was asked for.
    if (!this.#isPaused) this.#response.once('drain', this.#resume);
    this.#isPaused = true;
    return false;
  }

  end(): void {
    if (this.#isOver) return;
    if (!this.#observer.isComplete) {
      this.fail(new GatewayError('provider.broken_response', 'the provider ended its stream in the middle'));
      return;
    }
    this.#finish(undefined);
    this.#response.end();
  }

  fail(error: GatewayError): void {
    if (this.#isOver) return;
    this.#finish(error);
    const event = this.#dialect.errorEvent(error, this.#exchange.id, this.#observer.events);
    // Behind half a line the event would be read as part of it.
    cut(this.#exchange, this.#observer.isAtLineStart ? event : `\n${event}`);
  }

  #lifetimeEnded(): void {
    const reason = this.#exchange.lifetime.reason;
    if (reason === undefined || this.#isOver) return;
    this.#answer.abort();
    if (reason.code === 'client.left') this.#finish(reason);
    else this.fail(reason);
  }

  #finish(error: GatewayError | undefined): void {
    this.#isOver = true;
    this.#forget();
    this.#response.removeListener('drain', this.#resume);
    this.#exchange.draft.bytes_out = this.#bytes;
    this.#exchange.noteUsage(this.#observer.usage);
    this.#settle(error, this.#observer.usage);
  }
}

/** Ends a begun answer so that nobody takes it for a whole one: an error event, no closing chunk, no socket. */
function cut({ response }: Exchange, lastWords: string): void {
  const { socket } = response;
  const destroy = () => socket?.destroy();
  response.write(lastWords, destroy);
  setTimeout(destroy, cutGraceMs).unref();
}
