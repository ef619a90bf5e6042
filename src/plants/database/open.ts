import { type Generated, Kysely, PostgresDialect } from 'kysely';
import { openPostgresPool } from '../../database/postgres.ts';
import { sqliteDialect } from '../../database/sqlite-dialect.ts';
import { openSqlite } from '../../database/sqlite-engine.ts';
import { GatewayError } from '../../errors.ts';

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

/** The tables, the same in SQLite and PostgreSQL. Times are milliseconds since 1970. */
interface Schema {
  readonly plants: {
    readonly id: Generated<number>;
    readonly name: string;
    readonly category: string | null;
    readonly status: string;
    /** The tags as they were received, as JSON text: read far more often than changed, and sent as it is. */
    readonly tags: string;
    /** Name and category as compared in a search. */
    readonly name_key: Generated<string>;
    readonly category_key: string | null;
  };
  /** Which plants have which tag, for searching: the key is the tag as compared. */
  readonly plant_tags: {
    readonly tag_key: string;
    readonly plant_id: number;
  };
  readonly users: {
    readonly id: Generated<number>;
    readonly username: string;
    /** The user name as compared: lower case. */
    readonly username_key: string;
    readonly email: string;
    readonly password_hash: string;
  };
  readonly sessions: {
    readonly token_hash: string;
    readonly user_id: number;
    readonly expires_at: number;
  };
  readonly login_failures: {
    readonly attempt: string;
    /** The user at an address, or the address, that it counts against; hashed. */
    readonly subject: string;
    readonly failed_at: number;
  };
  readonly plant_store_migrations: {
    readonly name: string;
    readonly applied_at: number;
  };
}
