import type { ExchangeRecord } from './record.ts';

/**
 * Whoever follows the exchanges: metrics, the live page. Called on the request path, so it must neither throw nor
 * wait.
 */
export interface ExchangeObserver {
  /** Called once for each exchange that is over, for every repeated refusal too. The record must not be changed. */
  finished(record: ExchangeRecord): void;
  /** Follows an exchange from its head on; of several observers only the first that has this is asked. */
  trace?(exchange: TracedExchange): ExchangeTrace;
}

/** What can be read of an exchange while it is open. */
export interface TracedExchange {
  readonly id: string;
  readonly request: { readonly rawHeaders: readonly string[] };
  /** `headers` are a flat list, as the client gets them; empty before they are sent. */
  readonly response: { readonly headers: readonly string[] };
  /** The record as far as it is known. */
  readonly draft: { readonly soFar: Partial<ExchangeRecord> };
}

/** Follows one exchange; called on the request path like the observer. Nothing that it is handed may be changed. */
export interface ExchangeTrace {
  /** The request's body is here. Its memory may move to another thread afterwards: copy what is to be kept. */
  received(body: Buffer): void;
  /** Policies, limits and ledger have let it pass. */
  admitted(): void;
  /** A request is about to leave to a provider. */
  sending(request: SentHead): void;
  /** The provider's head is here. `leftAtMs`: when the request began to leave, by `performance.now()`. */
  answering(leftAtMs: number): void;
  /** A piece of the answer, as the client gets it. */
  wrote(piece: Buffer): void;
  /** `message`: what the client was sent where it was refused or failed. */
  finished(record: ExchangeRecord, message: string | undefined): void;
}

/** A request as one provider gets it. */
export interface SentHead {
  readonly provider: string;
  readonly model: string;
  /** What became of the client's bytes. */
  readonly form: string;
  readonly path: string;
  /** A flat list of names and values. */
  readonly headers: readonly string[];
  readonly body: Buffer;
}

/** How much is under way. */
export interface OpenCounts {
  readonly exchanges: number;
  /** Those of them that asked for a stream. */
  readonly streams: number;
}

/** How a provider stands. */
export interface ProviderGauges {
  readonly name: string;
  /** Exchanges that have a place at it. */
  readonly active: number;
  /** Exchanges that wait for a place. */
  readonly queued: number;
  /** Whether the breaker keeps all requests away. */
  readonly isOpen: boolean;
  /** How many of its models have an open breaker of their own. */
  readonly openModels: number;
}

/** How the ledger stands. */
export interface LedgerGauges {
  readonly isWritable: boolean;
  /** Changes that are not on the disk yet. */
  readonly pending: number;
  /** How long the oldest exchange has been waiting for its intent, in milliseconds. */
  readonly lagMs: number;
}

/** What one process of the gateway is doing, read when somebody asks. */
export interface Gauges {
  readonly open: OpenCounts;
  readonly providers: readonly ProviderGauges[];
  /** Undefined if no ledger is kept. */
  readonly ledger: LedgerGauges | undefined;
  /** Whether limits are counted where all who share them count; false while Redis is away. */
  readonly isStateShared: boolean;
}
