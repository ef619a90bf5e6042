import type { Redis } from 'ioredis';
import { reserveScript, restoreScript, settleScript } from './redis-script.ts';

interface Scripts {
  gatewayReserve(keys: number, ...args: (string | number)[]): Promise<(string | number)[]>;
  gatewaySettle(keys: number, ...args: (string | number)[]): Promise<string[]>;
  gatewayRestore(keys: number, counter: string, used: number, endsMs: number): Promise<number>;
}

/** Redis with the scripts that count limits. */
export type ScriptedRedis = Redis & Scripts;

/** A connection that opens lazily and reconnects by itself. */
export async function connectRedis(
  url: string,
  { commandMs }: { readonly commandMs: number },
): Promise<ScriptedRedis> {
  const { Redis } = await import('ioredis'); // loaded only if it is configured
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
