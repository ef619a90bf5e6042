import { createHash } from 'node:crypto';
import { toUsageFields, type Usage } from '../dialects/dialect.ts';
import { GatewayError } from '../errors.ts';
import type { HttpRequest } from '../http/request.ts';
import { type JsonOptions, newRequestId, sendError, sendJson } from '../http/respond.ts';
import type { HttpResponse } from '../http/response.ts';
import { Lifetime } from '../lifetime.ts';
import type { ExchangeRecord, Outcome } from '../record/record.ts';
import { TimeText } from '../record/time-text.ts';
import type { SwapRemoveItem } from '../swap-remove-list.ts';
import type { KnownKey } from './authenticate.ts';
import type { ModelRequest } from './request.ts';

type Draft = { -readonly [Field in keyof ExchangeRecord]?: ExchangeRecord[Field] | undefined };

const sessionHeaders = [
  'session-id',
  'session_id',
  'thread-id',
  'conversation_id',
  'x-claude-code-session-id',
] as const;

/** One request and its answer, from the first header to the record. */
export class Exchange implements SwapRemoveItem {
  place = -1;
  readonly id = newRequestId();
  readonly request: HttpRequest;
  readonly response: HttpResponse;
  /** Ends when the client leaves, the server stops or the provider's time is over; every wait takes it. */
  readonly lifetime = new Lifetime();
  readonly startedMs = Date.now();
  /**
   * What is known for the record so far; each step adds what it learned, and at the end it is the record. The
   * usual fields are there from the beginning: an object that grows changes its hidden class with each.
   */
  readonly draft: Draft = {
    time: '',
    request_id: this.id,
    method: '',
    path: '',
    endpoint: undefined,
    project: undefined,
    key: undefined,
    model: undefined,
    provider: undefined,
    target_model: undefined,
    stream: undefined,
    status: 0,
    outcome: 'answered',
    decision: undefined,
    policy_us: undefined,
    body: undefined,
    attempts: undefined,
    bytes_in: 0,
    bytes_out: 0,
    usage: undefined,
    first_byte_ms: undefined,
    total_ms: 0,
    config: '',
  };
  readonly #startedAt = performance.now();
  #failure: GatewayError | undefined;
  #body: Buffer | undefined;

  constructor(request: HttpRequest, response: HttpResponse, times = new TimeText()) {
    this.request = request;
    this.response = response;
    this.draft.time = times.text(this.startedMs);
    response.onClose(() => {
      if (!response.isFinished) this.lifetime.end(new GatewayError('client.left', 'the client left'));
    });
  }

  /** What is asked for, by its endpoint's name, and whose key came with it. */
  noteCaller(endpoint: string, { project, id }: KnownKey): void {
    this.draft.endpoint = endpoint;
    this.draft.project = project;
    this.draft.key = id;
  }

  noteAsked({ model, stream }: ModelRequest): void {
    this.draft.model = model;
    this.draft.stream = stream;
  }

  /** Keeps the body until the exchange is over, to tell a repeated refusal by it. */
  noteBody(body: Buffer): void {
    this.#body = body;
    this.draft.bytes_in = body.length;
  }

  /**
   * The same for a refusal that the same session gets again for the same body; undefined for everything else.
   * Agents that repeat a refusal name their session in a header.
   */
  repeatKey(): string | undefined {
    const isRefused = this.#failure !== undefined && outcomeOf(this.#failure) === 'refused';
    // A large body's bytes may have gone to the thread that decided.
    const isHere = this.#body !== undefined && this.#body.length === this.draft.bytes_in;
    if (!isRefused || this.#body === undefined || !isHere) return undefined;
    const session = sessionHeaders.map((name) => this.request.header(name) ?? '').join('\n');
    if (session.trim() === '') return undefined;
    const facts = [this.draft.key, this.draft.path, this.#failure?.reason, session];
    return createHash('sha256').update(facts.join('\n')).update(this.#body).digest('base64');
  }

  noteUsage(usage: Usage | undefined): void {
    if (usage !== undefined) this.draft.usage = toUsageFields(usage);
  }

  /** Answers with a value of the gateway's own. */
  give(value: unknown, options?: JsonOptions): void {
    this.draft.bytes_out = sendJson(this.response, value, this.id, options);
  }

  /** Answers with an error; before any byte of the answer has gone out. */
  giveError(error: GatewayError): void {
    this.noteFirstByte();
    this.draft.bytes_out = sendError(this.response, error, this.id);
  }

  noteFirstByte(): void {
    this.draft.first_byte_ms = this.#elapsedMs();
  }

  fail(error: GatewayError): void {
    this.#failure = error;
  }

  /** The record of the exchange as it ended. `scrub` takes secrets out of the words of others. */
  finish(configHash: string, scrub: (text: string) => string): ExchangeRecord {
    const { draft } = this;
    const error = this.#failure;
    draft.status = this.#status();
    draft.outcome = outcomeOf(error);
    if (error !== undefined) draft.reason = error.reason;
    if (error?.cause !== undefined) draft.cause = scrub(describe(error.cause));
    draft.total_ms = this.#elapsedMs();
    draft.config = configHash;
    return draft as ExchangeRecord; // the draft's fields are the record's own, and all that must be there are
  }

  #status(): number {
    if (this.response.headersSent) return this.response.status;
    return this.#failure?.failure.status ?? 0;
  }

  /** Milliseconds since the request's head arrived, to the tenth. */
  #elapsedMs(): number {
    return Math.round((performance.now() - this.#startedAt) * 10) / 10;
  }
}

function outcomeOf(error: GatewayError | undefined): Outcome {
  if (error === undefined) return 'answered';
  if (error.code === 'client.left') return 'left';
  return error.failure.status >= 500 ? 'failed' : 'refused';
}

function describe(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  // Its message quotes what could not be parsed, and records hold no content.
  if (cause instanceof SyntaxError) return cause.name;
  const { code } = cause as NodeJS.ErrnoException;
  return code === undefined ? `${cause.name}: ${cause.message}` : `${code}: ${cause.message}`;
}
