import type { JournalContent } from './journal/segments.ts';
import type { KnownSum, LedgerRow, WantedSum } from './ledger-row.ts';

/** Where a ledger is kept: the folder of the journal, and a SQLite file or a PostgreSQL database that many gateways share. */
export type LedgerPlace = { readonly journal: string } & (
  | { readonly path: string; readonly url?: undefined }
  | { readonly url: string; readonly path?: undefined }
);

/** A file's journal is in a folder beside it. */
export function fileLedger(path: string): LedgerPlace {
  return { path, journal: `${path}.journal` };
}

/** How long rows are kept, and how much space they may take; the sums are kept for over a year. */
export interface Retention {
  readonly days: number;
  readonly bytes: number;
}

/** The ledger's database, opened for writing. Needs a thread of its own, because SQLite blocks. */
export interface LedgerStore {
  /** Commits all rows or none, durably. Idempotent by request id. */
  add(rows: readonly LedgerRow[]): void | Promise<void>;
  /** What was used, including what the journal has beyond the database, and the worst case of everything that is open. */
  sums(
    wanted: readonly WantedSum[],
    journal: JournalContent,
  ): readonly KnownSum[] | Promise<readonly KnownSum[]>;
  /** Called regularly: deletes some of the oldest rows if there are too many; true if more are left to delete. */
  maintain(retention: Retention, nowMs: number): boolean | Promise<boolean>;
  close(): void | Promise<void>;
}
