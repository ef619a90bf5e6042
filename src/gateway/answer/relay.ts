import { GatewayError, toGatewayError } from '../../errors.ts';
import type { HeldBytes } from '../../http/body.ts';
import type { HttpResponse } from '../../http/response.ts';
import type { BodySink, ProviderAnswer } from '../../providers/transport/upstream.ts';
import type { Exchange } from '../exchange.ts';
import type { ReadAnswer, SeenAnswer } from '../subscriber.ts';
import type { AnswerStream } from './answer-stream.ts';
import type { ClientAnswer } from './client-answer.ts';

// Limits on what a provider may still send after its last event: time and bytes. Then its connection is closed.
const tailMs = 1_000;
const tailBytes = 64 * 1024;
const complete = { kind: 'complete' } as const;
/** Bytes of an event that no memory for bodies is asked for: nearly all events are smaller. */
const uncounted = 1024 * 1024;

/** What is relayed: an `AnswerStream`. */
export type RelayedStream = Pick<
  AnswerStream,
  'transform' | 'heartbeat' | 'end' | 'fail' | 'state' | 'hasLastEvent' | 'tally' | 'heldBytes'
>;

interface StreamOptions {
  readonly answer: ProviderAnswer;
  readonly stream: RelayedStream;
  /** Flat list of names and values. */
  readonly headers: readonly string[];
  /** What the client gets. */
  readonly client: ClientAnswer;
  /** After how much silence of the provider the client gets signs of life; undefined for none. */
  readonly heartbeatMs?: number | undefined;
  /** What the exchange takes of the memory for bodies. */
  readonly held: HeldBytes;
  /** What checking the stream has found so far. */
  readonly found: () => Pick<ReadAnswer, 'verdicts' | 'masking'>;
}

/**
 * Passes an event stream on as it comes, no faster than the client reads. Resolves when the answer is complete; rejects if
 * the stream failed, after sending an error event, and if the client disconnected.
 */
export function relayStream(exchange: Exchange, options: StreamOptions): Promise<void> {
  options.client.begin(options.answer.status, options.headers);
  return new Promise((resolve, reject) => {
    const sink = new StreamSink(exchange, options, (error) => (error ? reject(error) : resolve()));
    options.answer.pipe(sink);
  });
}

