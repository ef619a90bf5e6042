import { hash, randomUUID } from 'node:crypto';
import type { Config } from '../config/config.ts';
import { type Fields, toFields } from '../dialects/fields.ts';
import { createTextScrubber } from '../gateway/scrub.ts';
import { messageOfError } from '../lib/message-of.ts';
import type { Counters } from '../limits/counters.ts';
import { budgetCounters } from '../limits/limiter.ts';
import { MemoryCounters } from '../limits/memory-counters.ts';
import { type BreakerChange, type BreakerChannel, parseBreakerChange } from '../providers/health.ts';
import type { openLedgerFor } from './ledger.ts';

type Sums = Pick<Awaited<ReturnType<typeof openLedgerFor>>, 'restored' | 'readSums'>;

/** Opens the configured counters. Keeps trying to connect to an unreachable Redis. */
export async function openCounters(
  { state: { url, onFailure }, secrets }: Pick<Config, 'state' | 'secrets'>,
  log: (level: 'info' | 'error', message: string) => void,
  ledger: Sums | undefined,
): Promise<Counters> {
  if (url === undefined) return memoryCounters(ledger);
  const scrub = createTextScrubber(secrets);
  const { RedisCounters } = await import('../limits/redis/redis-counters.ts');
  return RedisCounters.open(randomUUID(), {
    url,
    onFailure,
    readSums: ledger?.readSums,
    onBadCounter: (key) =>
      log('error', `the key ${key} in Redis holds no counter, so its limit refuses every request: delete it`),
    onState: ({ isConnected, cause }) => {
      if (isConnected) return log('info', 'Redis is back: limits are shared again');
      const reason = scrub(messageOfError(cause));
      log(
        'error',
        `Redis is away, limits are not shared: ${reason || 'no connection'} (gateway doctor says what to do)`,
      );
    },
  });
}

/** In-memory counters that continue where the last process ended. */
export function memoryCounters(ledger: Sums | undefined): MemoryCounters {
  const counters = new MemoryCounters({ readSums: ledger?.readSums });
  counters.restore(ledger?.restored ?? []);
  return counters;
}

/** Has the counters read what budgets have used that one configuration has and the previous one had not. */
export function rereadAdded(
  counters: Counters,
  previous: Pick<Config, 'limits'>,
  next: Pick<Config, 'limits'>,
): void {
  const nowMs = Date.now();
  const known = new Set(budgetCounters(previous.limits, nowMs).map(({ counter }) => counter));
  counters.reread(budgetCounters(next.limits, nowMs).filter(({ counter }) => !known.has(counter)));
}

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
  const maxOpenMs = Math.max(0, ...[...providers.values()].map(({ breaker }) => breaker.openMs));
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
      if (isOpen) channel.publish(text, { id, forMs: maxOpenMs });
      else channel.retract(text, id);
    },
    subscribe: (follow) => {
      listener = follow;
      for (const change of early.splice(0)) follow(change);
    },
    close: channel.close,
  };
}

function parse(text: string): Fields {
  try {
    return toFields(JSON.parse(text));
  } catch {
    return {}; // not one of our messages
  }
}
