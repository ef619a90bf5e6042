import type { ChainableCommander } from 'ioredis';

const maxWaitMs = 5_000;
/** Start-up doesn't wait for a server that takes longer. */
const recallMs = 1_000;
const scanned = 1_000;

/**
 * A channel between all gateways at one database of Redis. Stored texts are delivered before this resolves, if the
 * server answers; it keeps trying to reach one that doesn't, and what is sent meanwhile is lost.
 */
export async function openRedisChannel(url: string, name: string, onText: (text: string) => void) {
  const { Redis } = await import('ioredis');
  const options = {
    lazyConnect: true,
    retryStrategy: (tries: number) => Math.min(maxWaitMs, tries * 100),
  };
  const listening = new Redis(url, { ...options, autoResubscribe: false });
  // A subscribed connection can't publish.
  const sending = new Redis(url, {
    ...options,
    enableOfflineQueue: true,
    maxRetriesPerRequest: 0,
    commandTimeout: recallMs,
  });
  for (const redis of [listening, sending]) redis.on('error', () => undefined); // the counters log that it is away
  const { db = 0 } = sending.options;
  // Redis passes messages on without regard to databases.
  const channel = `${name}@${db}`;
  listening.on('message', (_channel: string, text: string) => onText(text));
  // On each connection. If ioredis subscribes again by itself, a failure has no handler, and ends the process.
  const subscribed = new Promise<unknown>((resolve) => {
    listening.on('ready', () => void listening.subscribe(channel).then(resolve, () => undefined));
  });
  listening.connect().catch(() => undefined); // it is tried again
  const prefix = `${name}:`;
  // ioredis only mentions a number that doesn't exist, and goes on in database 0.
  const select = () => sending.select(db);
  const send = async (text: string, store: (sent: ChainableCommander) => ChainableCommander) => {
    await select();
    await store(sending.multi().publish(channel, text)).exec();
  };

  const recall = async () => {
    await Promise.race([subscribed, new Promise((resolve) => setTimeout(resolve, recallMs).unref())]);
    await select();
    let cursor = '0';
    do {
      const [next, keys] = await sending.scan(cursor, 'MATCH', `${prefix}*`, 'COUNT', scanned);
      const texts = keys.length === 0 ? [] : await sending.mget(keys);
      for (const text of texts) if (text !== null) onText(text);
      cursor = next;
    } while (cursor !== '0');
  };
  await recall().catch(() => undefined);
  return {
    /** Sends a text, and stores it under an id for gateways that open the channel later. Nothing waits for it. */
    publish: (text: string, { id, forMs }: { readonly id: string; readonly forMs: number }): void =>
      void send(text, (sent) => sent.set(prefix + id, text, 'PX', Math.ceil(forMs))).catch(() => undefined),
    /** Sends a text, and removes what is stored under the id. */
    retract: (text: string, id: string): void =>
      void send(text, (sent) => sent.del(prefix + id)).catch(() => undefined),
    close: (): void => {
      listening.disconnect();
      sending.disconnect();
    },
  };
}
