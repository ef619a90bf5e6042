import { statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { readState, writeState } from '../../client/state.ts';
import type { Io } from '../shell/io.ts';

export interface ConfigNames {
  readonly projects: readonly string[];
  /** Ids, not values. */
  readonly keys: readonly string[];
  readonly policies: readonly string[];
  readonly rules: readonly string[];
  readonly providers: readonly string[];
  /** Models without a wildcard. */
  readonly models: readonly string[];
}

interface Kept {
  /** Change times of the file with the names, and of each directory in which a nearer file could appear. */
  readonly stamp: string;
  readonly path: string;
  readonly names: ConfigNames;
}

const stateName = 'completion.json';

/** The names found last time, unless the configuration has changed or another one would be found now. */
export function keptNames(file: string | undefined, io: Io): ConfigNames | undefined {
  const kept = readState(io.env, stateName) as Partial<Kept> | undefined; // by keepNames, or nothing
  if (kept?.path === undefined || kept.stamp !== stampOf(file, kept.path, io)) return undefined;
  return kept.names;
}

/** Stores them for the next completion; if the state directory can't be written, the next one searches again. */
export function keepNames(
  {
    file,
    path,
    names,
  }: { readonly file: string | undefined; readonly path: string; readonly names: ConfigNames },
  io: Io,
): void {
  try {
    writeState(io.env, stateName, { stamp: stampOf(file, path, io), path, names });
  } catch {
    // A completion can't report anything.
  }
}

function stampOf(file: string | undefined, path: string, { cwd, env }: Io): string {
  const places = file === undefined ? searched(cwd, path) : [resolve(cwd, file)];
  return [env.HOME, env.XDG_CONFIG_HOME, ...[path, ...places].map(changeOf)].join(' ');
}

/** From the directory upwards to where the file was found. A directory changes when a file is made or removed in it. */
function searched(directory: string, path: string): readonly string[] {
  const parent = dirname(directory);
  const here = [directory, join(directory, '.config')];
  const isLast = parent === directory || path.startsWith(join(directory, '/'));
  return isLast ? here : [...here, ...searched(parent, path)];
}

function changeOf(path: string): string {
  const stats = statSync(path, { throwIfNoEntry: false, bigint: true });
  return stats === undefined ? path : `${path}:${stats.ino}:${stats.size}:${stats.ctimeNs}`;
}
