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
