import { eventsOf, wholeOf } from '../../dialects/answer-forms.ts';
import type { Dialect } from '../../dialects/dialect.ts';
import { errorInside, isAboutCredentials, parseFailure } from '../../dialects/failure.ts';
import { isFields, parseJson } from '../../dialects/fields.ts';
import { dialects } from '../../dialects/registry.ts';
import { formatSse } from '../../dialects/sse.ts';
import { GatewayError, toGatewayError } from '../../errors.ts';
import type { HeldBytes } from '../../http/body.ts';
import type { HttpResponse } from '../../http/response.ts';
import { memoize } from '../../lib/memoize.ts';
import { Restorer } from '../../policy/mask/restorer.ts';
import type { Forwarded } from '../../providers/attempt.ts';
import { decodedAnswer, errorLimitBytes, readWhole } from '../../providers/read-whole.ts';
import type { BodySink, ProviderAnswer } from '../../providers/transport/pool.ts';
import type { DecidedRequest } from '../decision/decide-request.ts';
import {
  type AnswerReader,
  type CheckedAnswer,
  type CheckedBody,
  checkAnswer,
  toBytes,
} from '../decision/read-answer.ts';
import type { Exchange } from '../exchange.ts';
import type { Gateway } from '../gateway.ts';
import type { UpstreamRequest } from '../outgoing/build-upstream-request.ts';
import { answersOf } from '../spending/demand.ts';
import type { ReadAnswer, SeenAnswer } from '../subscriber.ts';
import { AnswerStream, ExactSource, TranslatedSource } from './answer-stream.ts';
import { type ClientAnswer, headersFor, wantsArray } from './client-answer.ts';
import { streamStages } from './stream-stages.ts';
import { takeTurns } from './take-turns.ts';

/** A JSON answer is buffered whole before it is passed on; a longer one fails. */
const answerLimitBytes = 32 * 1024 * 1024;
const causeLength = 300;
/** Characters of a provider's page in which its words are looked for. */
const pageLength = 16_384;
/** Maximum bytes of a stream that are handled in one go: with rules that match everywhere, some milliseconds of work. */
const smallSlices = 16 * 1024;

/** A client, and what stands in between, gives up after a minute or so of silence. */
const ownHeartbeatMs = 15_000;

const isEventStream = memoize((type) => /^text\/event-stream\b/i.test(type));
const isAmazonStream = memoize((type) => /^application\/vnd\.amazon\.eventstream\b/i.test(type));
const isJson = memoize((type) => /^application\/(?:[\w.-]+\+)?json\b/i.test(type));

interface Answered {
  readonly forwarded: Forwarded<UpstreamRequest>;
  readonly decided: DecidedRequest;
  /** The client's, without its question mark. */
  readonly query: string;
  /** What the exchange takes of the memory for bodies. */
  readonly held: HeldBytes;
  readonly client: ClientAnswer;
}

/**
 * Sends the client the provider's answer in the client's dialect: a stream as it comes, JSON once it is complete, an
 * error with its own message without configured secrets. Then releases the connection slot at the provider. Returns a
 * promise only if some of the answer is still to come. Throws provider.broken_response and provider.credentials_rejected.
 */
export function sendAnswer(
  exchange: Exchange,
  gateway: Pick<Gateway, 'decider' | 'pieces'>,
  answered: Answered,
): void | Promise<void> {
  const { forwarded } = answered;
  exchange.events.answering(forwarded.sentAtMs);
  let sending: void | Promise<void>;
  try {
    sending = sendByKind(exchange, gateway, answered);
  } catch (error) {
    forwarded.release();
    throw error;
  }
  if (sending !== undefined) return releaseAfter(sending, forwarded);
  forwarded.release();
}

async function releaseAfter(sending: Promise<void>, forwarded: Forwarded): Promise<void> {
  try {
    await sending;
  } finally {
    forwarded.release();
  }
}

