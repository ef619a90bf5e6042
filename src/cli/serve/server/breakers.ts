import { randomUUID } from 'node:crypto';
import type { Config } from '../../../config/config.ts';
import {
  type BreakerChange,
  type BreakerChannel,
  parseBreakerChange,
} from '../../../providers/breaker-channel.ts';

export interface OpenBreakerChannel extends BreakerChannel {
  close(): void;
}

/** Breakers are shared where limits are: between all gateways at one Redis. Undefined without one. */
export async function openBreakers({
  state,
}: Pick<Config, 'state'>): Promise<OpenBreakerChannel | undefined> {
  if (state.url === undefined) return undefined;
  const { openRedisChannel } = await import('../../../limits/redis-channel.ts');
  const from = randomUUID();
  let listener: (change: BreakerChange) => void = () => undefined;
  const channel = await openRedisChannel(state.url, '{gateway}:breakers', (text) => {
    const message = parse(text);
    const change = parseBreakerChange(message.change);
    if (change !== undefined && message.from !== from) listener(change);
  });
  return {
    publish: (change) => channel.publish(JSON.stringify({ from, change })),
    subscribe: (follow) => {
      listener = follow;
    },
    close: channel.close,
  };
}

function parse(text: string): { readonly from?: unknown; readonly change?: unknown } {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {}; // somebody else's message
  }
}
