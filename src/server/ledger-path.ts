import { hash } from 'node:crypto';
import { resolve } from 'node:path';
import { refuseForeignState, stateDirectory } from '../client/state.ts';
import type { Config } from '../config/config.ts';
import { fileLedger } from '../record/ledger/ledger-store.ts';
import { type LedgerSettings, nameOfDatabase as nameOf } from './ledger.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Why a configuration keeps no ledger. */
export function noLedgerReason({ isSandboxMode }: Pick<Config, 'isSandboxMode'>): string {
  return isSandboxMode
    ? 'no ledger is kept in sandbox mode; "gateway init" writes a configuration'
    : 'no ledger is kept here: records.ledger is false';
}

/** Which ledger a configuration keeps; undefined for none. Throws config.invalid if it is in another user's state directory. */
export function ledgerSettings(
  { records: { ledger } }: Config,
  { env, cwd }: { readonly env: Environment; readonly cwd: string },
): LedgerSettings | undefined {
  if (ledger === undefined) return undefined;
  const { file, database, isSynced, days, bytes } = ledger;
  if (file === undefined) refuseForeignState(env);
  if (database !== undefined) {
    const journal = `${stateDirectory(env)}/ledger-${hash('sha256', nameOf(database)).slice(0, 12)}.journal`;
    return { place: { url: database, journal }, isSynced, days, bytes };
  }
  const path = file === undefined ? `${stateDirectory(env)}/ledger.sqlite` : resolve(cwd, file);
  return { place: fileLedger(path), isSynced, days, bytes };
}
