import { createHash, randomBytes } from 'node:crypto';
import type { Queries } from '../database/open.ts';
import type { User } from './users.ts';

export interface Session {
  /** What the database stores instead of the token. */
  readonly tokenHash: string;
  readonly user: User;
}

export interface Sessions {
  create(userId: number): Promise<string>;
  /** The session of a token, or undefined for one that is forged, revoked or expired. */
  find(token: string): Promise<Session | undefined>;
  revoke(tokenHash: string): Promise<void>;
  /** Those of the hashes whose sessions are still valid. */
  stillValid(tokenHashes: readonly string[]): Promise<ReadonlySet<string>>;
  deleteExpired(): Promise<void>;
}

export const sessionSeconds = 3_600;

const tokenShape = /^[A-Za-z0-9_-]{43}$/;
const hashesPerQuery = 500;

/** Opaque random tokens, of which only the hash is stored: a copy of the database opens nothing. */
export function createSessions(queries: Queries, now: () => number): Sessions {
  return {
    create: async (userId) => {
      const token = randomBytes(32).toString('base64url');
      await queries
        .insertInto('sessions')
        .values({ token_hash: hashOf(token), user_id: userId, expires_at: now() + sessionSeconds * 1_000 })
        .execute();
      return token;
    },
    find: async (token) => {
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
    revoke: async (tokenHash) => {
      await queries.deleteFrom('sessions').where('token_hash', '=', tokenHash).execute();
    },
    stillValid: async (tokenHashes) => {
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
    deleteExpired: async () => {
      await queries.deleteFrom('sessions').where('expires_at', '<=', now()).execute();
    },
  };
}

function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('base64url');
}
