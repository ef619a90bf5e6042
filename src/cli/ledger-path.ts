import { resolve } from 'node:path';
import { stateDirectory } from '../client/state.ts';
import type { Config } from '../config/config.ts';
import type { LedgerSettings } from './serve/server/ledger.ts';
import type { Io } from './shell/io.ts';

/** Which ledger a configuration keeps; undefined for none. */
export function ledgerSettings(
  { records: { ledger } }: Config,
  { env, cwd }: Pick<Io, 'env' | 'cwd'>,
): LedgerSettings | undefined {
  if (ledger === undefined) return undefined;
  const { file, database, days, bytes } = ledger;
  if (database !== undefined) return { place: { url: database }, days, bytes };
  const path = file === undefined ? `${stateDirectory(env)}/ledger.sqlite` : resolve(cwd, file);
  return { place: { path }, days, bytes };
}
