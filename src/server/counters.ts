import { randomUUID } from 'node:crypto';
import type { Config } from '../config/config.ts';
import { createTextScrubber } from '../gateway/answer/scrub.ts';
import { budgetCounters } from '../limits/budget-counters.ts';
import type { Counters } from '../limits/counters.ts';
import { MemoryCounters } from '../limits/memory-counters.ts';
import type { openLedgerFor } from './ledger.ts';

type Sums = Pick<Awaited<ReturnType<typeof openLedgerFor>>, 'restored' | 'readSums'>;

/** Opens the configured counters. Keeps trying to connect to an unreachable Redis. */
export async function openCounters(
  { state: { url, onFailure }, secrets }: Pick<Config, 'state' | 'secrets'>,
  log: (level: 'info' | 'error', message: string) => void,
  ledger: Sums | undefined,
): Promise<Counters> {
  if (url === undefined) return memoryCounters(ledger);
  const scrub = createTextScrubber(secrets);
  const { RedisCounters } = await import('../limits/redis/redis-counters.ts');
  return RedisCounters.open(randomUUID(), {
    url,
    onFailure,
    readSums: ledger?.readSums,
    onBadCounter: (key) =>
      log('error', `the key ${key} in Redis holds no counter, so its limit refuses every request: delete it`),
    onState: ({ isConnected, cause }) => {
      if (isConnected) return log('info', 'Redis is back: limits are shared again');
      const reason = scrub(cause instanceof Error ? cause.message : String(cause));
      log('error', `Redis is away, limits are not shared: ${reason || 'no connection'}`);
    },
  });
}

/** In-memory counters that continue where the last process ended. */
export function memoryCounters(ledger: Sums | undefined): MemoryCounters {
  const counters = new MemoryCounters({ readSums: ledger?.readSums });
  counters.restore(ledger?.restored ?? []);
  return counters;
}

/** Has the counters read what budgets have used that one configuration has and the previous one had not. */
export function rereadAdded(
  counters: Counters,
  previous: Pick<Config, 'limits'>,
  next: Pick<Config, 'limits'>,
): void {
  const nowMs = Date.now();
  const known = new Set(budgetCounters(previous.limits, nowMs).map(({ counter }) => counter));
  counters.reread(budgetCounters(next.limits, nowMs).filter(({ counter }) => !known.has(counter)));
}
