import { existsSync, lstatSync } from 'node:fs';
import { join } from 'node:path';
import { ensureStateDirectory, stateDirectory } from '../../client/state.ts';
import { GatewayError } from '../../errors.ts';
import { type History, openHistory } from '../../history/history.ts';
import type { Io } from '../shell/io.ts';

type Environment = Io['env'];

function historyFile(env: Environment): string {
  return join(stateDirectory(env), 'history.sqlite');
}

/** Opens this user's conversations, creating the file if needed. Throws config.invalid if it can't be used. */
export async function openUserHistory(env: Environment): Promise<History> {
  try {
    refuseForeign(stateDirectory(env));
    ensureStateDirectory(env);
  } catch (cause) {
    if (cause instanceof GatewayError) throw cause;
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown error';
    const message = `conversations can't be kept in ${stateDirectory(env)} (${code})`;
    throw new GatewayError('config.invalid', `${message}; XDG_STATE_HOME names another place`, { cause });
  }
  return openHistory(historyFile(env));
}

/** The same, or undefined if nothing was ever saved. */
export async function findUserHistory(env: Environment): Promise<History | undefined> {
  return existsSync(historyFile(env)) ? openUserHistory(env) : undefined;
}

/** In another user's directory they could read every conversation. */
function refuseForeign(directory: string): void {
  const owner = lstatSync(directory, { throwIfNoEntry: false })?.uid;
  const own = process.getuid?.();
  if (owner === undefined || own === undefined || owner === own) return;
  const message = `${directory} belongs to another user, so no conversations are kept there`;
  throw new GatewayError('config.invalid', `${message}; XDG_STATE_HOME names another place`);
}
