export interface RedisChannel {
  /** Nobody waits for it; while Redis is away it is lost. */
  publish(text: string): void;
  close(): void;
}

const longestWaitMs = 5_000;

/** Texts between all gateways at one Redis. Resolves at once; a server that is away is asked for again and again. */
export async function openRedisChannel(
  url: string,
  name: string,
  onText: (text: string) => void,
): Promise<RedisChannel> {
  const { Redis } = await import('ioredis');
  const options = {
    lazyConnect: true,
    retryStrategy: (tries: number) => Math.min(longestWaitMs, tries * 100),
  };
  const listening = new Redis(url, options);
  // A connection that listens can't send; this one is opened by the first change.
  const sending = new Redis(url, { ...options, enableOfflineQueue: true, maxRetriesPerRequest: 0 });
  for (const redis of [listening, sending]) redis.on('error', () => undefined); // the counters log that it is away
  listening.on('message', (_channel: string, text: string) => onText(text));
  void listening.subscribe(name).catch(() => undefined); // closed before it ever connected
  return {
    publish: (text) => void sending.publish(name, text).catch(() => undefined),
    close: () => {
      listening.disconnect();
      sending.disconnect();
    },
  };
}
