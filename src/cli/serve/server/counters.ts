import { randomUUID } from 'node:crypto';
import type { Config } from '../../../config/config.ts';
import type { Counters } from '../../../limits/counters.ts';
import { MemoryCounters } from '../../../limits/memory-counters.ts';

/** Where limits are counted, as configured. A Redis that is away is asked for again and again. */
export async function openCounters(
  { url, onFailure }: Config['state'],
  log: (level: 'info' | 'error', message: string) => void,
): Promise<Counters> {
  if (url === undefined) return new MemoryCounters();
  const { RedisCounters } = await import('../../../limits/redis-counters.ts');
  return RedisCounters.open(randomUUID(), {
    url,
    onFailure,
    onState: ({ isConnected, cause }) => {
      if (isConnected) return log('info', 'Redis is back: limits are shared again');
      const reason = cause instanceof Error ? cause.message : String(cause);
      log('error', `Redis does not answer, so limits are not shared: ${reason || 'no connection'}`);
    },
  });
}
