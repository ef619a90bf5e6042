import { connectPostgres } from '../../database/postgres.ts';
import { openSqliteReader } from '../../database/sqlite-engine.ts';
import { stateOfSchema } from './ledger-schema.ts';
import type { LedgerPlace } from './ledger-store.ts';
import { hasTables } from './postgres-schema.ts';
import { sumPostgresUsage, sumUsage, type UsageQuery, type UsageSum } from './usage-report.ts';

/** Reads usage from a ledger that a gateway may be writing to; none if it has no tables yet. */
export function readUsage({ path, url }: LedgerPlace, query: UsageQuery): Promise<readonly UsageSum[]> {
  return url === undefined ? readFile(path, query) : readDatabase(url, query);
}

async function readFile(path: string, query: UsageQuery): Promise<readonly UsageSum[]> {
  const engine = await openSqliteReader(path);
  try {
    return stateOfSchema(engine) === 'none' ? [] : sumUsage(engine, query); // all versions have the same sums
  } finally {
    engine.close();
  }
}

async function readDatabase(url: string, query: UsageQuery): Promise<readonly UsageSum[]> {
  const client = await connectPostgres(url, 'gateway usage');
  try {
    return (await hasTables(client)) ? await sumPostgresUsage(client, query) : [];
  } finally {
    client.close();
  }
}
