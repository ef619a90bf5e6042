import { connectPostgres, type PostgresClient } from '../../database/postgres.ts';
import { GatewayError } from '../../errors.ts';
import { readJournal } from './journal/segments.ts';
import {
  addedColumns,
  additions,
  definitions,
  earlierProviderSums,
  earlierTimes,
  exchangeColumns,
  exchangeNames,
  type LedgerParts,
  movedDefinitions,
  moveStatement,
  providerSums,
  raiseDefinitions,
  raiseStatement,
  type SumTable,
  sessionSums,
  sumDefinitions,
  sumPruning,
  sums,
  sumsOf,
  sumTables,
  tableNames,
  timeDefinitions,
} from './ledger-columns.ts';
import { keptMs, type LedgerRow, oldestQuarter } from './ledger-row.ts';
import type { Addition, LedgerStore, LedgerTables, ReadLedger, Retention } from './ledger-store.ts';

const version = 1;
// An arbitrary advisory lock id; it must only differ from those that other programs use in the same database.
const advisoryLock = 4_101_003_004;

/** What both databases call `text`, `integer` and `real`. */
const types = { text: 'text', integer: 'bigint', real: 'double precision' } as const;

/**
 * The tables' names begin with `ledger_`, since the database may hold others. Sums are sharded, so that gateways don't
 * wait for each other's commits on the row of a busy key.
 */
const schema = `
create table if not exists ledger_exchanges (id bigint generated always as identity primary key,
  ${definitions(exchangeColumns, types).join()}, unique (request_id));
create table if not exists ledger_sums (shard bigint not null, ${sumDefinitions(sums, types.integer)},
  primary key (quarter, shard, project, key_id, model));
create table if not exists ledger_version (version integer not null);
insert into ledger_version select ${version} where not exists (select from ledger_version);
`;

/** What a ledger of a build before sessions lacks. */
const sessionSchema = `
${definitions(addedColumns, types)
  .map((definition) => `alter table ledger_exchanges add column if not exists ${definition};`)
  .join('\n')}
create index if not exists ledger_exchange_sessions on ledger_exchanges (session) where session is not null;
create table if not exists ledger_session_sums (${sumDefinitions(sessionSums, types.integer)},
  primary key (${sessionSums.key.join()}));
create table if not exists ledger_session_raises (${raiseDefinitions(types.integer)});
create index if not exists ledger_session_names on ledger_session_sums (session, key_id);
`;

/** What a ledger of a build before moved segments lacks. What locks a table comes late, what shows that it is done last. */
const movedSchema = `
create table if not exists ledger_provider_sums (shard bigint not null, ${sumDefinitions(providerSums, types.integer)},
  primary key (quarter, shard, provider));
insert into ledger_provider_sums (shard, ${providerSums.columns.join()})
  select 0, ${providerSums.columns.join()} from ${earlierProviderSums('ledger_exchanges')}
  where not exists (select from ledger_provider_sums);
${timeDefinitions(types.integer)
  .map((definition) => `alter table ledger_session_sums add column if not exists ${definition};`)
  .join('\n')}
${earlierTimes('ledger_session_sums', 'ledger_exchanges')};
create table if not exists ledger_moved_segments (${movedDefinitions(types.integer)});
`;

/** $1 rows, as JSON: one round trip for any number of them. Returns the ids of those that were not there. */
const addRows = `insert into ledger_exchanges (${exchangeNames}) select ${exchangeNames}
    from json_to_recordset($1::json) as each(${exchangeColumns.map(({ name, type }) => `${name} ${types[type]}`).join()})
    on conflict (request_id) do nothing returning request_id`;

/** $1 what is added, as lists. Always in the same order, so that gateways can't deadlock. */
function adding(table: SumTable, into: string, isSharded: boolean) {
  const { columns, key } = table;
  const values = columns.map(
    (column, i) => `(value->>${i})::${i > 0 && i < key.length ? 'text' : 'bigint'} as ${column}`,
  );
  const [names, given, found] = isSharded
    ? [`shard, ${columns.join()}`, `0, ${values.join()}`, ['shard', ...key]]
    : [columns.join(), values.join(), key];
  return `insert into ${into} (${names}) select ${given}
    from json_array_elements($1::json) with ordinality as given(value, position) order by position
    on conflict (${found.join()}) do update set ${additions(table, into)}`;
}

/** In the order of `sumTables`. */
const addSums = sumTables.map((table) => adding(table, `ledger_${table.name}`, table !== sessionSums));

/** $1 owner, $2 number, $3 when; returns nothing if it was moved before. */
const moveSegment = `${moveStatement('ledger_moved_segments', '$1, $2, $3')} returning number`;

/** $1 ids; returns those that have a row. */
const findRows = 'select request_id from ledger_exchanges where request_id = any($1::text[])';

/** $1 the first quarter of an hour that is kept. */
const pruneSums = sumTables.map(({ name }) => sumPruning(`ledger_${name}`, '$1'));

/** $1 maximum rows to delete, $2 started before, $3 the first id to keep at any age; returns how many were deleted. */
const pruneRows = `
  with gone as (
    delete from ledger_exchanges where id in (select id from ledger_exchanges order by id limit $1)
      and (started_ms < $2 or id < $3) returning 1)
  select count(*) as gone from gone`;

const dayMs = 86_400_000;
const pruneCount = 5_000;
/** Bytes of a row with its indexes, measured with names of usual length. PostgreSQL's own figures include dead rows. */
const bytesPerRow = 400;
/** Rows in one statement. */
const atOnce = 5_000;

