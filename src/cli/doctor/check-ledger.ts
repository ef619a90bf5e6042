import { existsSync } from 'node:fs';
import type { Config } from '../../config/config.ts';
import type { LedgerPlace } from '../../record/ledger/ledger-store.ts';
import { nameOf } from '../../server/ledger.ts';
import { ledgerSettings } from '../../server/ledger-path.ts';
import type { Io } from '../shell/io.ts';
import { connectionFault } from './connection-faults.ts';
import { about, type Finding } from './finding.ts';

const { ok, error } = about('ledger');

const trust = "set NODE_EXTRA_CA_CERTS to the file of its authority's certificate";

/** Whether the ledger's file or database can be read, and the database written. */
export async function checkLedger(config: Config, io: Io): Promise<Finding[]> {
  const place = placeOf(config, io);
  if (place === undefined) return [];
  const name = nameOf(place);
  try {
    return [ok(await read(place, name))];
  } catch (thrown) {
    const { createTextScrubber } = await import('../../gateway/answer/scrub.ts');
    const [what, remedy] = connectionFault(thrown, { setting: 'records.ledger_database', trust }) ?? [
      thrown instanceof Error ? thrown.message : String(thrown),
      place.path === undefined
        ? 'check user, password and database in records.ledger_database'
        : 'docs/operations.md says how to recover it; or move it away, and budgets start from zero',
    ];
    return [error(`${name}: ${createTextScrubber(config.secrets)(what)}`, remedy)];
  }
}

function placeOf(config: Config, io: Io): LedgerPlace | undefined {
  try {
    return ledgerSettings(config, io)?.place;
  } catch {
    return undefined; // it is in another user's state directory, which is a finding of its own
  }
}

async function read(place: LedgerPlace, name: string): Promise<string> {
  if (place.path !== undefined && !existsSync(place.path)) return `${name} will be created by serve`;
  const { readUsage } = await import('../../record/ledger/read-usage.ts');
  await readUsage(place, { by: 'project', sinceMs: Date.now(), dayOf: String });
  if (place.url === undefined) return name;
  const { connectPostgres } = await import('../../database/postgres.ts');
  const client = await connectPostgres(place.url, 'gateway doctor');
  try {
    const [row] = await client.query<{ transaction_read_only: string }>('show transaction_read_only');
    if (row?.transaction_read_only === 'on') throw new Error('it is read-only');
  } finally {
    client.close();
  }
  return `${name} answers`;
}
