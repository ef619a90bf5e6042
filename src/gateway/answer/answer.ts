import { parseFailure } from '../../dialects/failure.ts';
import { stringifyAnswer } from '../../dialects/fields.ts';
import { tallyAnswer } from '../../dialects/text-tokens.ts';
import { GatewayError } from '../../errors.ts';
import { memoize } from '../../memoize.ts';
import type { PieceBudget } from '../../piece-budget.ts';
import type { ResponseCheck } from '../../policy/answers/check-answer.ts';
import { Restorer } from '../../policy/mask/restorer.ts';
import type { Forwarded } from '../../providers/attempt.ts';
import { decodedAnswer, readWhole } from '../../providers/read-whole.ts';
import type { ProviderAnswer } from '../../providers/transport/upstream.ts';
import type { ModelEndpoint } from '../endpoints.ts';
import type { Exchange } from '../exchange.ts';
import type { UpstreamRequest } from '../outgoing/build-upstream-request.ts';
import type { ModelRequest } from '../request.ts';
import { headersFor } from './answer-headers.ts';
import { type AnswerStream, ExactStream, TranslatedStream } from './answer-stream.ts';
import { ArrayStream } from './array-stream.ts';
import { CheckedStream } from './checked-stream.ts';
import { relayStream } from './relay.ts';
import { RestoredStream } from './restored-stream.ts';
import { takeTurns } from './take-turns.ts';

/** A JSON answer is buffered whole before it is passed on; a longer one fails. */
const answerLimitBytes = 32 * 1024 * 1024;
const errorLimitBytes = 256 * 1024;
const causeLength = 300;
/** Most bytes of a stream that are handled in one go: with rules that match everywhere, some milliseconds of work. */
const smallSlices = 16 * 1024;

const isEventStream = memoize((type) => /^text\/event-stream\b/i.test(type));
const isAmazonStream = memoize((type) => /^application\/vnd\.amazon\.eventstream\b/i.test(type));
const isJson = memoize((type) => /^application\/(?:[\w.-]+\+)?json\b/i.test(type));

interface AnswerOptions {
  readonly endpoint: ModelEndpoint;
  readonly request: ModelRequest;
  /** The client's, without its question mark. */
  readonly query: string;
  readonly pieces: PieceBudget;
  /** The rules on answers that apply to this one. */
  readonly check: ResponseCheck | undefined;
}

/**
 * Sends the client the provider's answer in the client's dialect: a stream as it comes, JSON once it is complete, an
 * error with its own message without configured secrets. Then releases the connection slot at the provider. Throws
 * provider.broken_response and provider.credentials_rejected.
 */
export async function sendAnswer(
  exchange: Exchange,
  forwarded: Forwarded<UpstreamRequest>,
  options: AnswerOptions,
): Promise<void> {
  exchange.trace?.answering(forwarded.leftAtMs);
  try {
    const sending = choose(exchange, forwarded, options);
    if (sending !== undefined) await sending;
  } finally {
    forwarded.release();
  }
}

/** Undefined if all of it has been sent already. */
function choose(
  exchange: Exchange,
  forwarded: Forwarded<UpstreamRequest>,
  options: AnswerOptions,
): Promise<void> | undefined {
  const { status } = forwarded.answer;
  const { provider } = forwarded.target;
  // With the client's own login, the client must know, so that it renews it.
  if ((status === 401 || status === 403) && !provider.takesLogin) {
    forwarded.answer.abort();
    // The client would think that its own key was rejected.
    throw new GatewayError(
      'provider.credentials_rejected',
      `provider ${provider.options.name} rejected the gateway's credentials`,
    );
  }
  if (status >= 400) return sendProviderError(exchange, forwarded, options);
  if (status >= 300) {
    forwarded.answer.abort();
    throw new GatewayError(
      'provider.broken_response',
      'the provider answered with a redirect, which is never followed',
    );
  }
  const answer = decodedAnswer(forwarded.answer);
  const type = answer.headers.get('content-type') ?? '';
  // ChatGPT's host sends its streams without a content-type.
  if (options.request.stream && (type === '' || isEventStream(type))) {
    return sendStream(exchange, answer, forwarded, options);
  }
  if (options.request.stream && isAmazonStream(type)) {
    // Loaded with the first of them.
    return import('../../providers/clouds/event-stream.ts').then(({ sseAnswer }) => {
      const decoded = { ...forwarded, answer: sseAnswer(answer) };
      return sendStream(exchange, decoded.answer, decoded, options);
    });
  }
  if (isJson(type)) return sendWholeAnswer(exchange, answer, forwarded, options);
  forwarded.answer.abort();
  throw new GatewayError(
    'provider.broken_response',
    'the provider answered with neither JSON nor an event stream',
  );
}