function sendByKind(
  exchange: Exchange,
  gateway: Pick<Gateway, 'decider' | 'pieces'>,
  answered: Answered,
): void | Promise<void> {
  const { forwarded, decided } = answered;
  const { status } = forwarded.answer;
  const { provider } = forwarded.target;
  // With the client's own login, the client must know, so that it renews it.
  if ((status === 401 || status === 403) && !provider.takesLogin) return sendRefusal(exchange, answered);
  if (status >= 400) return sendProviderError(exchange, answered);
  if (status >= 300) {
    forwarded.answer.abort();
    throw new GatewayError(
      'provider.broken_response',
      'the provider answered with a redirect, which is never followed',
    );
  }
  const answer = decodedAnswer(forwarded.answer);
  const type = answer.headers.get('content-type') ?? '';
  const decoded = answer === forwarded.answer ? answered : withAnswer(answered, answer);
  // ChatGPT's host sends its streams without a content-type.
  if (decided.request.stream && (type === '' || isEventStream(type))) {
    return sendStream(exchange, gateway, decoded);
  }
  if (decided.request.stream && isAmazonStream(type)) {
    // Loaded with the first of them.
    return import('../../providers/clouds/event-stream.ts').then(({ sseAnswer }) => {
      return sendStream(exchange, gateway, withAnswer(answered, sseAnswer(answer)));
    });
  }
  if (isJson(type) && decided.request.stream) return sendAsStream(exchange, gateway, decoded);
  if (isJson(type)) return sendWholeAnswer(exchange, gateway, decoded);
  if (isEventStream(type)) return sendGathered(exchange, gateway, decoded);
  forwarded.answer.abort();
  throw new GatewayError(
    'provider.broken_response',
    'the provider answered with neither JSON nor an event stream',
  );
}

function withAnswer(answered: Answered, answer: ProviderAnswer): Answered {
  const { forwarded } = answered;
  const { target, request, sentAtMs } = forwarded;
  const decoded = { answer, target, request, sentAtMs, release: () => forwarded.release() };
  return { ...answered, forwarded: decoded };
}

/**
 * Throws provider.credentials_rejected if the provider refuses the credentials, and not what was asked for. A client that
 * got the provider's own answer would think that its key of the gateway was rejected; what the provider says is in
 * the record.
 */
async function sendRefusal(exchange: Exchange, answered: Answered): Promise<void> {
  const { forwarded } = answered;
  const answer = decodedAnswer(forwarded.answer);
  let bytes: Buffer = Buffer.alloc(0);
  try {
    bytes = await readWhole(answer, errorLimitBytes, exchange.lifetime);
  } catch {
    forwarded.answer.abort(); // the status says enough
  }
  const text = bytes.toString();
  const said = parseJson(text) ?? text;
  const hasKey = exchange.scrubber.text(text) !== text;
  if (answer.status === 403 && !hasKey && !isAboutCredentials(said))
    return sendErrorBody(exchange, answered, bytes);
  const cause = shortened(exchange.scrubber.text(parseFailure(said, answer.status).message));
  throw credentialsRejected(forwarded, cause);
}

/** `cause`: what the provider says, for the record. */
function credentialsRejected({ target }: Forwarded<UpstreamRequest>, cause = ''): GatewayError {
  const { name } = target.provider.options;
  return new GatewayError(
    'provider.credentials_rejected',
    `provider ${name} rejected the gateway's credentials`,
    cause === '' ? {} : { cause },
  );
}

