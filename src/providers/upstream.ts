import { type FailureCode, GatewayError } from '../errors.ts';
import { AnswerHeaders } from './answer-headers.ts';
import type { HostConnection, HostFailure } from './host-connection.ts';

/** Who takes an answer's body, piece by piece. */
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
  /** The body, where all of it came with the head in one piece and so has no need to be piped. */
  whole(): Buffer | undefined;
  /** Starts the body towards the sink; call once. */
  pipe(sink: BodySink): void;
  resume(): void;
  /** Gives the exchange up; the connection is closed and the sink hears nothing more. */
  abort(): void;
}

/** What a provider did instead of answering. `wasSent` tells whether it may have worked on the request. */
export interface UpstreamFailure {
  readonly error: GatewayError;
  readonly wasSent: boolean;
}

/** One request at a provider and its answer, between the connection that it goes over and those who read it. */
export class Upstream implements ProviderAnswer {
  status = 0;
  #headers: AnswerHeaders | undefined;
  readonly #settle: (failure: UpstreamFailure | undefined) => void;
  #connection: HostConnection | undefined;
  #wasSent = false;
  #sink: BodySink | undefined;
  /** What arrived in the same read as the head, before anybody could ask for it. */
  #early: Buffer[] = [];
  #outcome: GatewayError | 'complete' | undefined;
  #isAborted = false;

  /** `settle` is called once: with nothing when the head is here, or with the failure. */
  constructor(settle: (failure: UpstreamFailure | undefined) => void) {
    this.#settle = settle;
  }

  /** None before the head is here. */
  get headers(): AnswerHeaders {
    this.#headers ??= new AnswerHeaders();
    return this.#headers;
  }

  /** For the pool: the connection that the request goes over. */
  begin(connection: HostConnection): void {
    this.#connection = connection;
  }

  /** For the connection: from now on the provider may work on the request. */
  sent(): void {
    this.#wasSent = true;
  }

  /** For the connection, as the next three: the answer's head is here. */
  head(status: number, headers: AnswerHeaders): void {
    this.status = status;
    this.#headers = headers;
    this.#settle(undefined);
  }

  /** False asks for a pause. */
  data(piece: Buffer): boolean {
    if (this.#sink !== undefined) return this.#sink.data(piece);
    this.#early.push(piece);
    return true;
  }

  complete(): void {
    this.#outcome = 'complete';
    this.#sink?.end();
  }

  fail(failure: HostFailure): void {
    if (this.#isAborted) return;
    const error = toError(failure);
    this.#outcome = error;
    if (this.status === 0) this.#settle({ error, wasSent: this.#wasSent });
    else this.#sink?.fail(error);
  }

  whole(): Buffer | undefined {
    const [first, second] = this.#early;
    return this.#outcome === 'complete' && second === undefined && !this.#isAborted ? first : undefined;
  }

  pipe(sink: BodySink): void {
    this.#sink = sink;
    const early = this.#early;
    this.#early = [];
    for (const chunk of early) if (!this.#isAborted) sink.data(chunk);
    if (this.#isAborted) return;
    if (this.#outcome === 'complete') sink.end();
    else if (this.#outcome !== undefined) sink.fail(this.#outcome);
  }

  resume(): void {
    if (this.#outcome === undefined && !this.#isAborted) this.#connection?.resume();
  }

  abort(): void {
    if (this.#isAborted) return;
    this.#isAborted = true;
    // Behind its answer the connection may be another one's.
    if (this.#outcome === undefined) this.#connection?.destroy();
  }
}

const words: Readonly<Record<HostFailure['kind'], readonly [FailureCode, string]>> = {
  unreachable: ['provider.unreachable', "the provider can't be reached"],
  'slow connect': ['provider.unreachable', 'the provider did not accept a connection in time'],
  'slow head': ['provider.timeout', 'the provider took too long to answer'],
  'slow body': ['provider.timeout', 'the provider took too long to answer'],
  'large head': ['provider.broken_response', "the provider's headers are too large"],
  broken: ['provider.broken_response', 'the provider broke off or answered nonsense'],
};

function toError({ kind, cause }: HostFailure): GatewayError {
  const [code, message] = words[kind];
  return new GatewayError(code, message, { cause });
}
