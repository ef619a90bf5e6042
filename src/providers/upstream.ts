import type { ShortTexts } from '../dialects/short-texts.ts';
import { GatewayError } from '../errors.ts';
import { AnswerHeaders } from './answer-headers.ts';
import type { DispatchHandler } from './pool.ts';

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

/**
 * One request at a provider, as undici's dispatch wants it: the older handler interface, because it hands
 * over raw header buffers and takes back-pressure as a return value, with no object per event.
 */
export class Upstream implements DispatchHandler, ProviderAnswer {
  status = 0;
  #rawHeaders: readonly Buffer[] = [];
  #headers: AnswerHeaders | undefined;
  readonly #headTexts: ShortTexts | undefined;
  readonly #settle: (failure: UpstreamFailure | undefined) => void;
  #abort: ((error?: Error) => void) | undefined;
  #resume: () => void = () => undefined;
  #sink: BodySink | undefined;
  /** What arrived in the same read as the head, before anybody could ask for it. */
  #early: Buffer[] = [];
  #outcome: GatewayError | 'complete' | undefined;
  #isAborted = false;

  /** `settle` is called once: with nothing when the head is here, or with the failure. */
  constructor(settle: (failure: UpstreamFailure | undefined) => void, headTexts?: ShortTexts) {
    this.#settle = settle;
    this.#headTexts = headTexts;
  }

  get headers(): AnswerHeaders {
    this.#headers ??= new AnswerHeaders(this.#rawHeaders, this.#headTexts);
    return this.#headers;
  }

  onConnect(abort: (error?: Error) => void): void {
    // Undici opens a spare connection for a request that was given up while it connected.
    if (this.#isAborted) abort();
    this.#abort = abort;
  }

  onHeaders(status: number, rawHeaders: Buffer[], resume: () => void): boolean {
    if (status < 200) return true;
    this.status = status;
    this.#rawHeaders = rawHeaders;
    this.#resume = resume;
    this.#settle(undefined);
    return true;
  }

  onData(chunk: Buffer): boolean {
    if (this.#sink !== undefined) return this.#sink.data(chunk);
    this.#early.push(chunk);
    return true;
  }

  onComplete(): void {
    this.#outcome = 'complete';
    this.#sink?.end();
  }

  onError(cause: Error): void {
    if (this.#isAborted) return;
    const error = toFailure(cause, this.#abort !== undefined);
    this.#outcome = error;
    if (this.status === 0) this.#settle({ error, wasSent: this.#abort !== undefined });
    else this.#sink?.fail(error);
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
    this.#resume();
  }

  abort(): void {
    if (this.#isAborted) return;
    this.#isAborted = true;
    if (this.#outcome === undefined) this.#abort?.();
  }
}

function toFailure(cause: Error, isConnected: boolean): GatewayError {
  switch ((cause as NodeJS.ErrnoException).code) {
    case 'UND_ERR_HEADERS_TIMEOUT':
    case 'UND_ERR_BODY_TIMEOUT':
      return new GatewayError('provider.timeout', 'the provider took too long to answer', { cause });
    case 'UND_ERR_CONNECT_TIMEOUT':
      return new GatewayError('provider.unreachable', 'the provider did not accept a connection in time', {
        cause,
      });
    case 'UND_ERR_HEADERS_OVERFLOW':
      return new GatewayError('provider.broken_response', "the provider's headers are too large", { cause });
    default:
      break;
  }
  if (!isConnected)
    return new GatewayError('provider.unreachable', "the provider can't be reached", { cause });
  return new GatewayError('provider.broken_response', 'the provider broke off or answered nonsense', {
    cause,
  });
}
