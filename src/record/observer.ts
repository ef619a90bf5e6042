import type { ExchangeRecord } from './record.ts';

/**
 * Whoever follows the exchanges: metrics, the live page. Called on the request path, so it must neither throw nor
 * wait.
 */
export interface ExchangeObserver {
  /** Called once for each exchange that is over, for every repeated refusal too. The record must not be changed. */
  finished(record: ExchangeRecord): void;
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
  /** Undefined where no ledger is kept. */
  readonly ledger: LedgerGauges | undefined;
  /** Whether limits are counted where all who share them count; false while Redis is away. */
  readonly isStateShared: boolean;
}
