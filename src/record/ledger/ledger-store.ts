import type { SqliteValue } from '../../database/sqlite-engine.ts';
import type { Intent, LedgerRow } from './ledger-row.ts';

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
  /** Called regularly: deletes some of the oldest rows if there are too many; true if more are left to delete. */
  maintain(retention: Retention, nowMs: number): boolean | Promise<boolean>;
  /** Lets a session of a key use more of one of its limits. */
  raise(raise: SessionRaise): void | Promise<void>;
  close(): void | Promise<void>;
}

/** Of a raise that holds whichever key it is. */
export const anyKey = '';

export interface SessionRaise {
  /** `anyKey` for a run. */
  readonly key_id: string;
  /** Or the name of a run, which no two have. */
  readonly session: string;
  readonly limit_name: string;
  /** In the unit of the limit's counter. */
  readonly amount: number;
}

/** The tables of a ledger for reading. All queries see the same state of the database, whoever writes it meanwhile. */
export interface LedgerTables {
  /** The tables' names; without that of sessions in a ledger that no gateway has written since an earlier build. */
  readonly names: {
    readonly sums: string;
    readonly session_sums: string | undefined;
    readonly session_raises: string | undefined;
    readonly exchanges: string;
  };
  /** The sum of a column in SQL, as a number that JavaScript has too. */
  sumOf(column: string): string;
  /** The rows of a query with the parameters $1 and $2, as its columns are named. */
  select<Row>(sql: string, values: readonly SqliteValue[]): Promise<readonly Row[]>;
  /** Which of these exchanges have a row, by their ids. */
  findStored(exchanges: readonly Intent[]): Promise<ReadonlySet<string>>;
}

/** What a journal has: the exchanges that are over, and those that are not, as far as it says. */
export interface JournalContent {
  readonly rows: readonly LedgerRow[];
  readonly open: readonly Intent[];
}

/**
 * Reads from a ledger's tables, undefined if there are none yet, and from this machine's journal. That was read before: what
 * leaves it meanwhile is in the tables, and counted there.
 */
export type ReadLedger<Value> = (tables: LedgerTables | undefined, journal: JournalContent) => Promise<Value>;
