import type { ExchangeRecord } from './record.ts';

/**
 * Follows the exchanges: metrics, the live page. Called on the request path, so it must neither throw nor block.
 */
export interface ExchangeObserver {
  /** Called once for each exchange that is over, for every repeated refusal too. The record must not be changed. */
  finished(record: ExchangeRecord): void;
  /** Follows an exchange from its head on; called only on the first observer that has it. */
  trace?(exchange: TracedExchange): ExchangeTrace;
}

/** What can be read of an exchange while it is open. */
export interface TracedExchange {
  readonly id: string;
  readonly request: { readonly rawHeaders: readonly string[] };
  /** `headers` are a flat list, as the client gets them; empty before they are sent. */
  readonly response: { readonly headers: readonly string[] };
  /** The record as far as it is known so far, and when the head arrived, by `performance.now()`. */
  readonly draft: { readonly soFar: Partial<ExchangeRecord>; readonly startedAt: number };
}

/** Follows one exchange; called on the request path like the observer. Must not change anything that it gets. */
export interface ExchangeTrace {
  /** The request's body is complete. Its memory may be transferred to another thread afterwards: copy what must be kept. */
  received(body: Buffer): void;
  /** Policies, limits and ledger have let the request pass. */
  admitted(): void;
  /** A request is about to leave to a provider. */
  sending(head: SentHead, body: Buffer): void;
  /** It had to wait for a slot at the provider, and has one now. */
  queued(): void;
  /** The head of the provider's answer has arrived. `leftAtMs`: when the request began to leave, by `performance.now()`. */
  answering(leftAtMs: number): void;
  /** A piece of the answer was sent to the client. */
  wrote(piece: Buffer): void;
  /** The exchange is over. `message`: what the client was sent if it was refused or failed. */
  finished(record: ExchangeRecord, message: string | undefined): void;
}

/** A request as one provider gets it, without its body. */
export interface SentHead {
  readonly provider: string;
  readonly model: string;
  /** What happened to the client's bytes. */
  readonly form: string;
  readonly path: string;
  /** A flat list of names and values. */
  readonly headers: readonly string[];
}

/** How much is open. */
export interface OpenCounts {
  readonly exchanges: number;
  /** Those of them that asked for a stream. */
  readonly streams: number;
}

/** The state of a provider. */
export interface ProviderGauges {
  readonly name: string;
  /** Exchanges that have a connection slot at it. */
  readonly active: number;
  /** Exchanges that wait for a slot. */
  readonly queued: number;
  /** Whether the breaker keeps all requests away. */
  readonly isOpen: boolean;
  /** How many of its models have an open breaker of their own. */
  readonly openModels: number;
}

/** The state of the ledger. */
export interface LedgerGauges {
  /** Whether the journal can be written; without it no exchange under a budget may begin. */
  readonly isWritable: boolean;
  /** Whether the database takes what the journal has. */
  readonly isMoving: boolean;
  /** Lines that are not in the journal yet. */
  readonly unwritten: number;
  /** Lines that are not in the database yet. */
  readonly pending: number;
  /** How long the oldest of them has been waiting, in milliseconds. */
  readonly lagMs: number;
}

/** What one process of the gateway is doing, read on demand. */
export interface Gauges {
  readonly open: OpenCounts;
  readonly providers: readonly ProviderGauges[];
  /** Undefined if no ledger is kept. */
  readonly ledger: LedgerGauges | undefined;
  /** Whether limits are counted in the shared store; false while Redis is unreachable. */
  readonly isStateShared: boolean;
}
