import type { KnownSum, LedgerChange, WantedSum } from './ledger-row.ts';

/** Where a ledger is kept: a SQLite file, or a PostgreSQL database that many gateways share. Plain data. */
export type LedgerPlace =
  | { readonly path: string; readonly url?: undefined }
  | { readonly url: string; readonly path?: undefined };

/** How long rows are kept, and how much space they may take; the sums are kept for over a year. */
export interface Retention {
  readonly days: number;
  readonly bytes: number;
}

/** The ledger's database, opened for writing. Needs a thread of its own, because SQLite blocks. */
export interface LedgerStore {
  /** Commits all changes or none, durably. Idempotent: changes that were committed before have no effect. */
  commit(changes: readonly LedgerChange[]): void | Promise<void>;
  /** What was used, including the worst case of everything that is open. */
  sums(wanted: readonly WantedSum[]): readonly KnownSum[] | Promise<readonly KnownSum[]>;
  /** Called regularly: deletes some of the oldest rows if there are too many; true if more are left to delete. */
  maintain(retention: Retention, nowMs: number): boolean | Promise<boolean>;
  close(): void | Promise<void>;
}
