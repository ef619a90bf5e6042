import type { ProviderFailure } from '../../dialects/conversation.ts';
import type { Dialect } from '../../dialects/dialect.ts';
import { parseFailure, toFailure } from '../../dialects/failure.ts';
import { parseJson } from '../../dialects/fields.ts';
import { formatSse, pingComment, type SseEvent } from '../../dialects/sse.ts';
import { GatewayError } from '../../errors.ts';
import { LimitError, type LimitState } from '../../limits/limiter.ts';
import type { Forwarded } from '../../providers/attempt.ts';
import { dialectAtTarget, type ModelEndpoint } from '../endpoints.ts';
import type { Exchange } from '../exchange.ts';
import type { UpstreamRequest } from '../outgoing/build-upstream-request.ts';
import type { RoutedRequest } from '../route.ts';
import { agentOf } from '../sender.ts';
import type { ReadAnswer } from '../subscriber.ts';

/** nginx gives up after 60 s without a head. */
const ownOpenAfterMs = 45_000;
const betweenSignsMs = 15_000;

/** How the client's answer ends once the provider's has been read. */
type AnswerEnd =
  /** The client has left, or gets an error in its place. */
  | { readonly kind: 'none' }
  /** Its last event has been written. */
  | { readonly kind: 'complete' }
  | { readonly kind: 'broken'; readonly errorEvent: Buffer }
  | {
      readonly kind: 'whole';
      readonly status: number;
      readonly body: Buffer;
      readonly forwarded: Forwarded<UpstreamRequest>;
      /** The body is not the provider's own: the gateway rewrote it. */
      readonly isOwn: boolean;
    };

/**
 * The answer that a client gets: its head, its pieces and its end, each of which is published here. For streams that the
 * gateway writes, and for providers with `open_after`, the head may be sent before the provider has answered, followed by
 * signs of life; from then on a failure is an error event.
 */
export class ClientAnswer {
  readonly #exchange: Exchange;
  /** The dialect of a stream of events; undefined for other answers, whose head is never early. */
  readonly #dialect: Dialect | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** Whether the client has a head, and nothing of the answer yet. */
  hasOnlyHead = false;

  /** `dialect`: of a stream of events. `openAfterMs`: when its head is sent without an answer; undefined if it waits for one. */
  constructor(exchange: Exchange, dialect?: Dialect, openAfterMs?: number) {
    this.#exchange = exchange;
    this.#dialect = dialect;
    if (dialect !== undefined && openAfterMs !== undefined)
      this.#timer = setTimeout(() => this.#open(dialect), openAfterMs).unref();
  }

  /** The gateway will write the stream itself, from a whole answer on which the host may still work. */
  expectWhole(): void {
    const dialect = this.#dialect;
    if (dialect !== undefined) this.#timer ??= setTimeout(() => this.#open(dialect), ownOpenAfterMs).unref();
  }