/** Opens or creates the ledger in a PostgreSQL database, for any number of gateways. */
export async function openPostgresLedger(url: string): Promise<LedgerStore> {
  const client = await connectPostgres(url, 'gateway ledger');
  try {
    await preparePostgres(client);
  } catch (error) {
    client.close();
    throw error;
  }
  return {
    add: (addition) => transaction(client, () => add(client, addition)),
    maintain: (retention, nowMs) => prune(client, retention, nowMs),
    raise: async ({ session, key_id, limit_name, amount }) => {
      const text = raiseStatement('ledger_session_raises', '$1, $2, $3, $4');
      await client.query(text, [session, key_id, limit_name, amount]);
    },
    close: () => client.close(),
  };
}

/** Reads from the database, which gateways may be writing. While it is away, the journal, which is long then, is not read. */
export async function readPostgresLedger<Value>(
  url: string,
  directory: string,
  read: ReadLedger<Value>,
): Promise<Value> {
  const client = await connectPostgres(url, 'gateway ledger');
  try {
    const journal = await readJournal(directory);
    if (!(await hasTables(client))) return await read(undefined, journal);
    const parts = await partsOf(client);
    const readAll = () => read(tablesOf(client, parts), journal);
    return await transaction(client, readAll, 'begin isolation level repeatable read');
  } finally {
    client.close();
  }
}

function tablesOf(client: PostgresClient, parts: LedgerParts): LedgerTables {
  return {
    names: tableNames('ledger_', parts),
    sumOf: (column) => bounded(`sum(${column})`),
    select: (sql, values) => client.query(sql, values),
    findStored: async (exchanges) => {
      if (exchanges.length === 0) return new Set();
      const ids = exchanges.map((each) => each.request_id);
      const found = await client.query<{ request_id: string }>(findRows, [ids]);
      return new Set(found.map(({ request_id }) => request_id));
    },
  };
}

/** Whatever fails, the connection is free for the next transaction, or broken. */
async function transaction<Value>(
  client: PostgresClient,
  work: () => Promise<Value>,
  begin = 'begin',
): Promise<Value> {
  await client.query(begin);
  try {
    const value = await work();
    await client.query('commit');
    return value;
  } catch (error) {
    await client.query('rollback').catch(() => undefined);
    throw error;
  }
}

/** Within a transaction. Another gateway that moves the same segment waits for its end. */
async function add(client: PostgresClient, { segment, sums: given, rows = [] }: Addition): Promise<void> {
  if (segment !== undefined) {
    const moved = await client.query(moveSegment, [segment.owner, segment.number, Date.now()]);
    if (moved.length === 0) return;
  }
  const added = given ?? sumsOf(await insert(client, rows));
  for (const [i, query] of addSums.entries()) {
    const each = added[i] ?? [];
    if (each.length > 0) await client.query(query, [JSON.stringify(each)]);
  }
}

/** Returns the rows that were not there. */
async function insert(client: PostgresClient, given: readonly LedgerRow[]): Promise<readonly LedgerRow[]> {
  const rows = [...new Map(given.map((row) => [row.request_id, row])).values()];
  const added = new Set<string>();
  for (let from = 0; from < rows.length; from += atOnce) {
    const records = JSON.stringify(rows.slice(from, from + atOnce));
    const ids = await client.query<{ request_id: string }>(addRows, [records]);
    for (const { request_id: id } of ids) added.add(id);
  }
  return rows.filter((row) => added.has(row.request_id));
}

async function prune(client: PostgresClient, { days, bytes }: Retention, nowMs: number): Promise<boolean> {
  for (const pruning of pruneSums) await client.query(pruning, [oldestQuarter(nowMs)]);
  await client.query('delete from ledger_moved_segments where moved_ms < $1', [Math.floor(nowMs - keptMs)]);
  const [ids] = await client.query<{ last: number | null }>('select max(id) as last from ledger_exchanges');
  const firstKept = (ids?.last ?? 0) - Math.floor(bytes / bytesPerRow);
  const [answer] = await client.query<{ gone: number }>(pruneRows, [
    pruneCount,
    Math.floor(nowMs - days * dayMs),
    firstKept,
  ]);
  return answer?.gone === pruneCount;
}

/** A sum of bigints, which has more digits, as a number that JavaScript has too. */
function bounded(sum: string): string {
  return `least(${sum}, ${Number.MAX_SAFE_INTEGER})::bigint`;
}

/** Creates the tables that the database lacks. Throws config.invalid if a newer version created them. */
async function preparePostgres(client: PostgresClient): Promise<void> {
  if ((await hasTables(client)) && (await partsOf(client)).moved) return;
  // The lock makes gateways that start together take turns.
  const all = `${schema} ${sessionSchema} ${movedSchema}`;
  await client.run(`select pg_advisory_xact_lock(${advisoryLock}); ${all}`);
  await hasTables(client);
}

async function partsOf(client: PostgresClient): Promise<LedgerParts> {
  const [found] = await client.query<LedgerParts>(
    `select to_regclass('ledger_session_raises') is not null as sessions,
       to_regclass('ledger_moved_segments') is not null as moved`,
  );
  return found ?? { sessions: false, moved: false };
}

/** Whether the tables are there. Throws config.invalid if a newer version made them. */
async function hasTables(client: PostgresClient): Promise<boolean> {
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
