import { createHash } from 'node:crypto';
import { GatewayError, toGatewayError } from '../errors.ts';
import type { HeldBytes } from '../http/body-memory.ts';
import type { HttpRequest } from '../http/request.ts';
import { type JsonOptions, newRequestId, sendError, sendJson } from '../http/respond.ts';
import type { HttpResponse } from '../http/response.ts';
import { Lifetime } from '../lifetime.ts';
import { limitHeaders } from '../limits/limit-headers.ts';
import { LimitError, type Limiter } from '../limits/limiter.ts';
import type { Ledger } from '../record/ledger/ledger.ts';
import type { ExchangeTrace } from '../record/observer.ts';
import type { ExchangeRecord } from '../record/record.ts';
import { TimeText } from '../record/time-text.ts';
import type { ExchangeSpans, Tracer } from '../record/tracing/tracer.ts';
import type { SwapRemoveItem } from '../swap-remove-list.ts';
import { bothMasks, type Masks } from './answer/masks.ts';
import type { KnownKey } from './authenticate.ts';
import type { ClientLogin } from './client-login.ts';
import { LedgerEntry } from './ledger-entry.ts';
import { outcomeOf, RecordDraft } from './record-draft.ts';
import { refusalForm } from './refusal-form.ts';
import { Outcome } from './spending/outcome.ts';
import { Spending, type SpendingRequest } from './spending/spending.ts';

const sessionHeaders = [
  'session-id',
  'session_id',
  'thread-id',
  'conversation_id',
  'x-claude-code-session-id',
] as const;

/** One request and its answer, from the request's head to the record. */
export class Exchange implements SwapRemoveItem {
  place = -1;
  readonly id = newRequestId();
  readonly request: HttpRequest;
  readonly response: HttpResponse;
  /** Ends when the client disconnects, the server stops or the provider's time is up; every wait observes it. */
  readonly lifetime = new Lifetime();
  readonly startedMs = Date.now();
  readonly draft: RecordDraft;
  readonly outcome = new Outcome();
  #spending: Spending | undefined;
  #entry: LedgerEntry | undefined;
  isRecorded = true;
  /** What its body takes of the memory for bodies; given back when it is over. */
  held: HeldBytes | undefined;
  /** Set if an observer follows exchanges from their head on. */
  trace: ExchangeTrace | undefined;
  #login: ClientLogin | undefined;
  #masks: Masks | undefined;
  #failure: GatewayError | undefined;
  #body: Buffer | undefined;
  #spans: ExchangeSpans | undefined;
  #isSettled = false;

  constructor(request: HttpRequest, response: HttpResponse, times = new TimeText()) {
    this.request = request;
    this.response = response;
    this.draft = new RecordDraft(this.id, times.text(this.startedMs));
    response.beforeEnd(() => this.settle());
    response.onClose(() => {
      if (!response.isFinished) this.lifetime.end(new GatewayError('client.left', 'the client left'));
    });
  }

  /** The client's own login at a provider; undefined if it has sent none. */
  get login(): ClientLogin | undefined {
    return this.#login;
  }

  noteLogin(login: ClientLogin | undefined): void {
    if (login === undefined) return;
    this.#login = login;
    this.addMasks(login.masks);
  }

  /** Masks what must not be in this exchange's answer and record; set before anything is written. */
  get masks(): Masks {
    return this.#masks as Masks;
  }

  addMasks(masks: Masks): void {
    this.#masks = this.#masks === undefined ? masks : bothMasks(this.#masks, masks);
  }

  /** Its spans; undefined if tracing is off. */
  get spans(): ExchangeSpans | undefined {
    return this.#spans;
  }

  beginSpans(tracer: Tracer | undefined): void {
    if (tracer === undefined) return;
    const { request, startedMs } = this;
    const [traceparent, tracestate] = [request.header('traceparent'), request.header('tracestate')];
    this.#spans = tracer.begin({ startedMs, traceparent, tracestate });
  }

  /** Keeps the body until the exchange is over, so that a repeated refusal can be recognized by it. */
  noteBody(body: Buffer, { isRecorded }: { readonly isRecorded: boolean }): void {
    this.#body = body;
    this.draft.noteBytesIn(body.length);
    if (this.trace === undefined && !isRecorded) return;
    const shown = this.#login?.masks.bytes(body) ?? body;
    this.trace?.received(shown);
    if (isRecorded) this.draft.noteBody(shown.toString());
  }

