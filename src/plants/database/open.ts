import { Kysely, PostgresDialect } from 'kysely';
import { openPostgresPool } from '../../database/postgres.ts';
import { sqliteDialect } from '../../database/sqlite-dialect.ts';
import { openSqlite } from '../../database/sqlite-engine.ts';
import { GatewayError } from '../../errors.ts';
import type { Schema } from './schema.ts';

export type Queries = Kysely<Schema>;

export type Database =
  | { readonly kind: 'sqlite'; readonly queries: Queries }
  | { readonly kind: 'postgres'; readonly queries: Queries; readonly url: string };

/**
 * Opens `sqlite:FILE` or `postgres://…`; a connection to PostgreSQL is not opened before the first query. Throws
 * config.invalid for anything else and for a file that can't be a database.
 */
export async function openDatabase(address: string): Promise<Database> {
  if (/^postgres(?:ql)?:\/\//.test(address)) {
    const dialect = new PostgresDialect({ pool: await openPostgresPool(address, 'plant store') });
    return { kind: 'postgres', queries: new Kysely<Schema>({ dialect }), url: address };
  }
  const file = /^sqlite:(?:\/\/)?(.+)$/s.exec(address)?.[1];
  if (file === undefined) {
    throw new GatewayError('config.invalid', 'the database must be sqlite:FILE or postgres://USER@HOST/NAME');
  }
  const dialect = sqliteDialect(await openSqlite(file));
  return { kind: 'sqlite', queries: new Kysely<Schema>({ dialect }) };
}