async function sendStream(
  exchange: Exchange,
  { pieces }: Pick<Gateway, 'pieces'>,
  { forwarded, decided, query, held, client }: Answered,
): Promise<void> {
  const { answer } = forwarded;
  const { endpoint, key, answerRules } = decided;
  const { document } = decided.request;
  const { translation, hidesUsage, masked } = forwarded.request;
  const rules = key.policies.checkAnswers(answerRules)?.stream();
  const restorer = masked && new Restorer(masked);
  const asArray = wantsArray(endpoint, query);
  const headers = headersFor(exchange, forwarded, { isOwn: asArray });
  if (!asArray && answer.headers.get('content-type') === undefined)
    headers.unshift('content-type', 'text/event-stream');
  const answers = answersOf(document, endpoint.dialect);
  const source =
    translation === undefined
      ? new ExactSource(endpoint.dialect, { hidesUsage, answers })
      : new TranslatedSource(translation.stream());
  const stages = streamStages({ rules, masked, restorer, scrubber: exchange.scrubber });
  const stream = new AnswerStream({ source, stages, scrubber: exchange.scrubber, isArray: asArray });
  // What costs little is passed on as it comes.
  const isExact = translation === undefined && rules === undefined && restorer === undefined;
  const shared = isExact ? answer : takeTurns(answer, { budget: pieces, sliceBytes: smallSlices });
  const found = () => ({ verdicts: rules?.verdicts ?? [], masking: restorer?.counts ?? {} });
  const { heartbeatMs = isExact ? undefined : ownHeartbeatMs } = forwarded.target.provider.options;
  await relayStream(exchange, { answer: shared, stream, headers, client, held, found, heartbeatMs });
}

/** Of a host that never streams. An error stays a whole answer. */
async function sendAsStream(
  exchange: Exchange,
  gateway: Pick<Gateway, 'decider' | 'pieces'>,
  answered: Answered,
): Promise<void> {
  const { answer } = answered.forwarded;
  answered.client.expectWhole();
  const body = await readWhole(answer, answerLimitBytes, exchange.lifetime);
  const value = parseJson(body.toString());
  const isAnswer = isFields(value) && errorInside(value) === undefined;
  const events = isAnswer ? eventsOf(providerDialect(answered), value) : undefined;
  if (events === undefined) return sendBody(exchange, gateway, answered, body);
  const stream = Buffer.from(events.map(({ name, data }) => formatSse(name, data)).join(''));
  const replayed: ProviderAnswer = {
    ...{ status: answer.status, headers: answer.headers.with('content-type', 'text/event-stream') },
    ...{ isBehind: false, resume: () => undefined, flush: () => undefined, abort: () => answer.abort() },
    pipe: (sink) => {
      sink.data(stream);
      sink.end();
    },
  };
  await sendStream(exchange, gateway, withAnswer(answered, replayed));
}

/** Of a host that always streams. */
async function sendGathered(
  exchange: Exchange,
  gateway: Pick<Gateway, 'decider'>,
  answered: Answered,
): Promise<void> {
  const stream = await readWhole(answered.forwarded.answer, answerLimitBytes, exchange.lifetime);
  const whole = wholeOf(providerDialect(answered), stream);
  await sendBody(exchange, gateway, answered, toBytes(whole), true);
}

function providerDialect({ forwarded, decided }: Answered): Dialect {
  const { translation } = forwarded.request;
  return translation === undefined ? decided.endpoint.dialect : dialects[translation.pair.to];
}

function sendWholeAnswer(
  exchange: Exchange,
  gateway: Pick<Gateway, 'decider'>,
  answered: Answered,
): void | Promise<void> {
  const body = readWhole(answered.forwarded.answer, answerLimitBytes, exchange.lifetime);
  return body instanceof Promise
    ? body.then((there) => sendBody(exchange, gateway, answered, there))
    : sendBody(exchange, gateway, answered, body);
}

function sendBody(
  exchange: Exchange,
  { decider }: Pick<Gateway, 'decider'>,
  answered: Answered,
  body: Buffer,
  isOwn = answered.forwarded.request.translation !== undefined,
): void | Promise<void> {
  const { forwarded, decided } = answered;
  const { endpoint, request } = decided;
  const form = endpoint.dialect.askedForm?.(request.document);
  const { translation, masked } = forwarded.request;
  const { key, answerRules } = decided;
  const { policies } = key;
  const { scrubber } = exchange;
  const reader = { key: key.id, endpoint, form, translation, policies, answerRules, masked, scrubber };
  const checked = decider.readAnswer(body, reader, exchange.lifetime);
  return checked instanceof Promise
    ? sendOnceChecked(answered, checked, isOwn)
    : sendChecked(answered, checked, isOwn);
}

