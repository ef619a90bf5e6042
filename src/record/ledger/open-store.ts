import type { LedgerPlace, LedgerStore } from './ledger-store.ts';

/** Opens or creates the ledger's database for writing. Throws if it can't be used. */
export async function openStore({ path, url }: LedgerPlace): Promise<LedgerStore> {
  if (path !== undefined) return (await import('./ledger-file.ts')).openLedgerFile(path);
  return (await import('./postgres-ledger.ts')).openPostgresLedger(url);
}
