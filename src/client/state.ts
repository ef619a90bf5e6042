import { chmodSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { GatewayError } from '../errors.ts';
import { makeDirectory, stateDirectory } from '../lib/directories.ts';

export { stateDirectory };

export type Environment = Readonly<Record<string, string | undefined>>;

/** The same, created if it is missing, and inaccessible to everybody else. Throws config.invalid if it can't be used. */
export function ensureStateDirectory(env: Environment): string {
  return changing(env, (directory) => {
    makeDirectory(directory);
    chmodSync(directory, 0o700);
    return directory;
  });
}

/**
 * The parsed content of a state file, or undefined if it is missing or incomplete. A file of another user
 * counts as missing: it could lead prompts to that user's gateway.
 */
export function readState(env: Environment, name: string): unknown {
  const directory = stateDirectory(env);
  if (belongsToAnother(directory)) return undefined;
  try {
    return JSON.parse(readFileSync(join(directory, name), 'utf8'));
  } catch {
    return undefined; // never written, or damaged: treated as missing, and replaced by the next write
  }
}

/** Writes a state file that only this user can read, by atomic rename; returns its path. */
export function writeState(env: Environment, name: string, value: unknown): string {
  return writeStateText(env, name, `${JSON.stringify(value, null, 2)}\n`);
}

/** The same for a text that is not JSON. */
export function writeStateText(env: Environment, name: string, content: string): string {
  const path = join(ensureStateDirectory(env), name);
  // Not crypto's randomness, which takes longer to load than all the rest; `wx` refuses a name that is taken.
  const draft = `${path}.${process.pid}.${process.hrtime.bigint()}`;
  return changing(env, () => {
    writeFileSync(draft, content, { mode: 0o600, flag: 'wx' });
    renameSync(draft, path);
    return path;
  });
}

export function removeState(env: Environment, name: string): void {
  changing(env, (directory) => rmSync(join(directory, name), { force: true }));
}

/** Throws config.invalid if the state directory is another user's: for callers of `readState`, which treats its files as missing. */
export function refuseForeignState(env: Environment): void {
  const directory = stateDirectory(env);
  if (belongsToAnother(directory)) throw unusable(`the state directory ${directory} belongs to another user`);
}

/** Throws config.invalid, with a remedy, if the file system refuses. */
function changing<Value>(env: Environment, change: (directory: string) => Value): Value {
  refuseForeignState(env);
  const directory = stateDirectory(env);
  try {
    return change(directory);
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown error';
    throw unusable(`the state directory ${directory} can't be used (${code})`, cause);
  }
}

function unusable(problem: string, cause?: unknown): GatewayError {
  return new GatewayError('config.invalid', `${problem}; set XDG_STATE_HOME to a directory of yours`, {
    cause,
  });
}

/** Root uses every user's files, as it does with sudo and in containers. */
function belongsToAnother(directory: string): boolean {
  const user = process.geteuid?.() ?? 0;
  if (user === 0) return false;
  try {
    return statSync(directory).uid !== user;
  } catch {
    return false; // there is none yet, or it can't be read anyway
  }
}
