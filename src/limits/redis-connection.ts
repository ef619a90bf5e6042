import type { Redis } from 'ioredis';
import { reserveScript, restoreScript, settleScript } from './redis-script.ts';

interface Scripts {
  gatewayReserve(keys: number, ...args: (string | number)[]): Promise<(string | number)[]>;
  gatewaySettle(keys: number, ...args: (string | number)[]): Promise<number>;
  gatewayRestore(keys: number, counter: string, used: number, endsMs: number): Promise<number>;
}

/** Redis with the scripts by which limits are counted. */
export type ScriptedRedis = Redis & Scripts;

/** A connection that is not open yet, and that comes back by itself. */
export async function connectRedis(
  url: string,
  { commandMs }: { readonly commandMs: number },
): Promise<ScriptedRedis> {
  const { Redis } = await import('ioredis'); // only those who configure it pay for its start
  const redis = new Redis(url, {
    lazyConnect: true,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    commandTimeout: commandMs,
    connectTimeout: 5_000,
    retryStrategy: (tries) => Math.min(5_000, 50 * 2 ** Math.min(tries, 7)) * (0.5 + Math.random() / 2),
  });
  redis.defineCommand('gatewayReserve', { lua: reserveScript });
  redis.defineCommand('gatewaySettle', { lua: settleScript });
  redis.defineCommand('gatewayRestore', { lua: restoreScript });
  return redis as ScriptedRedis; // the commands that were just defined
}
