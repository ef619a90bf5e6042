import { mkdirSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';

/**
 * Creates a directory that only its owner can access, and missing parents. Node's own `recursive` never returns for a
 * path below /proc, where a missing directory can't be created.
 */
export function makeDirectory(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException; // what mkdir throws
    if (code === 'EEXIST' && statSync(path).isDirectory()) return;
    if (code !== 'ENOENT' || dirname(path) === path) throw error;
    makeDirectory(dirname(path));
    mkdirSync(path, { mode: 0o700 });
  }
}

/** The directory of this user's state (XDG Base Directory specification), whether or not it exists. */
export function stateDirectory(env: Readonly<Record<string, string | undefined>>): string {
  const base = env.XDG_STATE_HOME;
  if (base?.startsWith('/')) return join(base, 'gateway');
  // An empty HOME would make it a path relative to the working directory.
  return join(env.HOME || homedir(), '.local', 'state', 'gateway');
}
