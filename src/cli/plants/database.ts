import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { stateDirectory } from '../../client/state.ts';
import type { Io } from '../shell/io.ts';

export const databaseOption = '--database <address>';
export const databaseHelp =
  'sqlite:FILE or postgres://USER@HOST/NAME, its password in PGPASSWORD (default: SQLite in the state directory)';

/** The database of this user's own store: a file in the state directory, which is created if needed. */
export function defaultDatabase(env: Io['env']): string {
  const directory = stateDirectory(env);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  chmodSync(directory, 0o700);
  return `sqlite:${join(directory, 'plants.sqlite')}`;
}