class StreamSink implements BodySink {
  readonly #exchange: Exchange;
  readonly #response: HttpResponse;
  readonly #answer: ProviderAnswer;
  readonly #client: ClientAnswer;
  readonly #stream: RelayedStream;
  readonly #held: HeldBytes;
  readonly #found: StreamOptions['found'];
  readonly #settle: (error: GatewayError | undefined) => void;
  // The lifetime may be over already, and then calls back before `onEnd` returns.
  #forget: () => void = () => undefined;
  #awaitsDrain = false;
  readonly #resume = () => {
    this.#awaitsDrain = false;
    this.#answer.resume();
  };
  readonly #heartbeat: NodeJS.Timeout | undefined;
  /** Whether more had arrived than was read when the answer was abandoned. */
  #wasBehind = false;
  /** `tail`: the client has its whole answer, the provider has not ended its own yet. */
  #phase: 'passing' | 'tail' | 'over' = 'passing';
  #tailTimer: NodeJS.Timeout | undefined;
  #tailBytes = 0;
  /** Of the largest event so far. */
  #counted = 0;

  constructor(
    exchange: Exchange,
    { answer, stream, client, held, found, heartbeatMs }: StreamOptions,
    settle: (error: GatewayError | undefined) => void,
  ) {
    this.#exchange = exchange;
    this.#response = exchange.response;
    this.#answer = answer;
    this.#client = client;
    this.#stream = stream;
    this.#held = held;
    this.#found = found;
    this.#settle = settle;
    if (heartbeatMs !== undefined) this.#heartbeat = setTimeout(() => this.#beat(), heartbeatMs).unref();
    this.#forget = exchange.lifetime.onEnd(() => this.#lifetimeEnded());
  }

  data(chunk: Buffer): boolean {
    if (this.#phase !== 'passing') return this.#skip(chunk);
    let passed: Buffer;
    try {
      passed = this.#stream.transform(chunk);
      this.#account(this.#stream.heldBytes);
    } catch (error) {
      this.#giveUp(toGatewayError(error));
      return true;
    }
    const mayGoOn = this.#write(passed);
    if (this.#stream.state !== 'open') {
      this.#lastEventIsOut();
      return true;
    }
    if (!mayGoOn) this.#awaitDrain();
    return mayGoOn;
  }

  /** A large event counts as bodies do until the exchange is over. Throws gateway.overloaded. */
  #account(heldBytes: number): void {
    if (heldBytes <= uncounted || heldBytes <= this.#counted) return;
    this.#held.add(heldBytes - this.#counted);
    this.#counted = heldBytes;
  }

  /** Pauses once: chunks already under way still arrive after a pause. */
  #awaitDrain(): void {
    if (this.#awaitsDrain) return;
    this.#awaitsDrain = true;
    this.#response.onDrain(this.#resume);
  }

  end(): void {
    if (this.#phase === 'tail') this.#finish(undefined);
    if (this.#phase !== 'passing') return;
    try {
      this.#write(this.#stream.end());
    } catch (error) {
      this.fail(toGatewayError(error));
      return;
    }
    if (this.#stream.state === 'failed') return this.#cut(endedByProvider());
    this.#complete();
    this.#finish(undefined);
  }

  fail(error: GatewayError): void {
    if (this.#phase === 'tail') this.#finish(undefined);
    if (this.#phase !== 'passing') return;
    this.#cut(error);
  }

  #write(events: Buffer): boolean {
    if (events.length === 0) return true;
    this.#heartbeat?.refresh();
    return this.#client.write(events);
  }

  #beat(): void {
    if (this.#phase !== 'passing') return;
    this.#heartbeat?.refresh();
    if (this.#awaitsDrain) return;
    const sign = this.#stream.heartbeat();
    if (sign.length > 0) this.#client.writeSign(sign);
  }

  #lastEventIsOut(): void {
    if (this.#stream.state === 'failed') return this.#giveUp(endedByProvider());
    this.#phase = 'tail';
    this.#complete();
    // The provider doesn't know that the answer is over, and would go on generating at the gateway's cost.
    if (this.#stream.state === 'cut') return this.#endTail();
    this.#tailTimer = setTimeout(() => this.#endTail(), tailMs).unref();
  }

  /** Nothing that follows the last event is for the client. */
  #skip(chunk: Buffer): boolean {
    this.#tailBytes += chunk.length;
    if (this.#phase === 'tail' && this.#tailBytes > tailBytes) this.#endTail();
    return true;
  }

  #endTail(): void {
    this.#abort();
    this.#finish(undefined);
  }

  #lifetimeEnded(): void {
    const reason = this.#exchange.lifetime.reason;
    if (reason === undefined || this.#phase === 'over') return;
    if (this.#phase === 'tail') return this.#endTail();
    if (reason.code !== 'client.left') return this.#giveUp(reason);
    this.#abort();
    this.#client.end(this.#read(reason), { kind: 'none' });
    this.#finish(reason);
  }

  /** Ends both sides; the client gets an error event. */
  #giveUp(error: GatewayError): void {
    this.#abort();
    this.#cut(error);
  }

  #cut(error: GatewayError): void {
    if (this.#stream.hasLastEvent) {
      this.#complete();
      return this.#finish(undefined);
    }
    const errorEvent = this.#stream.fail(error, this.#exchange.id);
    this.#finish(error);
    this.#client.end(this.#read(error), { kind: 'broken', errorEvent });
  }

  /** What the exchange used must be known before its answer is completed. */
  #complete(): void {
    this.#client.end(this.#read(undefined), complete);
  }

  #read(error: GatewayError | undefined): ReadAnswer {
    const seen = { tally: this.#stream.tally, extent: this.#extent(error) };
    return { seen, ...this.#found() };
  }

  /** How much of the provider's answer was read. */
  #extent(error: GatewayError | undefined): SeenAnswer['extent'] {
    if (error === undefined && this.#stream.state !== 'cut') return 'whole';
    // A provider that broke off or fell silent may have written what never came.
    const isLeft = error === undefined || error.code === 'client.left' || error.code === 'policy.blocked';
    return this.#wasBehind || !isLeft ? 'unread' : 'cut';
  }

  #abort(): void {
    this.#wasBehind = this.#awaitsDrain || this.#answer.isBehind;
    this.#answer.abort();
  }

  #finish(error: GatewayError | undefined): void {
    this.#phase = 'over';
    clearTimeout(this.#tailTimer);
    clearTimeout(this.#heartbeat);
    this.#forget();
    this.#response.onDrain(undefined);
    this.#settle(error);
  }
}

function endedByProvider(): GatewayError {
  return new GatewayError('provider.broken_response', 'the provider ended its stream with an error');
}