  #open(dialect: Dialect): void {
    const { response, id } = this.#exchange;
    if (response.isClosed) return;
    this.hasOnlyHead = true;
    response.writeHead(200, [
      ...limitHeadersOf(this.#exchange),
      ...['content-type', 'text/event-stream', ...streamHeaders],
      ...['x-content-type-options', 'nosniff', 'x-request-id', id, 'request-id', id],
    ]);
    response.flushHead();
    this.#timer = setInterval(() => response.write(this.#sign(dialect)), betweenSignsMs).unref();
    response.write(this.#sign(dialect));
  }

  /** Comments don't reset Codex's timer, and OpenAI's SDK takes no other event before an answer's first. */
  #sign({ heartbeat, earlyHeartbeat = pingComment }: Dialect): Buffer {
    const isCodex = agentOf(this.#exchange.request) === 'codex';
    return toBytes(isCodex && heartbeat !== undefined ? heartbeat : earlyHeartbeat);
  }

  /** The answer begins, or there will be none. Returns whether its head has been sent. */
  stop(): boolean {
    clearTimeout(this.#timer);
    const wasOpen = this.hasOnlyHead;
    this.hasOnlyHead = false;
    return wasOpen;
  }

  /** A stream begins. Its head is lost if the client has one already. */
  begin(status: number, headers: readonly string[]): void {
    if (this.stop()) return;
    const { response } = this.#exchange;
    response.writeHead(status, [...headers, ...streamHeaders]);
    response.flushHead();
  }

  /** False asks for a pause. */
  write(events: Buffer): boolean {
    return this.#exchange.response.write(this.#published(events));
  }

  /** Between events; it is neither the first byte of the answer nor a part of what was used. */
  writeSign(sign: Buffer): void {
    this.#exchange.response.write(sign);
  }

  /**
   * No more of the provider's answer is read: once, before the client's last byte leaves. Throws provider.broken_response if
   * it ends with a whole answer, and the client has the head of a stream: the answer is its error event.
   */
  end(read: ReadAnswer, ending: AnswerEnd): void {
    const { events, response } = this.#exchange;
    events.answerRead(read);
    switch (ending.kind) {
      case 'none':
        return;
      case 'complete':
        return response.end();
      case 'broken':
        return response.breakOff(this.#published(ending.errorEvent));
      case 'whole': {
        const { status, body, forwarded } = ending;
        if (this.hasOnlyHead) throw this.#failedWith(status, body);
        const headers = headersFor(this.#exchange, forwarded, ending);
        headers.push('content-length', String(body.length));
        response.writeHead(status, headers);
        response.end(this.#published(body));
      }
    }
  }

  /** Ends the stream that has only its head with the event of a failure. */
  fail(error: GatewayError): void {
    const { scrubber, id } = this.#exchange;
    const failure = toFailure(error, id);
    this.#breakOff({ ...failure, message: scrubber.text(failure.message) });
  }

  /** Ends it with a provider's error, whose body is in the client's dialect. */
  #failedWith(status: number, body: Buffer): GatewayError {
    const text = body.toString();
    this.#breakOff(parseFailure(parseJson(text) ?? text, status));
    const message = `the provider answered with status ${status}`;
    return new GatewayError('provider.broken_response', message);
  }

  #breakOff(failure: ProviderFailure): void {
    this.stop();
    const event = this.#dialect?.errorEvent(failure, 0);
    if (event !== undefined) this.#exchange.response.breakOff(this.#published(toBytes(event)));
  }

  #published(piece: Buffer): Buffer {
    this.#exchange.events.wrote(piece);
    return piece;
  }
}

/** The answer to a routed request, whose head may leave early. `query`: without its question mark. */
export function clientAnswer(
  exchange: Exchange,
  { decided: { endpoint, request }, targets: [first] }: RoutedRequest,
  query: string,
): ClientAnswer {
  if (!request.stream || wantsArray(endpoint, query)) return new ClientAnswer(exchange);
  const isTranslated = dialectAtTarget(first, endpoint) !== endpoint.dialectName;
  const { openAfterMs = isTranslated ? ownOpenAfterMs : undefined } = first.provider.options;
  return new ClientAnswer(exchange, endpoint.dialect, openAfterMs);
}

function toBytes({ name, data }: SseEvent): Buffer {
  return Buffer.from(formatSse(name, data));
}

/** Of a dialect whose streams are events only if the client asks for them. `query`: without its question mark. */
export function wantsArray({ call }: ModelEndpoint, query: string): boolean {
  return call.query !== undefined && new URLSearchParams(query).get('alt') !== 'sse';
}

const streamHeaders = ['cache-control', 'no-cache', 'x-accel-buffering', 'no'];

const none: readonly string[] = [];

interface HeaderOptions {
  /** The body is not the provider's own: the gateway rewrote it. */
  readonly isOwn: boolean;
}

/**
 * The headers of an answer, as a flat list of names and values: the provider's that are passed on, without configured
 * secrets, then the gateway's.
 */
export function headersFor(
  exchange: Exchange,
  { answer, target, request }: Forwarded<UpstreamRequest>,
  { isOwn }: HeaderOptions,
): string[] {
  const { id, record } = exchange;
  // The provider's limits on a client's own login are the client's own to act on. Otherwise they apply to the gateway, and
  // a client under the gateway's limits must not act on them.
  const hasOwnLimits = target.provider.takesLogin && answer.headers.hasRateLimits;
  const limits = hasOwnLimits ? none : limitHeadersOf(exchange);
  const rateLimits = limits.length === 0;
  const passed = rateLimits ? [] : [...limits];
  answer.headers.passOn(passed, exchange.scrubber, { rateLimits });
  const headers = isOwn ? withJsonType(passed) : passed;
  headers.push('x-content-type-options', 'nosniff', 'x-request-id', id);
  if (answer.headers.get('request-id') === undefined) headers.push('request-id', id);
  headers.push('x-gateway-body', request.form, 'x-gateway-attempts', String(record.soFar.attempts));
  if (answer.status < 400) {
    headers.push('x-gateway-provider', target.provider.options.name, 'x-gateway-model', target.model);
  }
  for (const rule of record.warnings) headers.push('x-gateway-warning', rule);
  return headers;
}

/** The gateway's own bodies are JSON, even if the provider's answer was not. */
function withJsonType(headers: readonly string[]): string[] {
  const at = headers.indexOf('content-type');
  const others = at < 0 ? headers : [...headers.slice(0, at), ...headers.slice(at + 2)];
  return ['content-type', 'application/json', ...others];
}

const rates = [
  { unit: 'requests', limit: 'requests_per_minute' },
  { unit: 'tokens', limit: 'tokens_per_minute' },
] as const;

/**
 * Rate-limit headers as the client's SDK reads them, a flat list; empty if nothing is limited. They report the tighter of
 * the project's and the key's limit.
 */
export function limitHeadersOf({ record, spending, startedMs: nowMs }: Exchange): readonly string[] {
  const { limits } = spending;
  const states = record.failure instanceof LimitError ? record.failure.states : limits?.states;
  if (limits === undefined || states === undefined) return none;
  return rates.flatMap(({ unit, limit }) => {
    const state = tightest(states, limit);
    if (state === undefined) return [];
    const { max, remaining, resetMs } = state;
    return limits.dialect.limitHeaders({ unit, max, remaining, resetMs, nowMs });
  });
}

function tightest(states: readonly LimitState[], limit: LimitState['limit']): LimitState | undefined {
  let found: LimitState | undefined;
  for (const state of states) {
    if (state.limit === limit && (found === undefined || state.remaining < found.remaining)) found = state;
  }
  return found;
}
