import { randomUUID } from 'node:crypto';
import type { Config } from '../../../config/config.ts';
import type { Counters } from '../../../limits/counters.ts';
import { MemoryCounters } from '../../../limits/memory-counters.ts';
import type { RestoredSum } from '../../../limits/redis-counters.ts';

/** Where limits are counted, as configured. A Redis that is away is asked for again and again. */
export async function openCounters(
  { url, onFailure }: Config['state'],
  log: (level: 'info' | 'error', message: string) => void,
  restored: readonly RestoredSum[] = [],
): Promise<Counters> {
  if (url === undefined) return restoredCounters(restored);
  const { RedisCounters } = await import('../../../limits/redis-counters.ts');
  return RedisCounters.open(randomUUID(), {
    url,
    onFailure,
    restore: () => Promise.resolve(restored),
    onState: ({ isConnected, cause }) => {
      if (isConnected) return log('info', 'Redis is back: limits are shared again');
      const reason = cause instanceof Error ? cause.message : String(cause);
      log('error', `Redis does not answer, so limits are not shared: ${reason || 'no connection'}`);
    },
  });
}

/** Counters in memory that go on where those of the last process ended. */
export function restoredCounters(restored: readonly RestoredSum[]): MemoryCounters {
  const counters = new MemoryCounters();
  for (const { counter, used, endsMs } of restored) counters.restore(counter, used, endsMs);
  return counters;
}
