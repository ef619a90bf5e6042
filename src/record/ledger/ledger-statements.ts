import type { SqliteEngine, SqliteValue } from '../../database/sqlite-engine.ts';
import { AddedSums } from './added-sums.ts';
import { readOpenIntents } from './known-sums.ts';
import type { Intent, LedgerChange, LedgerRow } from './ledger-row.ts';
import { exchangeColumns } from './ledger-schema.ts';
import { additions, summed } from './ledger-sums.ts';
import { OpenGroups } from './open-groups.ts';

/** The ledger's SQL statements, prepared once: kysely would compile each query again for every exchange. */
export interface LedgerStatements {
  /** Within the caller's transaction; the function that it returns is to be called once that is committed. */
  apply(changes: readonly LedgerChange[]): () => void;
  /** Turns the open intents of a dead process into rows, at their worst case. */
  settle(owner: string): void;
  /** The owners that have intents. */
  owners(): readonly string[];
}

export function prepareStatements(engine: SqliteEngine, owner: string): LedgerStatements {
  const groups = new OpenGroups(engine, owner);
  const addRow = engine.prepare(
    `insert into exchanges (${exchangeColumns.join()}) values (${marks(exchangeColumns.length)})
     on conflict do nothing`,
  );
  const addSum = engine.prepare(
    `insert into sums (quarter, project, key_id, model, ${summed.join()}) values (${marks(4 + summed.length)})
     on conflict (quarter, project, key_id, model) do update
     set ${additions('sums')}`,
  );
  const allOwners = engine.prepare('select distinct owner from intents');
  const dropOwner = engine.prepare('delete from intents where owner = ?');

  /** Once for each request, whoever writes it and however often. */
  const addRows = (rows: Iterable<LedgerRow>): void => {
    const added = new AddedSums();
    for (const row of rows) if (Number(addRow.run(...valuesOf(row)).changes) > 0) added.add(row);
    for (const values of added.rows()) addSum.run(...values);
  };

  return {
    apply: (changes) => {
      addRows(changes.flatMap((change) => (change.kind === 'finish' ? [change.row] : [])));
      return groups.apply(changes);
    },
    settle: (dead) => {
      addRows([...readOpenIntents(engine, dead).values()].map(unknownRow));
      dropOwner.run(dead);
    },
    owners: () => (allOwners.all() as readonly { owner: string }[]).map(({ owner: id }) => id),
  };
}

function unknownRow(intent: Intent): LedgerRow {
  return {
    ...intent,
    provider: null,
    targetModel: null,
    status: 0,
    outcome: 'unknown',
    decision: null,
    reason: null,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
    reasoningTokens: 0,
    isEstimated: true,
    firstByteMs: null,
    totalMs: null,
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
