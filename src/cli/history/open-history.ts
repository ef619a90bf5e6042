import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { ensureStateDirectory, refuseForeignState, stateDirectory } from '../../client/state.ts';
import { GatewayError } from '../../errors.ts';
import { type History, openHistory } from '../../history/history.ts';
import type { Io } from '../shell/io.ts';

type Environment = Io['env'];

function historyFile(env: Environment): string {
  return join(stateDirectory(env), 'history.sqlite');
}

/** Opens this user's conversations, creating the file if needed. Throws config.invalid if it can't be used. */
export async function openUserHistory(env: Environment): Promise<History> {
  refuseForeign(stateDirectory(env));
  ensureStateDirectory(env);
  const file = historyFile(env);
  try {
    return await openHistory(file);
  } catch (error) {
    if (!(error instanceof GatewayError) || error.code !== 'config.invalid') throw error;
    // It may only be locked.
    const remedy = `if nothing else is using it, move ${file} away to begin a new history`;
    throw new GatewayError('config.invalid', `${error.message}; ${remedy}`, { cause: error });
  }
}

/** Uses the same, and closes it; undefined if nothing was ever saved. */
export async function withUserHistory<Value>(
  env: Environment,
  use: (history: History | undefined) => Promise<Value>,
): Promise<Value> {
  const history = await findUserHistory(env);
  try {
    return await use(history);
  } finally {
    history?.close();
  }
}

async function findUserHistory(env: Environment): Promise<History | undefined> {
  try {
    lstatSync(historyFile(env));
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException; // what the file system throws
    if (code === 'ENOENT' || code === 'ENOTDIR') {
      refuseForeignState(env);
      return undefined;
    }
  }
  return openUserHistory(env);
}

/** In another user's directory they could read every conversation, so not even root saves any there. */
function refuseForeign(directory: string): void {
  const owner = ownerOf(directory);
  const own = process.getuid?.();
  if (owner === undefined || own === undefined || owner === own) return;
  const message = `${directory} belongs to another user, so no conversations are saved there`;
  throw new GatewayError('config.invalid', `${message}; set XDG_STATE_HOME to a directory of yours`);
}

/** Undefined if there is none, or it can't be reached: creating it then says why. */
function ownerOf(path: string): number | undefined {
  try {
    return lstatSync(path).uid;
  } catch {
    return undefined;
  }
}
