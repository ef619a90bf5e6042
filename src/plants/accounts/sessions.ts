import { createHash, randomBytes } from 'node:crypto';
import { GatewayError } from '../../errors.ts';
import type { Queries } from '../database/open.ts';
import type { PasswordChecker } from './password.ts';
import type { UserThrottle } from './throttle.ts';
import { findCredentials, type User } from './users.ts';

export interface UserSession {
  /** What the database stores instead of the token. */
  readonly tokenHash: string;
  readonly user: User;
}

export type UserSessions = ReturnType<typeof createSessions>;

export const sessionSeconds = 3_600;

const tokenShape = /^[A-Za-z0-9_-]{43}$/;
const hashesPerQuery = 500;

/** Opaque random tokens, stored as hashes only: a copy of the database opens nothing. */
export function createSessions(queries: Queries, now: () => number) {
  return {
    create: async (userId: number): Promise<string> => {
      const token = randomBytes(32).toString('base64url');
      await queries
        .insertInto('sessions')
        .values({ token_hash: hashOf(token), user_id: userId, expires_at: now() + sessionSeconds * 1_000 })
        .execute();
      return token;
    },
    /** The session of a token, or undefined for one that is forged, revoked or expired. */
    find: async (token: string): Promise<UserSession | undefined> => {
      if (!tokenShape.test(token)) return undefined;
      const tokenHash = hashOf(token);
      // Looked up by hash: how long it takes reveals nothing about the token (256 random bits).
      const user = await queries
        .selectFrom('sessions')
        .innerJoin('users', 'users.id', 'sessions.user_id')
        .select(['users.id', 'users.username', 'users.email'])
        .where('sessions.token_hash', '=', tokenHash)
        .where('sessions.expires_at', '>', now())
        .executeTakeFirst();
      return user === undefined ? undefined : { tokenHash, user };
    },
    revoke: async (tokenHash: string): Promise<void> => {
      await queries.deleteFrom('sessions').where('token_hash', '=', tokenHash).execute();
    },
    /** Those of the hashes whose sessions are still valid. */
    stillValid: async (tokenHashes: readonly string[]): Promise<ReadonlySet<string>> => {
      const valid = new Set<string>();
      for (let from = 0; from < tokenHashes.length; from += hashesPerQuery) {
        const rows = await queries
          .selectFrom('sessions')
          .select('token_hash')
          .where('token_hash', 'in', tokenHashes.slice(from, from + hashesPerQuery))
          .where('expires_at', '>', now())
          .execute();
        for (const row of rows) valid.add(row.token_hash);
      }
      return valid;
    },
    deleteExpired: async (): Promise<void> => {
      await queries.deleteFrom('sessions').where('expires_at', '<=', now()).execute();
    },
  };
}

function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('base64url');
}

interface Credentials {
  readonly username: string;
  readonly password: string;
}

interface LoginParts {
  readonly queries: Queries;
  readonly passwords: PasswordChecker;
  readonly sessions: UserSessions;
  readonly throttle: UserThrottle;
}

/** Returns the token of a new session. Throws login.failed, the same for an unknown user, and login.throttled. */
export async function logIn(
  { username, password }: Credentials,
  address: string,
  { queries, passwords, sessions, throttle }: LoginParts,
): Promise<string> {
  const succeed = await throttle.attempt(username, address);
  const user = await findCredentials(queries, username);
  const isRight = await checked(passwords.matches(password, user?.password_hash), succeed);
  if (!isRight || user === undefined) throw new GatewayError('login.failed', 'wrong user name or password');
  await succeed();
  return sessions.create(user.id);
}

/** A check that could not be made (too busy) does not count as an attempt. */
async function checked(check: Promise<boolean>, takeBack: () => Promise<void>): Promise<boolean> {
  try {
    return await check;
  } catch (error) {
    await takeBack();
    throw error;
  }
}
