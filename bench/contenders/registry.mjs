import { join } from 'node:path';
import { isWanted } from '../options.mjs';
import { gateway } from './gateway.mjs';
import { haproxy } from './haproxy.mjs';
import { httpProxy } from './http-proxy.mjs';
import { nginx } from './nginx.mjs';
import { portkey } from './portkey.mjs';
import { undiciProxy } from './undici-proxy.mjs';

/** No proxy at all: what the others are compared with for latency. */
const direct = { name: 'direct' };

const variants = {
  '': {},
  ':no-ledger': { without: ['ledger'] },
  ':limits': { with: ['limits'] },
  ':metrics': { with: ['metrics'] },
  ':everything': { with: ['limits', 'metrics'] },
  ':redis': { with: ['limits', 'redis'] },
  ':tracing': { with: ['tracing'] },
  ':no-policy': { policy: 'none' },
  ':large': { policy: 'large' },
  ':logged': { records: 'logged' },
};

/** In the order in which they take turns. */
export function contenders({ against, only }) {
  const all = [
    direct,
    nginx,
    haproxy,
    portkey,
    httpProxy,
    undiciProxy,
    ...gateways('gateway', join(import.meta.dirname, '../..')),
  ];
  if (against !== undefined) all.push(...gateways('before', against));
  const unknown = (only ?? []).filter((wanted) => !all.some(({ name }) => isWanted(name, [wanted])));
  if (unknown.length > 0) {
    throw new Error(
      `no such contender: ${unknown.join(', ')}; there are ${all.map(({ name }) => name).join(', ')}`,
    );
  }
  return all.filter(({ name }) => isWanted(name, only));
}

function gateways(name, root) {
  return Object.entries(variants).map(([suffix, variant]) =>
    gateway({ name: `${name}${suffix}`, root, ...variant }),
  );
}
