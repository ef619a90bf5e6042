import type { PostgresClient } from '../../../database/postgres.ts';
import { GatewayError } from '../../../errors.ts';
import { exchangeDefinitions, sumDefinitions } from '../ledger-columns.ts';

const version = 1;
// An arbitrary advisory lock id; it must only differ from those that other programs use in the same database.
const advisoryLock = 4_101_003_004;

/** What both databases call `text`, `integer` and `real`. */
export const types = { text: 'text', integer: 'bigint', real: 'double precision' } as const;

/**
 * The tables' names begin with `ledger_`, since the database may hold others. Sums are sharded, so that gateways don't
 * wait for each other's commits on the row of a busy key.
 */
const schema = `
create table if not exists ledger_exchanges (id bigint generated always as identity primary key,
  ${exchangeDefinitions(types)}, unique (request_id));
create table if not exists ledger_sums (shard bigint not null, ${sumDefinitions(types.integer)},
  primary key (quarter, shard, project, key_id, model));
create table if not exists ledger_version (version integer not null);
insert into ledger_version select ${version} where not exists (select from ledger_version);
`;

/** A sum of bigints, which has more digits, as a number that JavaScript has too. */
export function bounded(sum: string): string {
  return `least(${sum}, ${Number.MAX_SAFE_INTEGER})::bigint`;
}

/** Creates the tables if the database has none. Throws config.invalid if a newer version created them. */
export async function preparePostgres(client: PostgresClient): Promise<void> {
  if (await hasTables(client)) return;
  // Several statements without parameters run as one transaction; the lock makes gateways that start together take turns.
  await client.query(`select pg_advisory_xact_lock(${advisoryLock}); ${schema}`);
  await hasTables(client);
}

/** Whether the tables are there. Throws config.invalid if a newer version made them. */
export async function hasTables(client: PostgresClient): Promise<boolean> {
  const [table] = await client.query<{ exists: boolean }>(
    "select to_regclass('ledger_version') is not null as exists",
  );
  if (table?.exists !== true) return false;
  const [row] = await client.query<{ version: number }>('select max(version) as version from ledger_version');
  if ((row?.version ?? 0) > version) {
    throw new GatewayError('config.invalid', 'a newer version of the gateway made this ledger');
  }
  return true;
}
