import type { SqliteValue } from '../../database/sqlite-engine.ts';
import type { JournalEntry } from './journal/journal-line.ts';
import type { Sums, TableNames } from './ledger-columns.ts';
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

/** Which rows are kept, how long, and how much space they may take; the sums are kept for over a year. */
export interface Retention {
  /** Whether all exchanges have a row; else only those that no record tells of. */
  readonly keepsRows: boolean;
  readonly days: number;
  readonly bytes: number;
}

/** A segment of the journal: those of an owner, one process, are numbered as it wrote them. */
export interface SegmentId {
  readonly owner: string;
  readonly number: number;
}

/** What a segment adds to the ledger. */
export interface Addition {
  /** Counts once, and not after a later one of its owner. Absent for rows alone, which count once by themselves. */
  readonly segment?: SegmentId | undefined;
  /** What is added to the sums, unless there are rows to keep. */
  readonly sums?: Sums | undefined;
  /** Rows to keep, unless there is one of that request already: the sums get what these add. */
  readonly rows?: readonly LedgerRow[] | undefined;
}

/** The ledger's database, opened for writing. Needs a thread of its own, because SQLite blocks. */
export interface LedgerStore {
  /** Commits all of it or nothing, durably. */
  add(addition: Addition): void | Promise<void>;
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
  readonly names: TableNames;
  /** The sum of a column in SQL, as a number that JavaScript has too. */
  sumOf(column: string): string;
  /** The rows of a query with the parameters $1 and $2, as its columns are named. */
  select<Row>(sql: string, values: readonly SqliteValue[]): Promise<readonly Row[]>;
  /** Which of these exchanges have a row, by their ids. */
  findStored(exchanges: readonly Intent[]): Promise<ReadonlySet<string>>;
}

/** A segment as it was read; its owner may still append to its last one. */
export interface ReadSegment extends SegmentId {
  readonly entries: readonly JournalEntry[];
}

/**
 * Reads from a ledger's tables, undefined if there are none yet, and from this machine's journal. That was read before: what
 * leaves it meanwhile is in the tables.
 */
export type ReadLedger<Value> = (
  tables: LedgerTables | undefined,
  journal: readonly ReadSegment[],
) => Promise<Value>;
