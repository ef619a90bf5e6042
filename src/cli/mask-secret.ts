import { randomBytes } from 'node:crypto';
import { readState, writeState } from '../client/state.ts';
import type { Config } from '../config/config.ts';
import type { Io } from './shell/io.ts';

/** The name of the state file. */
const maskSecretName = 'mask-secret.json';

/** The secret that this installation makes placeholders with; undefined if none was made yet. */
function readMaskSecret(env: Io['env']): string | undefined {
  const { secret } = (readState(env, maskSecretName) ?? {}) as { secret?: unknown };
  return typeof secret === 'string' && secret.length >= 32 ? secret : undefined;
}

/** The configuration with the kept secret, which is created at the first call, if a rule masks and it has none. */
export function withMaskSecret(config: Config, env: Io['env']): Config {
  if (!config.needsMaskSecret) return config;
  const known = readMaskSecret(env);
  if (known !== undefined) return config.withMaskSecret(known);
  const secret = randomBytes(32).toString('base64url');
  writeState(env, maskSecretName, { secret });
  // If two gateways start at once, both use the file that remains.
  return config.withMaskSecret(readMaskSecret(env) ?? secret);
}

/** The same for commands that only look: without creating anything. */
export function withKnownMaskSecret(config: Config, env: Io['env']): Config {
  const known = config.needsMaskSecret ? readMaskSecret(env) : undefined;
  return known === undefined ? config : config.withMaskSecret(known);
}
