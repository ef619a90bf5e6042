import type { ProviderFailure } from '../../dialects/conversation.ts';
import { parseFailure, toFailure } from '../../dialects/failure.ts';
import { parseJson } from '../../dialects/fields.ts';
import { formatSse, pingComment, type SseEvent } from '../../dialects/sse.ts';
import { GatewayError } from '../../errors.ts';
import type { DecidedRequest } from '../decision/decide-request.ts';
import { dialectAtTarget } from '../endpoints.ts';
import type { Exchange } from '../exchange.ts';
import { limitHeadersOf } from '../rate-limit-headers.ts';
import type { RoutedRequest } from '../route.ts';
import { agentOf } from '../sender.ts';
import { wantsArray } from './answer-headers.ts';

/** nginx gives up after 60 s without a head. */
const ownOpenAfterMs = 45_000;
const betweenSignsMs = 15_000;

/**
 * The head of a stream, sent while the provider has not answered yet, with signs of life behind it until the answer begins.
 * From then on a failure is an error event. For streams that the gateway writes, and where `open_after` is set.
 */
export class EarlyHead {
  readonly #exchange: Exchange;
  readonly #decided: DecidedRequest;
  readonly #isPossible: boolean;
  #timer: NodeJS.Timeout | undefined;
  /** Whether the client has a head, and of the answer nothing yet. */
  isOpen = false;

  constructor(exchange: Exchange, { decided, targets: [first] }: RoutedRequest, query: string) {
    this.#exchange = exchange;
    this.#decided = decided;
    const { endpoint, request } = decided;
    this.#isPossible = request.stream && !wantsArray(endpoint, query);
    if (!this.#isPossible) return;
    const { options } = first.provider;
    const isTranslated = dialectAtTarget(first, endpoint) !== endpoint.dialectName;
    const { openAfterMs = isTranslated ? ownOpenAfterMs : undefined } = options;
    if (openAfterMs !== undefined) this.#timer = setTimeout(() => this.#open(), openAfterMs).unref();
  }

  /** The gateway writes the stream, as is known by now: of a whole answer, on which the host may still work. */
  expectWhole(): void {
    if (this.#isPossible) this.#timer ??= setTimeout(() => this.#open(), ownOpenAfterMs).unref();
  }

  #open(): void {
    const { response, id } = this.#exchange;
    if (response.isClosed) return;
    this.isOpen = true;
    response.writeHead(200, [
      ...limitHeadersOf(this.#exchange),
      ...['content-type', 'text/event-stream', 'cache-control', 'no-cache', 'x-accel-buffering', 'no'],
      ...['x-content-type-options', 'nosniff', 'x-request-id', id, 'request-id', id],
    ]);
    response.flushHead();
    this.#timer = setInterval(() => response.write(this.#sign()), betweenSignsMs).unref();
    response.write(this.#sign());
  }

  /** Comments don't reset Codex's timer, and OpenAI's SDK takes no other event before an answer's first. */
  #sign(): Buffer {
    const { heartbeat, earlyHeartbeat = pingComment } = this.#decided.endpoint.dialect;
    const isCodex = agentOf(this.#exchange.request) === 'codex';
    return toBytes(isCodex && heartbeat !== undefined ? heartbeat : earlyHeartbeat);
  }

  /** The answer begins, or there will be none. Returns whether its head has been sent. */
  stop(): boolean {
    clearTimeout(this.#timer);
    const wasOpen = this.isOpen;
    this.isOpen = false;
    return wasOpen;
  }

  /** Ends the stream with the event of a failure. */
  fail(error: GatewayError): void {
    const { scrubber, id } = this.#exchange;
    const failure = toFailure(error, id);
    this.#end(error, { ...failure, message: scrubber.text(failure.message) });
  }

  /** Ends it with a provider's error, whose body is in the client's dialect. */
  failWith(status: number, body: Buffer): void {
    const text = body.toString();
    const failure = parseFailure(parseJson(text) ?? text, status);
    const message = `the provider answered with status ${status}`;
    this.#end(new GatewayError('provider.broken_response', message), failure);
  }

  #end(error: GatewayError, failure: ProviderFailure): void {
    this.stop();
    const { events, response } = this.#exchange;
    const bytes = toBytes(this.#decided.endpoint.dialect.errorEvent(failure, 0));
    events.failed(error, false);
    events.wrote(bytes);
    response.breakOff(bytes);
  }
}

function toBytes({ name, data }: SseEvent): Buffer {
  return Buffer.from(formatSse(name, data));
}
