import { chmodSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { makeDirectory } from '../make-directory.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** The directory of this user's state (XDG Base Directory specification), whether or not it exists. */
export function stateDirectory(env: Environment): string {
  const base = env.XDG_STATE_HOME;
  if (base?.startsWith('/')) return join(base, 'gateway');
  // An empty HOME would make it a path below wherever the command runs.
  return join(env.HOME || homedir(), '.local', 'state', 'gateway');
}

/** The same, made where it is missing, and closed to everybody else. */
export function ensureStateDirectory(env: Environment): string {
  const directory = stateDirectory(env);
  makeDirectory(directory);
  chmodSync(directory, 0o700);
  return directory;
}

/** The parsed content of a state file, or undefined if it is missing or was not written whole. */
export function readState(env: Environment, name: string): unknown {
  try {
    return JSON.parse(readFileSync(join(stateDirectory(env), name), 'utf8'));
  } catch {
    return undefined; // never written, or damaged: the same as not there, and the next write mends it
  }
}

/** Writes a state file that only this user can read, by atomic rename; returns its path. */
export function writeState(env: Environment, name: string, value: unknown): string {
  return writeStateText(env, name, `${JSON.stringify(value, null, 2)}\n`);
}

/** The same for a text that is not JSON. */
export function writeStateText(env: Environment, name: string, content: string): string {
  const directory = ensureStateDirectory(env);
  const path = join(directory, name);
  // Not crypto's randomness, which takes longer to load than all the rest; `wx` refuses a name that is taken.
  const draft = `${path}.${process.pid}.${process.hrtime.bigint()}`;
  writeFileSync(draft, content, { mode: 0o600, flag: 'wx' });
  renameSync(draft, path);
  return path;
}

export function removeState(env: Environment, name: string): void {
  rmSync(join(stateDirectory(env), name), { force: true });
}
