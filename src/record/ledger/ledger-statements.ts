import type { SqliteEngine, SqliteValue } from '../../database/sqlite-engine.ts';
import { AddedSums } from './added-sums.ts';
import type { Intent, KnownSum, LedgerChange, LedgerRow, WantedSum } from './ledger-row.ts';
import { exchangeColumns, quarterMs } from './ledger-schema.ts';
import { additions, summed } from './ledger-sums.ts';
import { OpenGroups } from './open-groups.ts';

/** The ledger's SQL statements, prepared once: kysely would compile each query again for every exchange. */
export interface LedgerStatements {
  /** Within the caller's transaction; the function that it returns is to be called once that is committed. */
  apply(changes: readonly LedgerChange[]): () => void;
  /** Makes what a dead process had open into rows, by what its exchanges could use up at most. */
  settle(owner: string): void;
  /** The owners that have intents. */
  owners(): readonly string[];
  /** With the worst case of what is open, whoever has it open. */
  sums(wanted: readonly WantedSum[]): readonly KnownSum[];
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
  const isFinished = engine.prepare('select 1 from exchanges where started_ms = ? and request_id = ?');
  const allOpen = engine.prepare('select owner, open from intents');
  const dropOwner = engine.prepare('delete from intents where owner = ?');
  const sums = {
    project: engine.prepare(sumOf('project')),
    key: engine.prepare(sumOf('key_id')),
  };

  /** What is open by request id, so that a group that was written twice counts once. */
  const openOf = (isWanted: (group: { readonly owner: string }) => boolean): Map<string, Intent> => {
    const open = new Map<string, Intent>();
    for (const group of allOpen.all() as readonly { owner: string; open: string }[]) {
      if (!isWanted(group)) continue;
      for (const intent of JSON.parse(group.open) as readonly Intent[]) {
        if (isFinished.all(intent.startedMs, intent.requestId).length > 0) continue;
        open.set(intent.requestId, intent);
      }
    }
    return open;
  };
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
      const lost = openOf((group) => group.owner === dead);
      addRows([...lost.values()].map(unknownRow));
      dropOwner.run(dead);
    },
    owners: () => [...new Set((allOpen.all() as readonly { owner: string }[]).map(({ owner: id }) => id))],
    sums: (wanted) => {
      const open = [...openOf(() => true).values()];
      return wanted.map((each) => {
        const since = Math.floor(each.sinceMs / quarterMs);
        const [found] = sums[each.scope].all(each.name, since) as [Pick<KnownSum, 'tokens' | 'nanoUsd'>];
        const known = { ...each, ...found }; // an aggregate has one row
        for (const { startedMs, project, keyId, inputTokens, outputTokens, nanoUsd } of open) {
          const name = each.scope === 'project' ? project : keyId;
          if (name !== each.name || startedMs < since * quarterMs) continue;
          known.tokens += inputTokens + outputTokens;
          known.nanoUsd += nanoUsd ?? 0;
        }
        return known;
      });
    },
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

function sumOf(column: string): string {
  return `select coalesce(sum(input_tokens + output_tokens), 0) as tokens, coalesce(sum(nano_usd), 0) as nanoUsd
    from sums where ${column} = ? and quarter >= ?`;
}

function marks(count: number): string {
  return Array.from({ length: count }, () => '?').join();
}
