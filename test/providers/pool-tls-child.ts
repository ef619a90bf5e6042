import { createInterface } from 'node:readline';
import { Pool } from '../../src/providers/transport/pool.ts';
import { Reader } from './wire.ts';

// A process of its own: whom it trusts, Node reads once at its start. Asks the origins of each line in turn, with pools
// of its own, and prints what came, less what no JSON holds.

const timeouts = { connectMs: 5_000, headersMs: 5_000, idleMs: 5_000 };

for await (const line of createInterface({ input: process.stdin })) {
  const pools = new Map<string, Pool>();
  const outcomes: unknown[] = [];
  for (const origin of JSON.parse(line) as string[]) {
    const pool = pools.get(origin) ?? new Pool(origin, { timeouts });
    pools.set(origin, pool);
    const reader = new Reader();
    pool.send({ method: 'POST', path: '/', headers: [], body: Buffer.from('{}') }, reader.upstream);
    const { body, failure, wasSent, cause } = await reader.outcome;
    outcomes.push({ body, failure, wasSent, code: cause?.code });
  }
  for (const pool of pools.values()) pool.close();
  process.stdout.write(`${JSON.stringify(outcomes)}\n`);
}
