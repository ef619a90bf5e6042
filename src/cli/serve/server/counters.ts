import { randomUUID } from 'node:crypto';
import type { Config } from '../../../config/config.ts';
import { createTextScrubber } from '../../../gateway/answer/scrub.ts';
import type { Counters } from '../../../limits/counters.ts';
import { MemoryCounters } from '../../../limits/memory-counters.ts';
import type { openLedgerFor } from './ledger.ts';

type Restoring = Pick<Awaited<ReturnType<typeof openLedgerFor>>, 'restored' | 'restore'>;

/** Opens the configured counters. Keeps trying to connect to an unreachable Redis. */
export async function openCounters(
  { state: { url, onFailure }, secrets }: Pick<Config, 'state' | 'secrets'>,
  log: (level: 'info' | 'error', message: string) => void,
  ledger: Restoring | undefined,
): Promise<Counters> {
  if (url === undefined) return restoredCounters(ledger?.restored ?? []);
  const scrub = createTextScrubber(secrets);
  const { RedisCounters } = await import('../../../limits/redis-counters.ts');
  return RedisCounters.open(randomUUID(), {
    url,
    onFailure,
    restore: ledger?.restore,
    onBadCounter: (key) =>
      log('error', `the key ${key} in Redis holds no counter, so its limit refuses every request: delete it`),
    onState: ({ isConnected, cause }) => {
      if (isConnected) return log('info', 'Redis is back: limits are shared again');
      const reason = scrub(cause instanceof Error ? cause.message : String(cause));
      log('error', `limits are not shared: ${reason || 'no connection to Redis'}`);
    },
  });
}

/** In-memory counters that continue where the last process ended; until that is known, budgets refuse. */
export function restoredCounters(restored: Restoring['restored']): MemoryCounters {
  const isLate = restored instanceof Promise;
  const counters = new MemoryCounters({ knowsBudgets: !isLate });
  if (isLate)
    void restored.then((sums) => counters.restore(sums)); // never rejects
  else counters.restore(restored);
  return counters;
}
