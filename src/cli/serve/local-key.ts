import { join } from 'node:path';
import { readState, stateDirectory, writeState } from '../../client/state.ts';
import { generateKey, parseKey } from '../../config/build/keys.ts';
import type { Io } from '../shell/io.ts';

/** The name of the state file. */
export const localKeyName = 'local-key.json';

export function localKeyFile(env: Io['env']): string {
  return join(stateDirectory(env), localKeyName);
}

/** The key of the project `local`; undefined if none was made yet. */
export function readLocalKey(env: Io['env']): string | undefined {
  const { key } = (readState(env, localKeyName) ?? {}) as { key?: unknown };
  return typeof key === 'string' && parseKey(key) === 'generated' ? key : undefined;
}

/** The same, created at the first call, so that clients set up with it still work after a restart. */
export function localKey(env: Io['env']): string {
  const known = readLocalKey(env);
  if (known !== undefined) return known;
  const key = generateKey();
  writeState(env, localKeyName, { key });
  // If two gateways start at once, both use the file that remains.
  return readLocalKey(env) ?? key;
}
