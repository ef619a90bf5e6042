import { connectPostgres, type PostgresClient } from '../../../database/postgres.ts';
import { addUp, quartersOf, type Used } from '../add-up.ts';
import { addedSums, sumValues } from '../added-sums.ts';
import { exchangeColumns } from '../exchange-columns.ts';
import type { Intent, LedgerRow } from '../ledger-row.ts';
import type { LedgerStore, Retention } from '../ledger-store.ts';
import { oldestQuarter } from '../quarters.ts';
import { preparePostgres } from './postgres-schema.ts';
import { addRows, addSums, findRows, pruneRows, pruneSums, sumWanted } from './postgres-statements.ts';

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
    add: (rows) => transaction(client, () => add(client, rows)),
    sums: (wanted, { rows, open }) =>
      inOneState(client, async () => {
        const periods = wanted.map((sum) => ({ scope: sum.scope, name: sum.name, ...quartersOf(sum) }));
        const stored = await client.query<Used>(sumWanted, [JSON.stringify(periods)]);
        return addUp(wanted, stored, await withoutStored(client, [...open, ...rows]));
      }),
    maintain: (retention, nowMs) => prune(client, retention, nowMs),
    close: () => client.close(),
  };
}

/** Those that the database does not have yet, each once. */
export async function withoutStored<Exchange extends Intent>(
  client: PostgresClient,
  exchanges: readonly Exchange[],
): Promise<readonly Exchange[]> {
  const missing = new Map(exchanges.map((exchange) => [exchange.requestId, exchange]));
  if (missing.size === 0) return [];
  const found = await client.query<{ request_id: string }>(findRows, [[...missing.keys()]]);
  for (const { request_id: id } of found) missing.delete(id);
  return [...missing.values()];
}

/** All queries see the same state of the database, whoever writes it meanwhile. */
export function inOneState<Value>(client: PostgresClient, read: () => Promise<Value>): Promise<Value> {
  return transaction(client, read, 'begin isolation level repeatable read');
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

/** Within a transaction; the sums get what the rows add that were not there. */
async function add(client: PostgresClient, given: readonly LedgerRow[]): Promise<void> {
  const rows = [...new Map(given.map((row) => [row.requestId, row])).values()];
  const added = new Set<string>();
  for (let from = 0; from < rows.length; from += atOnce) {
    const records = JSON.stringify(rows.slice(from, from + atOnce).map(toRecord));
    const ids = await client.query<{ request_id: string }>(addRows, [records]);
    for (const { request_id: id } of ids) added.add(id);
  }
  const sums = addedSums(rows.filter(({ requestId }) => added.has(requestId)));
  if (added.size > 0) await client.query(addSums, [JSON.stringify(sums.map(sumValues))]);
}

function toRecord(row: LedgerRow): object {
  return Object.fromEntries(exchangeColumns.map(({ name, read }) => [name, read(row)]));
}

async function prune(client: PostgresClient, { days, bytes }: Retention, nowMs: number): Promise<boolean> {
  await client.query(pruneSums, [oldestQuarter(nowMs)]);
  const [ids] = await client.query<{ last: number | null }>('select max(id) as last from ledger_exchanges');
  const firstKept = (ids?.last ?? 0) - Math.floor(bytes / bytesPerRow);
  const [answer] = await client.query<{ gone: number }>(pruneRows, [
    pruneCount,
    Math.floor(nowMs - days * dayMs),
    firstKept,
  ]);
  return answer?.gone === pruneCount;
}
