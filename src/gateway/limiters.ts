import type { Counters } from '../limits/counters.ts';
import { Limiter } from '../limits/limiter.ts';
import type { Gateway } from './gateway.ts';

/** A limiter per key, created when the key is first used. */
export function limitersFor(counters: Counters): Gateway['limiterFor'] {
  const known = new Map<string, Limiter>();
  return ({ id, limits }) => {
    if (limits === undefined) return undefined;
    const limiter = known.get(id) ?? new Limiter(counters, limits);
    known.set(id, limiter);
    return limiter;
  };
}
