import type { GatewayError } from '../errors.ts';
import { type HttpRequest, newRequestId } from '../http/request.ts';
import { type ErrorOptions, type JsonOptions, sendError, sendJson } from '../http/respond.ts';
import type { HttpResponse, Settlement } from '../http/response.ts';
import { Lifetime } from '../lib/lifetime.ts';
import type { SwapRemoveItem } from '../lib/swap-remove-list.ts';
import { RecordDraft } from './record-draft.ts';
import type { Scrubber } from './scrub.ts';
import { ExchangeSpending } from './spending/spending.ts';
import { type Subscriber, Subscribers } from './subscriber.ts';

/** Makes a subscriber for an exchange whose head has arrived. */
export type Follow = (exchange: Exchange) => Subscriber;

interface ExchangeOptions {
  readonly scrubber: Scrubber;
  /** Who follows it, besides its record and its spending. */
  readonly followers?: readonly Follow[];
}

/** One request and its answer. What the steps of `handle` find is in their own types; what happens is published here. */
export class Exchange implements SwapRemoveItem, Settlement {
  place = -1;
  readonly id = newRequestId();
  readonly startedMs = Date.now();
  readonly request: HttpRequest;
  readonly response: HttpResponse;
  /** Ends when the client disconnects, the server stops or the provider's time is up; every wait observes it. */
  readonly lifetime = new Lifetime();
  /** Scrubs what must not be in this exchange's answer and record. */
  scrubber: Scrubber;
  /** The record, as far as it is known. */
  readonly record: RecordDraft;
  readonly spending: ExchangeSpending;
  /** Publishes what happens to all that follow the exchange. */
  readonly events: Subscribers;
  #isSettled = false;

  constructor(request: HttpRequest, response: HttpResponse, { scrubber, followers = [] }: ExchangeOptions) {
    this.request = request;
    this.response = response;
    this.scrubber = scrubber;
    const time = new Date(this.startedMs).toISOString();
    this.record = new RecordDraft({ id: this.id, time, method: request.method });
    this.spending = new ExchangeSpending(this);
    // Of the right size: a list that grows leaves two behind.
    const subscribers = new Array<Subscriber>(followers.length + 2);
    subscribers[0] = this.record;
    subscribers[1] = this.spending;
    for (let i = 0; i < followers.length; i += 1) subscribers[i + 2] = (followers[i] as Follow)(this);
    this.events = new Subscribers(subscribers);
  }

  /** Credentials that came with the request, or that it was authorized with: its provider may repeat them. */
  scrubAlso(secrets: readonly string[]): void {
    if (secrets.length > 0) this.scrubber = this.scrubber.with(secrets);
  }

  /** The status that the client got or, if no answer could begin, would have got. */
  get status(): number {
    return this.response.headersSent ? this.response.status : (this.record.failure?.failure.status ?? 0);
  }

  /** Answers with JSON of the gateway's own. */
  sendJson(value: unknown, options?: JsonOptions): void {
    this.#answered(sendJson(this.response, value, this.id, options));
  }

  /** Answers with an error of the gateway's own. */
  sendError(error: GatewayError, options: ErrorOptions): void {
    this.#answered(sendError(this.response, error, this.id, options));
  }

  #answered(bytes: number): void {
    this.events.answeredItself(bytes);
  }

  /** It is refused or breaks off: the first error says why. `isAnswered`: the client gets the error as its answer. */
  fail(error: GatewayError, isAnswered: boolean): void {
    if (this.record.failure === undefined) this.events.failed(error, isAnswered);
  }

  /** Breaks off with what is known: the process ends at once. */
  abandon(error: GatewayError): void {
    this.fail(error, false);
    this.settle();
    void this.commit(); // it never rejects
  }

  /** Counts what was used, once: when the answer is complete, or when it is clear that there will be none. */
  settle(): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.spending.settle();
  }

  /**
   * Writes that down, before the last byte of the answer leaves, so that nothing a client has got can be lost. Returns a
   * promise, which never rejects, if that byte must wait.
   */
  commit(): Promise<void> | undefined {
    return this.spending.commit();
  }

  /** Nothing more happens; `configHash` names the configuration that it followed. */
  end(configHash: string): void {
    if (!this.#isSettled) {
      this.settle();
      void this.commit(); // it never rejects
    }
    const { record, status, scrubber } = this;
    if (!record.isKept) return;
    const { failure } = record;
    this.events.ended({
      record: record.finish({ status, configHash, scrub: scrubber.text }),
      message: failure && scrubber.text(failure.message),
      repeatKey: record.repeatKey,
    });
  }
}
