import { dirname, resolve } from 'node:path';
import { openSqlite, type SqliteEngine, transaction } from '../../database/sqlite-engine.ts';
import { makeDirectory } from '../../directories.ts';
import { addedSums, sumValues } from './added-sums.ts';
import type { JournalContent } from './journal/segments.ts';
import { readSums } from './known-sums.ts';
import {
  additions,
  exchangeColumns,
  exchangeNames,
  sumColumns,
  sumKey,
  sumPruning,
} from './ledger-columns.ts';
import { type KnownSum, type LedgerRow, oldestQuarter, type WantedSum } from './ledger-row.ts';
import { prepareSchema } from './ledger-schema.ts';
import type { LedgerStore, Retention } from './ledger-store.ts';

/** The ledger's file, opened for writing. Its methods block the thread. */
export interface LedgerFile extends LedgerStore {
  add(rows: readonly LedgerRow[]): void;
  sums(wanted: readonly WantedSum[], journal: JournalContent): readonly KnownSum[];
  maintain(retention: Retention, nowMs: number): boolean;
  close(): void;
}

const dayMs = 86_400_000;
// Few enough that others hardly wait for the deletion.
const pruneRows = 500;

/** Opens or creates the ledger. Throws if it can't be used. */
export async function openLedgerFile(path: string): Promise<LedgerFile> {
  makeDirectory(dirname(resolve(path)));
  const { writer, reader } = await openSqlite(path);
  reader.close();
  try {
    transaction(writer, () => prepareSchema(writer));
    return ledgerFile(writer, prepareAdding(writer));
  } catch (error) {
    writer.close();
    throw error;
  }
}

function ledgerFile(engine: SqliteEngine, add: (rows: readonly LedgerRow[]) => void): LedgerFile {
  const one = (sql: string) => Number(Object.values(engine.prepare(sql).all()[0] as object)[0]);
  return {
    add: (rows) => transaction(engine, () => add(rows)),
    sums: (wanted, journal) => readSums(engine, wanted, journal),
    maintain: ({ days, bytes }, nowMs) =>
      transaction(engine, () => {
        engine.prepare(sumPruning('sums', '?')).run(oldestQuarter(nowMs));
        const used = (one('pragma page_count') - one('pragma freelist_count')) * one('pragma page_size');
        const deleted = engine
          .prepare(
            `delete from exchanges where (started_ms, request_id) in
               (select started_ms, request_id from exchanges order by started_ms, request_id limit ?)
             and started_ms < ?`,
          )
          .run(pruneRows, used > bytes ? nowMs : nowMs - days * dayMs);
        return Number(deleted.changes) === pruneRows;
      }),
    close: () => engine.close(),
  };
}

/**
 * Adds rows within the caller's transaction: once for each request, whoever writes it and however often. The statements are
 * prepared once: kysely would compile each query again.
 */
function prepareAdding(engine: SqliteEngine): (rows: readonly LedgerRow[]) => void {
  const addRow = engine.prepare(
    `insert into exchanges (${exchangeNames}) values (${marks(exchangeColumns)}) on conflict do nothing`,
  );
  const addSum = engine.prepare(
    `insert into sums (${sumColumns.join()}) values (${marks(sumColumns)})
     on conflict (${sumKey}) do update set ${additions('sums')}`,
  );
  return (rows) => {
    const added = rows.filter((row) => {
      return Number(addRow.run(...exchangeColumns.map(({ read }) => read(row))).changes) > 0;
    });
    for (const sum of addedSums(added)) addSum.run(...sumValues(sum));
  };
}

function marks(columns: readonly unknown[]): string {
  return columns.map(() => '?').join();
}
