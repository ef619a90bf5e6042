import type { Redis } from 'ioredis';
import { reserveScript, restoreScript, settleScript } from './redis-script.ts';

interface Scripts {
  gatewayReserve(keys: number, ...args: (string | number)[]): Promise<(string | number)[]>;
  gatewaySettle(keys: number, ...args: (string | number)[]): Promise<string[]>;
  gatewayRestore(keys: number, counter: string, used: number, endsMs: number): Promise<number>;
}

/** Redis with the scripts that count limits. */
export type ScriptedRedis = Redis & Scripts;

/** A connection that opens lazily, fails once the server is silent for too long, and reconnects by itself. */
export async function connectRedis(
  url: string,
  { silentMs }: { readonly silentMs: number },
): Promise<ScriptedRedis> {
  const { Redis } = await import('ioredis'); // loaded only if it is configured
  const redis = new Redis(url, {
    lazyConnect: true,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    connectTimeout: 5_000,
    retryStrategy: (tries) => Math.min(5_000, 50 * 2 ** Math.min(tries, 7)) * (0.5 + Math.random() / 2),
  });
  failWhenSilent(redis, silentMs);
  redis.defineCommand('gatewayReserve', { lua: reserveScript });
  redis.defineCommand('gatewaySettle', { lua: settleScript });
  redis.defineCommand('gatewayRestore', { lua: restoreScript });
  return redis as ScriptedRedis; // the commands that were just defined
}

/** How often within the time it is checked whether anything was answered. */
const checks = 4;

/**
 * Breaks the connection, and so fails its commands, if there is no answer for a while. A timer for each command
 * (`commandTimeout`) would also fire when this process was held up: timers run before sockets are read.
 */
function failWhenSilent(redis: Redis, silentMs: number): void {
  let pending = 0;
  let answered = 0;
  let answeredBefore = 0;
  let silentChecks = 0;
  const send = redis.sendCommand.bind(redis);
  redis.sendCommand = (command, stream) => {
    pending += 1;
    const ended = () => {
      pending -= 1;
      answered += 1;
    };
    command.promise.then(ended, ended);
    return send(command, stream);
  };
  const isSilent = () => pending > 0 && answered === answeredBefore;
  const check = () => {
    silentChecks = isSilent() ? silentChecks + 1 : 0;
    answeredBefore = answered;
    if (silentChecks <= checks) return;
    setImmediate(() => {
      if (isSilent()) redis.stream.destroy(new Error(`Redis did not answer for ${silentMs} ms`));
    });
  };
  const watch = setInterval(check, silentMs / checks).unref();
  redis.on('end', () => clearInterval(watch));
}
