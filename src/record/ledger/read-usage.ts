import { existsSync } from 'node:fs';
import { connectPostgres } from '../../database/postgres.ts';
import { openSqliteReader } from '../../database/sqlite-engine.ts';
import { readJournal } from './journal/segments.ts';
import { inOneState, withoutStored } from './known-sums.ts';
import type { LedgerRow } from './ledger-row.ts';
import { hasTables } from './ledger-schema.ts';
import type { LedgerPlace } from './ledger-store.ts';
import {
  inOneState as inOneStateThere,
  withoutStored as withoutStoredThere,
} from './postgres/postgres-ledger.ts';
import { hasTables as hasTablesThere } from './postgres/postgres-schema.ts';
import { sumPostgresUsage, sumUsage, type UsageQuery, type UsageSum } from './usage-report.ts';

/**
 * Reads usage from a ledger that a gateway may be writing to, with what is still in this machine's journal; none if nothing
 * was served yet.
 */
export function readUsage(
  { path, url, journal }: LedgerPlace,
  query: UsageQuery,
): Promise<readonly UsageSum[]> {
  // Before the database: what leaves the journal is counted there then.
  const { rows } = readJournal(journal);
  return url === undefined ? readFile(path, query, rows) : readDatabase(url, query, rows);
}

async function readFile(
  path: string,
  query: UsageQuery,
  rows: readonly LedgerRow[],
): Promise<readonly UsageSum[]> {
  if (!existsSync(path)) return sumUsage(undefined, query, rows);
  const engine = await openSqliteReader(path);
  try {
    if (!hasTables(engine)) return sumUsage(undefined, query, rows);
    return inOneState(engine, () => sumUsage(engine, query, withoutStored(engine, rows)));
  } finally {
    engine.close();
  }
}

async function readDatabase(
  url: string,
  query: UsageQuery,
  rows: readonly LedgerRow[],
): Promise<readonly UsageSum[]> {
  const client = await connectPostgres(url, 'gateway usage');
  try {
    if (!(await hasTablesThere(client))) return sumUsage(undefined, query, rows);
    return await inOneStateThere(client, async () =>
      sumPostgresUsage(client, query, await withoutStoredThere(client, rows)),
    );
  } finally {
    client.close();
  }
}