function sendStream(
  exchange: Exchange,
  answer: ProviderAnswer,
  forwarded: Forwarded<UpstreamRequest>,
  { endpoint, query, pieces, check }: AnswerOptions,
): Promise<void> {
  const { translation, hidesUsage } = forwarded.request;
  const asArray = wantsArray(endpoint, query);
  const headers = headersFor(exchange, forwarded, { isOwn: asArray });
  if (!asArray && answer.headers.get('content-type') === undefined)
    headers.unshift('content-type', 'text/event-stream');
  const restorer = restorerOf(forwarded);
  const { dialect } = endpoint;
  const isExact = translation === undefined && check === undefined && restorer === undefined;
  const relay = (judged: AnswerStream) => {
    const events = restorer === undefined ? judged : new RestoredStream(judged, restorer);
    const stream = asArray ? new ArrayStream(events) : events;
    const relayed = relayStream(exchange, {
      // What costs little is passed on as it comes.
      answer: isExact ? answer : takeTurns(answer, { budget: pieces, sliceBytes: smallSlices }),
      stream,
      headers,
    });
    if (restorer === undefined) return relayed;
    return relayed.finally(() => exchange.draft.noteMasking(restorer.counts));
  };
  const stream =
    translation === undefined
      ? new ExactStream(dialect, { hidesUsage })
      : new TranslatedStream(translation.stream());
  if (check === undefined) return relay(stream);
  const rules = check.stream();
  const { masked } = forwarded.request;
  const judged = masked === undefined ? stream : new RestoredStream(stream, Restorer.gathering(masked));
  return relay(new CheckedStream(judged, rules, dialect)).finally(() =>
    exchange.draft.noteAnswerVerdicts(rules.verdicts),
  );
}

/** Of a dialect whose streams are events only if the client asks for them. */
function wantsArray({ call }: ModelEndpoint, query: string): boolean {
  return call.query !== undefined && new URLSearchParams(query).get('alt') !== 'sse';
}

function sendWholeAnswer(
  exchange: Exchange,
  answer: ProviderAnswer,
  forwarded: Forwarded<UpstreamRequest>,
  options: AnswerOptions,
): Promise<void> | undefined {
  const body = readWhole(answer, answerLimitBytes, exchange.lifetime);
  if (body instanceof Promise) return body.then((whole) => sendWhole(exchange, whole, forwarded, options));
  sendWhole(exchange, body, forwarded, options);
  return undefined;
}

function sendWhole(
  exchange: Exchange,
  body: Buffer,
  forwarded: Forwarded<UpstreamRequest>,
  { endpoint, request, check }: AnswerOptions,
): void {
  const value = parseAnswer(body);
  const { translation } = forwarded.request;
  if (translation !== undefined) {
    exchange.outcome.answer = { tally: translation.tally(value, body), extent: 'whole' };
    return send(exchange, forwarded, {
      body: clientBody(exchange, toBytes(translation.answer(value).body), { check, forwarded }),
      isOwn: true,
    });
  }
  exchange.outcome.answer = { tally: tallyAnswer(endpoint.dialect, value, body), extent: 'whole' };
  const adapted = endpoint.dialect.adaptAnswer?.(value, request.document);
  const own = clientBody(exchange, adapted === undefined ? body : toBytes(adapted), { check, forwarded });
  send(exchange, forwarded, { body: own, isOwn: false });
}

