import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { readState, stateDirectory, writeState } from '../../client/state.ts';
import { generateKey, parseKey } from '../../config/build/keys.ts';
import type { Config } from '../../config/config.ts';
import type { Io } from '../shell/io.ts';

type Environment = Io['env'];

/** A secret that this installation makes at the first use and keeps in its state, in one member of a file. */
function keptSecret(file: string, member: string, isValid: (text: string) => boolean, make: () => string) {
  const read = (env: Environment): string | undefined => {
    const { [member]: text } = (readState(env, file) ?? {}) as Record<string, unknown>;
    return typeof text === 'string' && isValid(text) ? text : undefined;
  };
  const replace = (env: Environment, text: string): void => {
    writeState(env, file, { [member]: text });
  };
  const readOrMake = (env: Environment): string => {
    const known = read(env);
    if (known !== undefined) return known;
    const made = make();
    replace(env, made);
    // If two gateways start at once, both use the file that remains.
    return read(env) ?? made;
  };
  return { read, readOrMake, replace };
}

/** The name of the state file. */
export const localKeyName = 'local-key.json';

export function localKeyFile(env: Environment): string {
  return join(stateDirectory(env), localKeyName);
}

/** The key of the project `local`, so that clients set up with it still work after a restart. */
export const localKey = keptSecret(localKeyName, 'key', (key) => parseKey(key) === 'generated', generateKey);

/**
 * This user's local key, if the configuration accepts it: as the key of the project `local` where no projects are configured,
 * else because one of them has it ("gateway key new --local").
 */
export function acceptedLocalKey(config: Config, env: Environment): string | undefined {
  const key = localKey.read(env);
  if (key === undefined || config.needsLocalKey) return key;
  const { expiresMs = Number.POSITIVE_INFINITY } = config.keys.find(key) ?? { expiresMs: 0 };
  return expiresMs > Date.now() ? key : undefined;
}

const maskSecret = keptSecret(
  'mask-secret.json',
  'secret',
  (secret) => secret.length >= 32,
  () => randomBytes(32).toString('base64url'),
);

/** The configuration with the secret that placeholders are made with, if a rule masks and it has none. */
export function withMaskSecret(config: Config, env: Environment): Config {
  return config.needsMaskSecret ? config.withMaskSecret(maskSecret.readOrMake(env)) : config;
}

/** The same for commands that only look: without creating anything. */
export function withKnownMaskSecret(config: Config, env: Environment): Config {
  const known = config.needsMaskSecret ? maskSecret.read(env) : undefined;
  return known === undefined ? config : config.withMaskSecret(known);
}
