import type { LedgerPlace, LedgerStore } from './ledger-store.ts';

/** Opens or creates the ledger, and settles what dead processes left open in it. Throws if it can't be used. */
export async function openLedgerStore({ path, url }: LedgerPlace): Promise<LedgerStore> {
  if (path !== undefined) return (await import('./ledger-file.ts')).openLedgerFile(path);
  return (await import('./postgres-ledger.ts')).openPostgresLedger(url);
}
