import { randomUUID } from 'node:crypto';
import { dirname, resolve } from 'node:path';
import { loadSqlite, openSqlite, type SqliteEngine } from '../../database/sqlite-engine.ts';
import { transaction } from '../../database/transaction.ts';
import { makeDirectory } from '../../make-directory.ts';
import { readSums } from './known-sums.ts';
import { findOwners, isOwnerAlive, lockOwner, type Owner, removeOwner } from './ledger-owner.ts';
import type { KnownSum, LedgerChange, WantedSum } from './ledger-row.ts';
import { prepareSchema } from './ledger-schema.ts';
import { type LedgerStatements, prepareStatements } from './ledger-statements.ts';
import type { LedgerStore, Retention } from './ledger-store.ts';
import { sumPruning } from './ledger-sums.ts';
import { oldestQuarter } from './quarters.ts';

/** The ledger's file, opened for writing. Its methods block the thread. */
export interface LedgerFile extends LedgerStore {
  commit(changes: readonly LedgerChange[]): void;
  sums(wanted: readonly WantedSum[]): readonly KnownSum[];
  maintain(retention: Retention, nowMs: number): boolean;
  close(): void;
}

const dayMs = 86_400_000;
// Few enough that commits hardly wait for the deletion.
const pruneRows = 500;

/** Opens or creates the ledger, and settles what dead processes left open in it. Throws if it can't be used. */
export async function openLedgerFile(path: string): Promise<LedgerFile> {
  makeDirectory(dirname(resolve(path)));
  const sqlite = await loadSqlite();
  const { writer, reader } = await openSqlite(path);
  reader.close();
  const id = randomUUID();
  let owner: Owner | undefined;
  try {
    // The search for dead owners takes the same lock, so nobody sees this owner's file before it is locked.
    const statements = transaction(writer, () => {
      prepareSchema(writer);
      owner = lockOwner(sqlite, path, id);
      const prepared = prepareStatements(writer, id);
      const dead = [...new Set([...prepared.owners(), ...findOwners(path)])].filter(
        (other) => other !== id && !isOwnerAlive(sqlite, path, other),
      );
      for (const other of dead) prepared.settle(other);
      return { prepared, dead };
    });
    for (const other of statements.dead) removeOwner(path, other);
    return ledgerFile(writer, statements.prepared, owner);
  } catch (error) {
    owner?.release();
    writer.close();
    throw error;
  }
}

function ledgerFile(
  engine: SqliteEngine,
  statements: LedgerStatements,
  owner: Owner | undefined,
): LedgerFile {
  const one = (sql: string) => Number(Object.values(engine.prepare(sql).all()[0] as object)[0]);
  return {
    commit: (changes) => transaction(engine, () => statements.apply(changes))(),
    sums: (wanted) => readSums(engine, wanted),
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
    close: () => {
      engine.close();
      owner?.release();
    },
  };
}
