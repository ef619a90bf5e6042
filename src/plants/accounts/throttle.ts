import { createHash, randomUUID } from 'node:crypto';
import { GatewayError } from '../../errors.ts';
import type { Queries } from '../database/open.ts';

export type UserThrottle = ReturnType<typeof createThrottle>;

interface ThrottledSubject {
  readonly key: string;
  readonly allowed: number;
}

// Per user and address together: failures at one address must not keep the user out at another.
const failuresOfUser = 5;
// Per address, against guesses at many users; more generous, since a household or an office shares one.
const failuresOfAddress = 30;
const windowMs = 60_000;

/** Kept in the database: a restart or a second instance allows no further attempts. */
export function createThrottle(queries: Queries, now: () => number) {
  /** The oldest failure of a subject that has more than `allowed` with `extra` ones. */
  const findFull = async (
    subjects: readonly ThrottledSubject[],
    extra: number,
  ): Promise<number | undefined> => {
    const rows = await queries
      .selectFrom('login_failures')
      .select(({ fn }) => ['subject', fn.countAll<number>().as('count'), fn.min('failed_at').as('oldest')])
      .where(
        'subject',
        'in',
        subjects.map(({ key }) => key),
      )
      .where('failed_at', '>', now() - windowMs)
      .groupBy('subject')
      .execute();
    const full = rows.find(({ subject, count }) => {
      const allowed = subjects.find(({ key }) => key === subject)?.allowed ?? 0;
      return Number(count) + extra > allowed;
    });
    return full === undefined ? undefined : Number(full.oldest);
  };
  const forget = async (attempt: string) => {
    await queries.deleteFrom('login_failures').where('attempt', '=', attempt).execute();
  };

  return {
    /**
     * Counts an attempt of a user from an address before the password is checked, so that concurrent attempts
     * count too. Throws login.throttled; otherwise returns a function that undoes the count.
     */
    attempt: async (username: string, address: string) => {
      const network = networkOf(address);
      const subjects = [
        { key: hashed('user', `${username.toLowerCase()} ${network}`), allowed: failuresOfUser },
        { key: hashed('address', network), allowed: failuresOfAddress },
      ];
      const full = await findFull(subjects, 1);
      if (full !== undefined) throw tooMany(full, now());
      const attempt = randomUUID();
      await queries
        .insertInto('login_failures')
        .values(subjects.map(({ key }) => ({ attempt, subject: key, failed_at: now() })))
        .execute();
      const over = await findFull(subjects, 0);
      if (over !== undefined) {
        await forget(attempt);
        throw tooMany(over, now());
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

/** An IPv6 host can choose from a whole /64 of addresses. */
function networkOf(address: string): string {
  const plain = address.replace(/^::ffff:/i, '').replace(/%.*$/, '');
  if (!plain.includes(':')) return plain;
  const [head = '', tail] = plain.split('::');
  const groups = head.split(':');
  const missing = tail === undefined ? 0 : 8 - groups.length - tail.split(':').length;
  const full = [...groups, ...Array<string>(Math.max(0, missing)).fill('0'), ...(tail ?? '').split(':')];
  return full.slice(0, 4).join(':');
}