  /**
   * A key that is the same each time the same session gets the same refusal for the same body; undefined for everything
   * else. Agents that repeat a refused request name their session in a header.
   */
  repeatKey(): string | undefined {
    const isRefused = this.#failure !== undefined && outcomeOf(this.#failure) === 'refused';
    // The memory of a large body may have been transferred to the decision thread.
    const isHere = this.#body !== undefined && this.#body.length === this.draft.bytesIn;
    if (!isRefused || this.#body === undefined || !isHere) return undefined;
    const session = sessionHeaders.map((name) => this.request.header(name) ?? '').join('\n');
    if (session.trim() === '') return undefined;
    const facts = [this.draft.keyId, this.draft.path, this.#failure?.reason, session];
    return createHash('sha256').update(facts.join('\n')).update(this.#body).digest('base64');
  }

  /** Reserves the most that this exchange may use; `settle` returns the rest. Throws limit.*, which counts as a refusal. */
  reserve(request: SpendingRequest, limiter: Limiter | undefined): Promise<void> | undefined {
    this.#spending = new Spending(request);
    return limiter === undefined ? undefined : this.#spending.reserve(limiter, this.startedMs);
  }

  /**
   * Enters the exchange in the ledger before anything is sent; its end follows by itself. Throws limit.state_unavailable if
   * that fails and the entry is required.
   */
  enter(ledger: Ledger, { key, isRequired }: EntryOptions): Promise<void> | undefined {
    const { endpointName, model } = this.draft;
    if (this.#spending?.isCharged !== true) return undefined;
    const entry = new LedgerEntry(ledger, {
      requestId: this.id,
      startedMs: this.startedMs,
      project: key.project,
      keyId: key.id,
      endpoint: endpointName,
      model,
    });
    const begun = entry.begin(this.#spending, { isRequired });
    if (begun === undefined) {
      this.#entry = entry;
      return undefined;
    }
    return begun.then(() => {
      this.#entry = entry;
    });
  }

  /** Rate-limit headers as the client's SDK reads them, a flat list; empty if nothing is limited. */
  limitHeaders(): readonly string[] {
    const states =
      this.#failure instanceof LimitError ? this.#failure.states : this.#spending?.reservation?.states;
    if (this.#spending === undefined || states === undefined) return [];
    return limitHeaders(states, this.#spending.dialectName, this.startedMs);
  }

  /** Answers with JSON of the gateway's own. */
  sendJson(value: unknown, options?: JsonOptions): void {
    this.draft.noteBytesOut(sendJson(this.response, value, this.id, options));
  }

  /** Sends the error, unless the answer has begun (then the relay has ended it) or the client has disconnected. */
  refuse(thrown: unknown): void {
    const error = toGatewayError(thrown);
    this.#failure = error;
    if (this.response.headersSent || this.response.isClosed) return;
    this.draft.noteFirstByte();
    const options = { ...refusalForm(error, this.request), headers: toFields(this.limitHeaders()) };
    this.draft.noteBytesOut(sendError(this.response, error, this.id, options));
  }

  /**
   * Settles what the exchange used and enters it in the ledger, once: before the last byte of the answer leaves, so that
   * nothing a client has got can be lost. Returns a promise, which never rejects, if that byte must wait.
   */
  settle(): Promise<void> | undefined {
    if (this.#isSettled || this.#spending === undefined) return undefined;
    this.#isSettled = true;
    const spent = this.#spending.settle(this.outcome);
    this.draft.noteSpent(spent, this.#spending.reservation?.wouldRefuse ?? []);
    return this.#entry?.finish(this.draft, { ...this.#ending, spent });
  }

  /** The final record of the exchange, after `settle`. */
  finish(configHash: string): ExchangeRecord {
    this.held?.release();
    const record = this.draft.finish({ ...this.#ending, configHash, scrub: this.masks.text });
    if (this.isRecorded) this.trace?.finished(record, this.#failure?.message);
    this.#spans?.finished(record);
    return record;
  }

  get #ending() {
    const error = this.#failure;
    return { error, status: this.response.headersSent ? this.response.status : (error?.failure.status ?? 0) };
  }
}

interface EntryOptions {
  readonly key: KnownKey;
  /** Whether the exchange must fail if it can't be entered. */
  readonly isRequired: boolean;
}

/** Turns a flat list of names and values into an object. */
function toFields(list: readonly string[]): Record<string, string> {
  const fields: Record<string, string> = {};
  for (let i = 0; i < list.length; i += 2) fields[list[i] as string] = list[i + 1] as string;
  return fields;
}
