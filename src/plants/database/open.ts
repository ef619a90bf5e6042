import { Kysely, PostgresDialect } from 'kysely';
import { GatewayError } from '../../errors.ts';
import type { Schema } from './schema.ts';
import { sqliteDialect } from './sqlite-dialect.ts';
import { openSqlite } from './sqlite-engine.ts';

export type Queries = Kysely<Schema>;

export type Database =
  | { readonly kind: 'sqlite'; readonly queries: Queries }
  | { readonly kind: 'postgres'; readonly queries: Queries; readonly url: string };

const connections = 10;
const connectTimeoutMs = 5_000;
const statementTimeoutMs = 15_000;
const bigintType = 20;

/** Opens `sqlite:FILE` or `postgres://…`. Throws config.invalid for anything else and for a file that can't be opened. */
export async function openDatabase(address: string): Promise<Database> {
  if (/^postgres(?:ql)?:\/\//.test(address)) return openPostgres(address);
  const file = /^sqlite:(?:\/\/)?(.+)$/s.exec(address)?.[1];
  if (file === undefined) {
    throw new GatewayError('config.invalid', 'the database must be sqlite:FILE or postgres://USER@HOST/NAME');
  }
  const engine = await openSqlite(file);
  return { kind: 'sqlite', queries: new Kysely<Schema>({ dialect: sqliteDialect(engine) }) };
}

async function openPostgres(url: string): Promise<Database> {
  const { default: pg } = await import('pg');
  const pool = new pg.Pool({
    connectionString: url,
    max: connections,
    connectionTimeoutMillis: connectTimeoutMs,
    statement_timeout: statementTimeoutMs,
    application_name: 'plant store',
    types: {
      // pg gives 64-bit integers as text; ours are ids and times, which JavaScript's numbers hold.
      getTypeParser: (type: number, format?: 'text' | 'binary') =>
        type === bigintType && format !== 'binary' ? Number : pg.types.getTypeParser(type, format as 'text'),
    },
  });
  // A connection that breaks while idle is replaced by the pool; without a listener it would end the process.
  pool.on('error', () => undefined);
  return { kind: 'postgres', queries: new Kysely<Schema>({ dialect: new PostgresDialect({ pool }) }), url };
}

/** A database that is away as 503 (waiting helps); any other failure as it is. */
export function toStoreError(thrown: unknown): unknown {
  if (!(thrown instanceof Error)) return thrown;
  const code = 'code' in thrown ? String(thrown.code) : '';
  const isAway =
    /^(?:ECONNREFUSED|ECONNRESET|ENOENT|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|08...|57P0.|53300)$/.test(code) ||
    /^(?:Connection terminated|timeout exceeded when trying to connect)/.test(thrown.message);
  if (!isAway) return thrown;
  return new GatewayError('store.database', "the store's database does not answer; try again soon", {
    cause: thrown,
    retryAfterS: 1,
  });
}
