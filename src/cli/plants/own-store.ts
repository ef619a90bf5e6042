import { join } from 'node:path';
import { ensureStateDirectory } from '../../client/state.ts';
import type { Config } from '../../config/config.ts';
import type { Paint } from '../../paint.ts';
import type { CommonOptions } from '../shell/command.ts';
import type { Io } from '../shell/io.ts';
import { loadUserConfig } from '../shell/load-config.ts';

export const databaseOption = '--database <address>';
export const databaseHelp =
  'sqlite:FILE or postgres://USER@HOST/NAME, its password in PGPASSWORD (default: SQLite in the state directory)';

/** The database of this user's own store: a file in the state directory, which is created if needed. */
export function defaultDatabase(env: Io['env']): string {
  return `sqlite:${join(ensureStateDirectory(env), 'plants.sqlite')}`;
}

/** The plant store's part of a configuration file; undefined if there is no file. Throws config.invalid and config.untrusted. */
export async function configuredPlants(
  options: CommonOptions,
  io: Io,
): Promise<Config['plants'] | undefined> {
  // Checked first, so that the schema is not loaded if there is no file.
  const { findConfig } = await import('../../config/source/find.ts');
  if ((await findConfig({ file: options.config, cwd: io.cwd, env: io.env })) === undefined) return undefined;
  return (await loadUserConfig(options, io)).config.plants;
}

/** A record of the plant store's log as a line for a person. */
export function requestLine(record: object, paint: Paint): string {
  const time = paint('dim', new Date().toTimeString().slice(0, 8));
  const {
    event,
    method,
    operation,
    status,
    duration_ms: duration,
    reason,
    cause,
    ...rest
  }: Record<string, unknown> = {
    ...record,
  };
  if (event !== 'plants.request') {
    const details = JSON.stringify({ reason, cause, ...rest });
    return `${time}   ${event}${details === '{}' ? '' : ` ${details}`}\n`;
  }
  const mark = Number(status) < 400 ? paint('green', '✓') : paint('red', '✗');
  const words = [time, mark, status, method, operation ?? '-', `${duration}ms`, reason, cause];
  return `${words.filter((word) => word !== undefined).join(' ')}\n`;
}
