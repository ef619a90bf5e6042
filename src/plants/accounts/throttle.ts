import { createHash, randomUUID } from 'node:crypto';
import { GatewayError } from '../../errors.ts';
import type { Queries } from '../database/open.ts';

export interface Throttle {
  /**
   * Books an attempt against a user and an address before the password is looked at, so that attempts
   * made at once count too. Throws login.throttled; otherwise gives a function that takes the booking back.
   */
  attempt(username: string, address: string): Promise<() => Promise<void>>;
  deleteExpired(): Promise<void>;
}

const failuresAllowed = 5;
const windowMs = 60_000;

/** Kept in the database: a restart or a second instance gives nobody further tries. */
export function createThrottle(queries: Queries, now: () => number): Throttle {
  const failures = async (subjects: readonly string[]) => {
    const rows = await queries
      .selectFrom('login_failures')
      .select(({ fn }) => ['subject', fn.countAll<number>().as('count'), fn.min('failed_at').as('oldest')])
      .where('subject', 'in', subjects)
      .where('failed_at', '>', now() - windowMs)
      .groupBy('subject')
      .execute();
    return rows.map(({ count, oldest }) => ({ count: Number(count), oldest: Number(oldest) }));
  };
  const forget = async (attempt: string) => {
    await queries.deleteFrom('login_failures').where('attempt', '=', attempt).execute();
  };

  return {
    attempt: async (username, address) => {
      const subjects = [hashed('user', username.toLowerCase()), hashed('address', networkOf(address))];
      const before = await failures(subjects);
      const full = before.find(({ count }) => count >= failuresAllowed);
      if (full !== undefined) throw tooMany(full.oldest, now());
      const attempt = randomUUID();
      await queries
        .insertInto('login_failures')
        .values(subjects.map((subject) => ({ attempt, subject, failed_at: now() })))
        .execute();
      const over = (await failures(subjects)).find(({ count }) => count > failuresAllowed);
      if (over !== undefined) {
        await forget(attempt);
        throw tooMany(over.oldest, now());
      }
      return () => forget(attempt);
    },
    deleteExpired: async () => {
      await queries
        .deleteFrom('login_failures')
        .where('failed_at', '<=', now() - windowMs)
        .execute();
    },
  };
}

function tooMany(oldest: number, now: number): GatewayError {
  const retryAfterS = Math.max(1, (oldest + windowMs - now) / 1_000);
  return new GatewayError('login.throttled', 'too many failed logins; wait a minute', { retryAfterS });
}

// Hashed, as people type passwords into the field for the name.
function hashed(kind: 'user' | 'address', value: string): string {
  return createHash('sha256').update(`${kind} ${value}`).digest('base64url');
}

/** An IPv6 host has a whole /64 of addresses to change between. */
function networkOf(address: string): string {
  const plain = address.replace(/^::ffff:/i, '').replace(/%.*$/, '');
  if (!plain.includes(':')) return plain;
  const [head = '', tail] = plain.split('::');
  const groups = head.split(':');
  const missing = tail === undefined ? 0 : 8 - groups.length - tail.split(':').length;
  const full = [...groups, ...Array<string>(Math.max(0, missing)).fill('0'), ...(tail ?? '').split(':')];
  return full.slice(0, 4).join(':');
}
