import type { KnownSum, LedgerChange, WantedSum } from './ledger-row.ts';

/** Where a ledger is kept: a SQLite file, or a PostgreSQL database that many gateways share. Plain data. */
export type LedgerPlace =
  | { readonly path: string; readonly url?: undefined }
  | { readonly url: string; readonly path?: undefined };

/** How long and how large the rows may become; the sums by quarters of an hour are kept for over a year. */
export interface Retention {
  readonly days: number;
  readonly bytes: number;
}

/** The ledger's database, opened for writing. It belongs into a thread of its own: SQLite blocks. */
export interface LedgerStore {
  /** All changes or none, durable when it returns. Changes that were committed before change nothing. */
  commit(changes: readonly LedgerChange[]): void | Promise<void>;
  /** What was used, with the worst case of everything that is open. */
  sums(wanted: readonly WantedSum[]): readonly KnownSum[] | Promise<readonly KnownSum[]>;
  /** Now and then: deletes some of the oldest rows, where there are too many; true if more are left to delete. */
  maintain(retention: Retention, nowMs: number): boolean | Promise<boolean>;
  close(): void | Promise<void>;
}
