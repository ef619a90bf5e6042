import type { SqliteEngine, SqliteValue } from '../../database/sqlite-engine.ts';
import { AddedSums } from './added-sums.ts';
import type { LedgerRow } from './ledger-row.ts';
import { exchangeColumns } from './ledger-schema.ts';
import { additions, summed } from './ledger-sums.ts';

/**
 * Adds rows within the caller's transaction: once for each request, whoever writes it and however often. The statements are
 * prepared once: kysely would compile each query again.
 */
export function prepareAdding(engine: SqliteEngine): (rows: readonly LedgerRow[]) => void {
  const addRow = engine.prepare(
    `insert into exchanges (${exchangeColumns.join()}) values (${marks(exchangeColumns.length)})
     on conflict do nothing`,
  );
  const addSum = engine.prepare(
    `insert into sums (quarter, project, key_id, model, ${summed.join()}) values (${marks(4 + summed.length)})
     on conflict (quarter, project, key_id, model) do update
     set ${additions('sums')}`,
  );
  return (rows) => {
    const added = rows.filter((row) => Number(addRow.run(...valuesOf(row)).changes) > 0);
    for (const values of new AddedSums(added).rows()) addSum.run(...values);
  };
}

/** In the order of `exchangeColumns`. */
function valuesOf(row: LedgerRow): SqliteValue[] {
  return [
    row.requestId,
    row.startedMs,
    row.project,
    row.keyId,
    row.endpoint,
    row.model,
    row.provider,
    row.targetModel,
    row.status,
    row.outcome,
    row.decision,
    row.reason,
    row.inputTokens,
    row.outputTokens,
    row.cacheReadTokens,
    row.cacheWriteTokens,
    row.reasoningTokens,
    row.nanoUsd,
    row.isEstimated ? 1 : 0,
    row.firstByteMs,
    row.totalMs,
  ];
}

function marks(count: number): string {
  return Array.from({ length: count }, () => '?').join();
}
