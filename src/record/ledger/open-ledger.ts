import { loadSqlite } from '../../database/sqlite-engine.ts';
import { isJournalInUse } from './journal/owner-lock.ts';
import { readFileSums } from './known-sums.ts';
import { JournaledLedger, type Ledger, LedgerFailure, type LedgerOptions } from './ledger.ts';
import type { KnownSum, WantedSum } from './ledger-row.ts';
import type { LedgerPlace } from './ledger-store.ts';

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

/** Opens it for writing. A file's sums are read here, in a few milliseconds; what a database answers is waited for. */
export async function openLedger(
  options: LedgerOptions,
  wanted: readonly WantedSum[],
): Promise<OpenedLedger> {
  const ledger = new JournaledLedger(options);
  try {
    await ledger.startWriting();
    return { ledger, sums: await readFirstSums(ledger, options.place, wanted), problem: undefined };
  } catch (error) {
    return { ledger, sums: undefined, problem: toFailure(error) };
  } finally {
    setTimeout(() => ledger.start(), wanted.length > 0 ? 0 : threadAfterMs).unref();
  }
}

/** Reads sums from a ledger that other processes write. Throws LedgerFailure. */
export async function readLedgerSums(
  options: LedgerOptions,
  wanted: readonly WantedSum[],
): Promise<readonly KnownSum[]> {
  const ledger = new JournaledLedger(options);
  try {
    return await readFirstSums(ledger, options.place, wanted);
  } finally {
    await ledger.close();
  }
}

/** Whether a process writes this ledger now. */
export async function isLedgerInUse({ journal }: LedgerPlace): Promise<boolean> {
  return isJournalInUse(await loadSqlite(), journal);
}

async function readFirstSums(
  ledger: JournaledLedger,
  { path }: LedgerPlace,
  wanted: readonly WantedSum[],
): Promise<readonly KnownSum[]> {
  if (wanted.length === 0) return [];
  if (path !== undefined) return readFileSums(path, wanted);
  const alive = setInterval(() => undefined, 60_000); // the thread keeps no process alive
  return ledger.sums(wanted).finally(() => clearInterval(alive));
}

function toFailure(error: unknown): LedgerFailure {
  if (error instanceof LedgerFailure) return error;
  return new LedgerFailure(error instanceof Error ? error.message : String(error), { cause: error });
}
