import { randomInt, randomUUID } from 'node:crypto';
import { connectPostgres, type PostgresClient } from '../../database/postgres.ts';
import type { Intent, KnownSum, LedgerChange, LedgerRow } from './ledger-row.ts';
import type { LedgerStore, Retention } from './ledger-store.ts';
import { preparePostgres } from './postgres-schema.ts';
import {
  commitChanges,
  correctRows,
  heartbeat,
  pruneRows,
  pruneSums,
  settleDead,
  sumWanted,
} from './postgres-statements.ts';
import { oldestQuarter, quarterOf } from './quarters.ts';

const dayMs = 86_400_000;
const shards = 16;
const pruneCount = 5_000;
/** Bytes of a row with its indexes, measured with names of usual length. PostgreSQL's own figures include dead rows. */
const bytesPerRow = 400;
/** Seconds without a heartbeat, by the server's clock, after which an owner is dead; `maintain` runs three times as often. */
const deadAfterS = 90;

/** Opens or creates the ledger in a PostgreSQL database, for any number of gateways. */
export async function openPostgresLedger(url: string): Promise<LedgerStore> {
  const client = await connectPostgres(url, 'gateway ledger');
  const owner = randomUUID();
  const shard = randomInt(shards);
  try {
    await preparePostgres(client);
    await client.query(heartbeat, [owner]);
    await client.query(settleDead, [shard, deadAfterS]);
  } catch (error) {
    client.close();
    throw error;
  }
  return {
    commit: (changes) => commit(client, changes, { owner, shard }),
    sums: async (wanted) => {
      const periods = wanted.map(({ scope, name, sinceMs, untilMs }) => ({
        scope,
        name,
        since: quarterOf(sinceMs),
        until: quarterOf(untilMs),
      }));
      const found = await client.query<Pick<KnownSum, 'tokens' | 'nanoUsd'>>(sumWanted, [
        JSON.stringify(periods),
      ]);
      return wanted.map((each, i) => ({ ...each, ...(found[i] as (typeof found)[number]) })); // a row for each
    },
    maintain: async (retention, nowMs) => {
      await client.query(heartbeat, [owner]);
      await client.query(settleDead, [shard, deadAfterS]);
      await client.query("delete from ledger_owners where seen_at < now() - interval '1 day'");
      return prune(client, retention, nowMs);
    },
    close: async () => {
      // Once its owner is gone, the next gateway that checks settles whatever was left open.
      await client.query('delete from ledger_owners where id = $1', [owner]).catch(() => undefined);
      client.close();
    },
  };
}

async function commit(
  client: PostgresClient,
  changes: readonly LedgerChange[],
  { owner, shard }: { readonly owner: string; readonly shard: number },
): Promise<void> {
  const { begun, finished, over } = fold(changes);
  const rows = JSON.stringify(finished);
  const values = [JSON.stringify(begun), rows, over, owner, shard];
  const [answer] = await client.query<{ added: number }>(commitChanges, values);
  // Rows that were committed before, or settled as unknown while this gateway seemed dead.
  if ((answer?.added ?? 0) < finished.length) await client.query(correctRows, [rows, shard]);
}

/** Parts of one statement don't see each other's effects, so an intent that is already over is left out. */
function fold(changes: readonly LedgerChange[]) {
  const begun = new Map<string, object>();
  const finished = new Map<string, object>();
  const over = new Set<string>();
  for (const change of changes) {
    if (change.kind === 'begin') {
      begun.set(change.intent.requestId, toIntentRecord(change.intent));
      continue;
    }
    const requestId = change.kind === 'finish' ? change.row.requestId : change.requestId;
    begun.delete(requestId);
    over.add(requestId);
    if (change.kind === 'finish' && !finished.has(requestId)) finished.set(requestId, toRecord(change.row));
  }
  return { begun: [...begun.values()], finished: [...finished.values()], over: [...over] };
}

function toIntentRecord(intent: Intent) {
  return {
    request_id: intent.requestId,
    started_ms: intent.startedMs,
    project: intent.project,
    key_id: intent.keyId,
    endpoint: intent.endpoint,
    model: intent.model,
    input_tokens: intent.inputTokens,
    output_tokens: intent.outputTokens,
    nano_usd: intent.nanoUsd,
  };
}

function toRecord(row: LedgerRow) {
  return {
    ...toIntentRecord(row),
    provider: row.provider,
    target_model: row.targetModel,
    status: row.status,
    outcome: row.outcome,
    decision: row.decision,
    reason: row.reason,
    cache_read_tokens: row.cacheReadTokens,
    cache_write_tokens: row.cacheWriteTokens,
    reasoning_tokens: row.reasoningTokens,
    is_estimated: row.isEstimated ? 1 : 0,
    first_byte_ms: row.firstByteMs,
    total_ms: row.totalMs,
  };
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
