import { randomBytes } from 'node:crypto';
import { readState, writeState } from '../../../client/state.ts';
import type { Io } from '../../shell/io.ts';

const fileName = 'inspector.json';
const shape = /^[0-9a-f]{64}$/;

/** The key that signs the live page's sessions; created at the first start, readable only by this user. */
export function inspectorSecret(env: Io['env']): string {
  const known = read(env);
  if (known !== undefined) return known;
  const secret = randomBytes(32).toString('hex');
  writeState(env, fileName, { secret });
  // If two gateways start at once, both use the file that remains.
  return read(env) ?? secret;
}

function read(env: Io['env']): string | undefined {
  const { secret } = (readState(env, fileName) ?? {}) as { secret?: unknown };
  return typeof secret === 'string' && shape.test(secret) ? secret : undefined;
}
