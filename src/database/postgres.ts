import type { PostgresPool, PostgresPoolClient } from 'kysely';
import type { Pool, PoolClient } from 'pg';
import { GatewayError } from '../errors.ts';
import { extendAddressAttemptTimeout } from '../lib/address-attempts.ts';
import { backoffMs } from '../lib/backoff.ts';
import { isConnectionLost } from './failures.ts';

const connections = 10;
const connectTimeoutMs = 5_000;
const statementTimeoutMs = 8_000;
// Longer than the server's own: only a server that is cut off leaves it to this one.
const queryTimeoutMs = 10_000;
/** For what is done once. */
const longestMs = 600_000;
const retry = { firstMs: 50, maxMs: 2_000 };
const bigintType = 20;

/** What a connection of this service is like; both the pool's and the one that listens. */
export async function connectionSettings(url: string) {
  extendAddressAttemptTimeout(); // in whichever thread this is: pg has no setting for it
  const { default: pg } = await import('pg');
  return {
    connectionString: withPlainMode(url),
    connectionTimeoutMillis: connectTimeoutMs,
    statement_timeout: statementTimeoutMs,
    query_timeout: queryTimeoutMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    types: {
      // pg returns 64-bit integers as text; ours are ids and times, which JavaScript's numbers hold.
      getTypeParser: (type: number, format?: 'text' | 'binary') =>
        type === bigintType && format !== 'binary' ? Number : pg.types.getTypeParser(type, format as 'text'),
    },
  };
}

/** pg treats these modes as one and warns at length, unless the URL asks for libpq's behaviour. */
function withPlainMode(url: string): string {
  if (/[?&]uselibpqcompat=true/.test(url)) return url;
  return url.replace(/(?<=[?&]sslmode=)(?:prefer|require|verify-ca)(?=[&#]|$)/, 'verify-full');
}

/**
 * A pool for kysely that survives its server. Whatever breaks a connection drops it; while no connection can be
 * made, requests fail immediately, and one attempt is made now and then.
 */
export async function openPostgresPool(url: string, name: string): Promise<PostgresPool> {
  const { default: pg } = await import('pg');
  const settings = await connectionSettings(url);
  const pool = new pg.Pool({ ...settings, max: connections, application_name: name });
  // The pool listens on its idle connections alone; an error on one in use would end the process.
  pool.on('connect', (client) => client.on('error', () => undefined));
  pool.on('error', () => undefined); // an idle connection broke; the pool has dropped it
  return guarded(pool);
}

function guarded(pool: Pool): PostgresPool {
  let failures = 0;
  let retryAt = 0;
  return {
    connect: async () => {
      const waitMs = retryAt - performance.now();
      if (waitMs > 0) throw away(waitMs);
      try {
        const client = await pool.connect();
        failures = 0;
        retryAt = 0;
        return droppedWhenBroken(client);
      } catch (error) {
        // With connections left, it is one too many that failed, not the server.
        if (pool.totalCount === 0 && isConnectionLost(error)) {
          failures += 1;
          retryAt = performance.now() + backoffMs(failures, retry);
        }
        throw error;
      }
    },
    end: () => pool.end(),
  };
}

function droppedWhenBroken(client: PoolClient): PostgresPoolClient {
  let failure: unknown;
  const query = async (sql: string, parameters: readonly unknown[]) => {
    // A rollback would wait for as long as what it follows.
    if (failure !== undefined) throw failure;
    try {
      return await client.query(sql, [...parameters]);
    } catch (error) {
      // One that timed out still waits for its answer, and would answer the next query with it.
      if (isConnectionLost(error)) failure = error;
      throw error;
    }
  };
  return {
    query: query as unknown as PostgresPoolClient['query'], // its other form, with cursors, is for streams alone
    release: () => client.release(failure !== undefined),
  };
}

function away(waitMs: number): GatewayError {
  return new GatewayError('store.database', "the store's database does not answer; try again soon", {
    retryAfterS: Math.ceil(waitMs / 1_000),
  });
}

/** One connection, for a program that asks one thing after the other. */
export type PostgresClient = Awaited<ReturnType<typeof connectPostgres>>;

/** Connects, or throws what keeps it from that. Where the connection breaks, its queries fail. */
export async function connectPostgres(url: string, name: string) {
  const { default: pg } = await import('pg');
  const client = new pg.Client({ ...(await connectionSettings(url)), application_name: name });
  client.on('error', () => undefined); // the next query fails, which is noticed
  await client.connect();
  return {
    /** No statement has a name: behind a pooler the next one may go to another server, or one that has the name already. */
    query: async <Row>(sql: string, values: readonly unknown[] = []) => {
      const { rows } = await client.query(sql, [...values]);
      return rows as readonly Row[]; // the columns that the query names
    },
    /** Several statements in one transaction, which may take long on large tables. */
    run: async (sql: string) => {
      const longer = `select set_config('statement_timeout', '${longestMs}', true)`;
      const query = { text: `${longer}; ${sql}`, query_timeout: longestMs }; // which pg's types don't know
      await client.query(query);
    },
    /** Nobody waits for a server that may hang. */
    close: () => void client.end().catch(() => undefined),
  };
}