/** Applies the rules on answers, which read what the provider said; then restores what was masked. Throws the refusal. */
function clientBody(
  exchange: Exchange,
  body: Buffer,
  {
    check,
    forwarded,
  }: { readonly check: ResponseCheck | undefined; readonly forwarded: Forwarded<UpstreamRequest> },
): Buffer {
  const checked = checkedAnswer(exchange, body, check);
  const restorer = restorerOf(forwarded);
  if (restorer === undefined) return checked;
  const restored = restorer.body(checked);
  exchange.draft.noteMasking(restorer.counts);
  return restored;
}

/** Undefined if nothing was masked: then answers stay as they are, and cost nothing. */
function restorerOf({ request: { masked } }: Forwarded<UpstreamRequest>): Restorer | undefined {
  return masked === undefined ? undefined : new Restorer(masked);
}

function checkedAnswer(exchange: Exchange, body: Buffer, check: ResponseCheck | undefined): Buffer {
  if (check === undefined) return body;
  const { verdicts, refusal, redactedBody } = check.whole(body);
  exchange.draft.noteAnswerVerdicts(verdicts);
  if (refusal === undefined) return redactedBody ?? body;
  throw new GatewayError('policy.blocked', refusal.message, { reason: refusal.reason });
}

/** Truncated or broken JSON must not become a clean-looking 200. */
function parseAnswer(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch (cause) {
    throw new GatewayError('provider.broken_response', "the provider's answer is not complete JSON", {
      cause,
    });
  }
}

async function sendProviderError(
  exchange: Exchange,
  forwarded: Forwarded<UpstreamRequest>,
  { endpoint, check }: AnswerOptions,
): Promise<void> {
  const answer = decodedAnswer(forwarded.answer);
  const { status } = answer;
  const bytes = await readWhole(answer, errorLimitBytes, exchange.lifetime);
  const text = bytes.toString();
  const value = parseError(text);
  // Proxies in front of the provider answer with HTML pages, which no client can read.
  if (value === undefined) exchange.draft.noteCause(exchange.masks.text(shortened(text)));
  const { translation } = forwarded.request;
  const readable = value === undefined ? text : value;
  const isOwn = translation !== undefined || !endpoint.dialect.isErrorBody(value);
  const error =
    translation?.error(status, readable) ?? endpoint.dialect.errorBody(parseFailure(readable, status));
  // A provider's error may quote the request or its own data, so the rules on answers apply to it too.
  const body = clientBody(exchange, isOwn ? toBytes(error) : bytes, { check, forwarded });
  send(exchange, forwarded, { body, isOwn });
}

/** Undefined if the text is not JSON. */
function parseError(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // the client gets an error in any case
  }
}

/** The text of a page on one line, shortened to fit in a record. */
function shortened(page: string): string {
  const words = page
    .replace(/<(?:script|style)\b[\s\S]*?<\/(?:script|style)>|<[^>]*>/gi, ' ')
    .replace(/\s+/g, ' ')
    .trim();
  return words.length <= causeLength ? words : `${words.slice(0, causeLength)}…`;
}

function toBytes(value: unknown): Buffer {
  return Buffer.from(stringifyAnswer(value));
}

interface Sent {
  readonly body: Buffer;
  /** The body is not the provider's, but one that the gateway made of it. */
  readonly isOwn: boolean;
}

function send(exchange: Exchange, forwarded: Forwarded<UpstreamRequest>, { body, isOwn }: Sent): void {
  const masked = exchange.masks.bytes(body);
  exchange.draft.noteFirstByte();
  exchange.draft.noteBytesOut(masked.length);
  exchange.trace?.wrote(masked);
  const headers = headersFor(exchange, forwarded, { isOwn });
  headers.push('content-length', String(masked.length));
  exchange.response.writeHead(forwarded.answer.status, headers);
  exchange.response.end(masked);
}
