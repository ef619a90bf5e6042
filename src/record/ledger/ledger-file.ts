import { dirname, resolve } from 'node:path';
import { openSqlite, type SqliteEngine } from '../../database/sqlite-engine.ts';
import { transaction } from '../../database/transaction.ts';
import { makeDirectory } from '../../directories.ts';
import type { JournalContent } from './journal/segments.ts';
import { readSums } from './known-sums.ts';
import type { KnownSum, LedgerRow, WantedSum } from './ledger-row.ts';
import { prepareSchema } from './ledger-schema.ts';
import { prepareAdding } from './ledger-statements.ts';
import type { LedgerStore, Retention } from './ledger-store.ts';
import { sumPruning } from './ledger-sums.ts';
import { oldestQuarter } from './quarters.ts';

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
