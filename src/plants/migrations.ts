import { type ColumnDefinitionBuilder, type Kysely, sql } from 'kysely';
import { GatewayError } from '../errors.ts';
import { seedCatalogue } from './catalogue/seed.ts';
import type { Database, Queries } from './database/open.ts';
import { searchKey } from './plant/plant.ts';

interface Migration {
  readonly name: string;
  readonly apply: (queries: Queries, kind: Database['kind']) => Promise<void>;
}

/** In the order in which they are applied. A migration that was released is never changed. */
const migrations: readonly Migration[] = [
  { name: '0001-tables', apply: createTables },
  { name: '0002-first-catalogue', apply: seedCatalogue },
  { name: '0003-search-keys', apply: addSearchKeys },
  // Earlier builds kept events in tables of PostgreSQL; nothing reads them any more.
  { name: '0004-event-log', apply: async () => undefined },
];

// Any fixed number; it must only differ from those that other programs use in the same database.
const advisoryLock = 4_101_003_003;

/**
 * Brings the schema up to date and then runs `afterwards`, in one transaction that one instance
 * at a time can hold, so instances may start together. Throws config.invalid for a database of a newer version.
 */
export async function migrate<Value>(
  { queries, kind }: Database,
  afterwards: (transaction: Queries) => Promise<Value>,
): Promise<Value> {
  return queries.transaction().execute(async (transaction) => {
    if (kind === 'postgres') {
      await sql`select pg_advisory_xact_lock(${sql.lit(advisoryLock)})`.execute(transaction);
    }
    await transaction.schema
      .createTable('plant_store_migrations')
      .ifNotExists()
      .addColumn('name', 'text', (column) => column.primaryKey())
      .addColumn('applied_at', 'bigint', (column) => column.notNull())
      .execute();
    const rows = await transaction.selectFrom('plant_store_migrations').select('name').execute();
    const applied = new Set(rows.map(({ name }) => name));
    refuseNewer(applied);
    for (const { name, apply } of migrations.filter((migration) => !applied.has(migration.name))) {
      await apply(transaction, kind);
      await transaction
        .insertInto('plant_store_migrations')
        .values({ name, applied_at: Date.now() })
        .execute();
    }
    return afterwards(transaction);
  });
}

function refuseNewer(applied: ReadonlySet<string>): void {
  const known = new Set(migrations.map(({ name }) => name));
  const unknown = [...applied].find((name) => !known.has(name));
  if (unknown === undefined) return;
  throw new GatewayError(
    'config.invalid',
    `the database was made by a newer version of the plant store (it has "${unknown}"): use that version, or another database`,
  );
}

async function createTables(queries: Queries, kind: Database['kind']): Promise<void> {
  const { schema } = queries as unknown as Kysely<unknown>; // the tables in the type are only now being created
  const identity = (column: ColumnDefinitionBuilder) =>
    kind === 'sqlite' ? column.primaryKey().autoIncrement() : column.generatedAlwaysAsIdentity().primaryKey();
  const identityType = kind === 'sqlite' ? 'integer' : 'bigint';

  await schema
    .createTable('plants')
    .addColumn('id', identityType, identity)
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('category', 'text')
    .addColumn('status', 'text', (column) => column.notNull())
    .addColumn('tags', 'text', (column) => column.notNull())
    .addCheckConstraint('plants_status', sql`status in ('available', 'pending', 'sold')`)
    .execute();
  await schema.createIndex('plants_by_name').on('plants').column('name').execute();
  await schema.createIndex('plants_by_status').on('plants').columns(['status', 'id']).execute();

  // The key begins with the tag, so a search reads one range of it, already sorted by id.
  await schema
    .createTable('plant_tags')
    .addColumn('tag_key', 'text', (column) => column.notNull())
    .addColumn('plant_id', 'bigint', (column) => column.notNull().references('plants.id').onDelete('cascade'))
    .addPrimaryKeyConstraint('plant_tags_key', ['tag_key', 'plant_id'])
    .$call((table) => (kind === 'sqlite' ? table.modifyEnd(sql`without rowid`) : table))
    .execute();
  await schema.createIndex('plant_tags_by_plant').on('plant_tags').column('plant_id').execute();

  await schema
    .createTable('users')
    .addColumn('id', identityType, identity)
    .addColumn('username', 'text', (column) => column.notNull())
    .addColumn('username_key', 'text', (column) => column.notNull().unique())
    .addColumn('email', 'text', (column) => column.notNull())
    .addColumn('password_hash', 'text', (column) => column.notNull())
    .execute();
  await schema
    .createTable('sessions')
    .addColumn('token_hash', 'text', (column) => column.primaryKey())
    .addColumn('user_id', 'bigint', (column) => column.notNull().references('users.id').onDelete('cascade'))
    .addColumn('expires_at', 'bigint', (column) => column.notNull())
    .execute();
  await schema.createIndex('sessions_by_expiry').on('sessions').column('expires_at').execute();

  await schema
    .createTable('login_failures')
    .addColumn('attempt', 'text', (column) => column.notNull())
    .addColumn('subject', 'text', (column) => column.notNull())
    .addColumn('failed_at', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('login_failures_key', ['subject', 'attempt'])
    .execute();
  await schema.createIndex('login_failures_by_attempt').on('login_failures').column('attempt').execute();
  await schema.createIndex('login_failures_by_time').on('login_failures').column('failed_at').execute();
}

/** Names and categories are compared by keys computed here, since neither database folds case for every script. */
async function addSearchKeys(queries: Queries): Promise<void> {
  const { schema } = queries;
  await schema
    .alterTable('plants')
    .addColumn('name_key', 'text', (column) => column.notNull().defaultTo(''))
    .execute();
  await schema.alterTable('plants').addColumn('category_key', 'text').execute();
  await schema.createIndex('plants_by_category').on('plants').columns(['category_key', 'id']).execute();
  const rows = await queries.selectFrom('plants').select(['id', 'name', 'category']).execute();
  for (const { id, name, category } of rows) {
    const keys = {
      name_key: searchKey(name),
      category_key: category === null ? null : searchKey(category),
    };
    await queries.updateTable('plants').set(keys).where('id', '=', id).execute();
  }
}
