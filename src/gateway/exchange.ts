import { GatewayError } from '../errors.ts';
import type { HeldBytes } from '../http/body.ts';
import type { HttpRequest } from '../http/request.ts';
import { type JsonOptions, newRequestId, sendJson } from '../http/respond.ts';
import type { HttpResponse } from '../http/response.ts';
import { Lifetime } from '../lib/lifetime.ts';
import type { SwapRemoveItem } from '../lib/swap-remove-list.ts';
import type { ClientCredential } from '../providers/client-credential.ts';
import type { Ledger } from '../record/ledger/ledger.ts';
import type { ExchangeTrace } from '../record/observer.ts';
import type { ExchangeSpans } from '../record/tracing/otel-tracer.ts';
import { RecordDraft } from './record-draft.ts';
import type { Scrubber } from './scrub.ts';
import type { Sender } from './sender.ts';
import { Outcome, type Spending } from './spending/spending.ts';

/** The credentials that come with a request, next to the project key or in its place. */
export interface ClientLogin {
  /** For the provider that takes the client's own; undefined if there is none, or none that can be used. */
  readonly credential: ClientCredential | undefined;
  /** Why it can't be used: key.conflict for two credentials or a project key, key.invalid for a malformed one. */
  readonly fault: GatewayError | undefined;
  /** Whether a header repeats it. */
  readonly isElsewhere: boolean;
  /** Scrubs what came, wherever it is. */
  readonly scrubber: Scrubber;
}

/** One request and its answer: what the steps of `handle` know of it, from the request's head to the record. */
export class Exchange implements SwapRemoveItem {
  place = -1;
  readonly id = newRequestId();
  readonly request: HttpRequest;
  readonly response: HttpResponse;
  /** Ends when the client disconnects, the server stops or the provider's time is up; every wait observes it. */
  readonly lifetime = new Lifetime();
  readonly startedMs = Date.now();
  readonly draft: RecordDraft;
  /** What became of the request at its provider. */
  readonly outcome = new Outcome();
  isRecorded = true;
  /** Set if an observer follows exchanges from their head on. */
  trace: ExchangeTrace | undefined;
  /** Its spans; undefined if tracing is off. */
  spans: ExchangeSpans | undefined;
  /** The client's own login at a provider; undefined if it has sent none. */
  login: ClientLogin | undefined;
  /** Who sent it, as far as the client says; undefined before the key is known. */
  sender: Sender | undefined;
  /** What its body takes of the memory for bodies; given back when it is over. */
  held: HeldBytes | undefined;
  /** The request's body, kept until the exchange is over. */
  body: Buffer | undefined;
  /** What it may use and has used; undefined before it is reserved. */
  spending: Spending | undefined;
  /** Where its end is entered; undefined if it is in no ledger. */
  ledger: Ledger | undefined;
  /** Why it was refused or broke off. */
  failure: GatewayError | undefined;
  /** Scrubs what must not be in this exchange's answer and record. */
  scrubber: Scrubber;

  constructor(request: HttpRequest, response: HttpResponse, scrubber: Scrubber) {
    this.request = request;
    this.response = response;
    this.scrubber = scrubber;
    this.draft = new RecordDraft(this.id, new Date(this.startedMs).toISOString());
    response.onClose(() => {
      if (!response.isFinished) this.lifetime.end(new GatewayError('client.left', 'the client left'));
    });
  }

  /** Credentials that came with the request, or that it was authorized with: its provider may repeat them. */
  scrubAlso(secrets: readonly string[]): void {
    this.scrubber = this.scrubber.with(secrets);
  }

  /** The status that the client got or, if no answer could begin, would have got. */
  get status(): number {
    return this.response.headersSent ? this.response.status : (this.failure?.failure.status ?? 0);
  }

  /** Answers with JSON of the gateway's own. */
  sendJson(value: unknown, options?: JsonOptions): void {
    this.draft.note({ bytes_out: sendJson(this.response, value, this.id, options) });
  }
}
