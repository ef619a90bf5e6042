import { join } from 'node:path';
import { ensureStateDirectory } from '../../client/state.ts';
import type { Io } from '../shell/io.ts';

export const databaseOption = '--database <address>';
export const databaseHelp =
  'sqlite:FILE or postgres://USER@HOST/NAME, its password in PGPASSWORD (default: SQLite in the state directory)';

/** The database of this user's own store: a file in the state directory, which is created if needed. */
export function defaultDatabase(env: Io['env']): string {
  return `sqlite:${join(ensureStateDirectory(env), 'plants.sqlite')}`;
}