async function sendOnceChecked(
  answered: Answered,
  checking: Promise<CheckedBody>,
  isOwn: boolean,
): Promise<void> {
  sendChecked(answered, await checking, isOwn);
}

function sendChecked({ forwarded, client }: Answered, checked: CheckedBody, isOwn: boolean): void {
  const { tally, errorStatus } = checked;
  const seen = { tally, extent: 'whole' } as const;
  const isRejected = errorStatus === 401 && !forwarded.target.provider.takesLogin;
  const shown = isRejected ? { verdicts: [], masking: {}, result: credentialsRejected(forwarded) } : checked;
  send(forwarded, { checked: shown, isOwn, seen, status: errorStatus, client });
}

/** What decides how an answer is checked. */
function checkOf(
  { scrubber }: Exchange,
  { request: { masked } }: Forwarded<UpstreamRequest>,
  { key: { id, policies }, answerRules }: DecidedRequest,
): Pick<AnswerReader, 'key' | 'policies' | 'answerRules' | 'masked' | 'scrubber'> {
  return { key: id, policies, answerRules, masked, scrubber };
}

async function sendProviderError(exchange: Exchange, answered: Answered): Promise<void> {
  const answer = decodedAnswer(answered.forwarded.answer);
  sendErrorBody(exchange, answered, await readWhole(answer, errorLimitBytes, exchange.lifetime));
}

function sendErrorBody(exchange: Exchange, { forwarded, decided, client }: Answered, bytes: Buffer): void {
  const { dialect } = decided.endpoint;
  const { status } = forwarded.answer;
  const text = bytes.toString();
  const value = parseJson(text);
  // Proxies in front of the provider answer with HTML pages, which no client can read.
  const cause = value === undefined ? shortened(exchange.scrubber.text(text)) : undefined;
  const { translation } = forwarded.request;
  const readable = value === undefined ? text : value;
  const isOwn = translation !== undefined || !dialect.isErrorBody(value);
  const error = translation?.error(status, readable) ?? dialect.errorBody(parseFailure(readable, status));
  // A provider's error may quote the request or its own data, so the rules on answers apply to it too.
  const body = isOwn ? toBytes(error) : bytes;
  const checked = checkAnswer({ bytes: body }, checkOf(exchange, forwarded, decided));
  send(forwarded, { checked, isOwn, cause, seen: undefined, client });
}

/** The text of a page on one line, shortened to fit in a record. What is far behind the beginning is not looked at. */
function shortened(page: string): string {
  const words = page
    .slice(0, pageLength)
    .split('<')
    // Of each piece but the first, what follows the tag; scripts and styles have no words.
    .map((piece, i) =>
      i === 0 ? piece : /^(?:script|style)\b/i.test(piece) ? '' : piece.slice(piece.indexOf('>') + 1),
    )
    .join(' ')
    .replace(/\s+/g, ' ')
    .trim();
  return words.length <= causeLength ? words : `${words.slice(0, causeLength)}…`;
}

interface Sent {
  readonly checked: CheckedAnswer;
  /** The body is not the provider's, but one that the gateway made of it. */
  readonly isOwn: boolean;
  readonly seen: SeenAnswer | undefined;
  /** See `ReadAnswer`. */
  readonly cause?: string | undefined;
  /** Absent for the provider's own. */
  readonly status?: number | undefined;
  readonly client: ClientAnswer;
}

/** Throws why the answer may not leave. */
function send(forwarded: Forwarded<UpstreamRequest>, sent: Sent): void {
  const { checked, isOwn, seen, cause, status = forwarded.answer.status, client } = sent;
  const { verdicts, masking, result } = checked;
  const read = { seen, verdicts, masking, cause };
  if (result instanceof GatewayError) {
    client.end(read, { kind: 'none' });
    throw result;
  }
  client.end(read, { kind: 'whole', status, body: result, forwarded, isOwn });
}

// ---------------------------------------------------------------- streams, as they come

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
    this.#answer.flush();
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
