import { dirname, resolve } from 'node:path';
import { loadSqlite } from '../../database/sqlite-engine.ts';
import { prepareSqliteFile } from '../../database/sqlite-file.ts';
import { makeDirectory } from '../../lib/directories.ts';
import { isJournalInUse } from './journal/owner-lock.ts';
import { Ledger, type LedgerOptions } from './ledger.ts';
import type { KnownSum, WantedSum } from './ledger-row.ts';
import type { LedgerPlace } from './ledger-store.ts';
import { LedgerFailure, readLedgerSums } from './read-ledger.ts';

/** A ledger, and what was used so far. */
export interface OpenedLedger {
  readonly ledger: Ledger;
  /** Undefined if it can't be read or written, for this reason. */
  readonly sums: readonly KnownSum[] | undefined;
  readonly problem: LedgerFailure | undefined;
}

/**
 * Starting a thread takes more CPU time than the rest of a file's ledger, so it comes after the first exchanges; but not
 * where there are budgets, because another gateway is warned once the thread has locked the journal.
 */
const threadAfterMs = 1_000;

/** Opens it for writing. */
export async function openLedger(
  options: LedgerOptions,
  wanted: readonly WantedSum[],
): Promise<OpenedLedger> {
  const ledger = new Ledger(options);
  try {
    await ledger.startWriting();
    if (wanted.length > 0) prepareFile(options.place);
    return { ledger, sums: await readLedgerSums(options.place, wanted), problem: undefined };
  } catch (error) {
    const problem = error instanceof LedgerFailure ? error : new LedgerFailure(error);
    return { ledger, sums: undefined, problem };
  } finally {
    setTimeout(() => ledger.start(), wanted.length > 0 ? 0 : threadAfterMs).unref();
  }
}

/** So that a path where none can be created is known at once. */
function prepareFile({ path }: LedgerPlace): void {
  if (path === undefined) return;
  makeDirectory(dirname(resolve(path)));
  prepareSqliteFile(resolve(path));
}

/** Whether a process writes this ledger now. */
export async function isLedgerInUse({ journal }: LedgerPlace): Promise<boolean> {
  return isJournalInUse(await loadSqlite(), journal);
}
