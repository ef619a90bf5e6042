import { randomBytes } from 'node:crypto';
import { readState, writeState } from '../../../client/state.ts';
import type { Io } from '../../shell/io.ts';

const fileName = 'inspector.json';
const shape = /^[0-9a-f]{64}$/;

/** By which the live page knows its sessions again after a restart; made at the first start, readable by this user alone. */
export function inspectorSecret(env: Io['env']): string {
  const known = read(env);
  if (known !== undefined) return known;
  const secret = randomBytes(32).toString('hex');
  writeState(env, fileName, { secret });
  // Of two gateways that start at once, both use what is there in the end.
  return read(env) ?? secret;
}

function read(env: Io['env']): string | undefined {
  const { secret } = (readState(env, fileName) ?? {}) as { secret?: unknown };
  return typeof secret === 'string' && shape.test(secret) ? secret : undefined;
}
