import type { PostgresClient } from '../../../database/postgres.ts';
import { GatewayError } from '../../../errors.ts';

const version = 1;
// An arbitrary advisory lock id; it must only differ from those that other programs use in the same database.
const advisoryLock = 4_101_003_004;

/** Columns with their types, the same as in SQLite. */
export const intentColumns = {
  request_id: 'text',
  started_ms: 'bigint',
  project: 'text',
  key_id: 'text',
  endpoint: 'text',
  model: 'text',
  input_tokens: 'bigint',
  output_tokens: 'bigint',
  nano_usd: 'bigint',
} as const;

export const exchangeColumns = {
  request_id: 'text',
  started_ms: 'bigint',
  project: 'text',
  key_id: 'text',
  endpoint: 'text',
  model: 'text',
  provider: 'text',
  target_model: 'text',
  status: 'integer',
  outcome: 'text',
  decision: 'text',
  reason: 'text',
  input_tokens: 'bigint',
  output_tokens: 'bigint',
  cache_read_tokens: 'bigint',
  cache_write_tokens: 'bigint',
  reasoning_tokens: 'bigint',
  nano_usd: 'bigint',
  is_estimated: 'integer',
  first_byte_ms: 'double precision',
  total_ms: 'double precision',
} as const;

const nullable = new Set([
  'nano_usd',
  'provider',
  'target_model',
  'decision',
  'reason',
  'first_byte_ms',
  'total_ms',
]);

/**
 * The tables' names begin with `ledger_`, since the database may hold others. Sums are sharded, so that gateways don't
 * wait for each other's commits on the row of a busy key.
 */
const schema = `
create table if not exists ledger_owners (id text primary key, seen_at timestamptz not null);
create table if not exists ledger_intents (${definitions(intentColumns)}, owner text not null, primary key (request_id));
create table if not exists ledger_exchanges (id bigint generated always as identity primary key,
  ${definitions(exchangeColumns)}, unique (request_id));
create table if not exists ledger_sums (
  quarter bigint not null, shard integer not null, project text not null, key_id text not null, model text not null,
  requests bigint not null, input_tokens bigint not null, output_tokens bigint not null,
  cache_read_tokens bigint not null, cache_write_tokens bigint not null, reasoning_tokens bigint not null,
  nano_usd bigint not null, estimated bigint not null, unpriced bigint not null,
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

function definitions(columns: Readonly<Record<string, string>>): string {
  return Object.entries(columns)
    .map(([name, type]) => `${name} ${type}${nullable.has(name) ? '' : ' not null'}`)
    .join(', ');
}
