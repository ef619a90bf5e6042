import type { Claim, Ticket } from './counters.ts';

/** One hash slot, so that a cluster can run a script over all counters of an exchange. */
export const prefix = '{gateway}:limits:';

export interface RedisTicket extends Ticket {
  readonly lease: string;
  /** The mark of the data set in which it was counted. */
  readonly mark: string;
}

/** Arguments of the script that settles, after those that every call has: the number of keys first. */
export type Settlement = readonly [keys: number, ...rest: (string | number)[]];

interface Settled {
  /** The key of this gateway's open reservations. */
  readonly openKey: string;
  /** The reservation's name; `-` for what was counted without one. */
  readonly lease: string;
  /** In which second it was counted. */
  readonly second: number;
  readonly differences: readonly { readonly claim: Claim; readonly difference: number }[];
}

export function settlement({ openKey, lease, second, differences }: Settled): Settlement {
  const keys = [openKey, ...differences.map(({ claim }) => prefix + claim.counter)];
  const rest = differences.flatMap(({ claim, difference }) => [claim.kind, difference, claim.endsMs]);
  return [keys.length, ...keys, lease, second, 0, ...rest];
}

/** The same once more, for when nobody knows whether it was counted: it has no effect if the reservation is not open. */
export function unlessSettled([keys, ...rest]: Settlement): Settlement {
  const isLeased = rest[keys] !== '-';
  return isLeased ? [keys, ...rest.slice(0, keys + 2), 1, ...rest.slice(keys + 3)] : [keys, ...rest];
}

export function isRedisTicket(ticket: Ticket): ticket is RedisTicket {
  return 'lease' in ticket;
}
