import { hash, randomUUID } from 'node:crypto';
import type { Config } from '../config/config.ts';
import { type BreakerChange, type BreakerChannel, parseBreakerChange } from '../providers/breaker-channel.ts';

export interface OpenBreakerChannel extends BreakerChannel {
  close(): void;
}

/**
 * Breakers are shared where limits are: between all gateways at one Redis. Undefined without one. Those that are open
 * at the start are known before the first request.
 */
export async function openBreakers({
  state,
  providers,
}: Pick<Config, 'state' | 'providers'>): Promise<OpenBreakerChannel | undefined> {
  if (state.url === undefined) return undefined;
  // A change has no timestamp; one that is kept for too long only delays the first request to its host.
  const longestOpenMs = Math.max(0, ...[...providers.values()].map(({ breaker }) => breaker.openMs));
  const { openRedisChannel } = await import('../limits/redis/redis-channel.ts');
  const from = randomUUID();
  const early: BreakerChange[] = [];
  let listener: (change: BreakerChange) => void = (change) => early.push(change);
  const channel = await openRedisChannel(state.url, '{gateway}:breakers', (text) => {
    const message = parse(text);
    const change = parseBreakerChange(message.change);
    if (change !== undefined && message.from !== from) listener(change);
  });
  return {
    publish: (change) => {
      const { provider, model, isOpen } = change;
      const text = JSON.stringify({ from, change });
      const id = hash('sha256', JSON.stringify([provider, model ?? null]));
      if (isOpen) channel.publish(text, { id, forMs: longestOpenMs });
      else channel.retract(text, id);
    },
    subscribe: (follow) => {
      listener = follow;
      for (const change of early.splice(0)) follow(change);
    },
    close: channel.close,
  };
}

function parse(text: string): { readonly from?: unknown; readonly change?: unknown } {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {}; // not one of our messages
  }
}
