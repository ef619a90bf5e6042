import type { SqliteEngine, SqliteValue } from '../../database/sqlite-engine.ts';
import type { Intent, KnownSum, LedgerChange, LedgerRow, WantedSum } from './ledger-row.ts';
import { quarterMs } from './ledger-schema.ts';
import { additions, summed } from './ledger-sums.ts';

/** What the ledger does to its file, prepared once: kysely would compile each query anew, for every exchange. */
export interface LedgerStatements {
  /** Within the caller's transaction. */
  apply(changes: readonly LedgerChange[]): void;
  /** Makes what a dead process had open into rows, by what its exchanges could use up at most. */
  settle(owner: string): void;
  /** Who has intents. */
  owners(): readonly string[];
  /** With the worst case of what is open, whoever has it open. */
  sum(wanted: WantedSum): KnownSum;
}

const exchangeColumns = [
  'request_id',
  'started_ms',
  'project',
  'key_id',
  'endpoint',
  'model',
  'provider',
  'target_model',
  'status',
  'outcome',
  'decision',
  'reason',
  'input_tokens',
  'output_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'reasoning_tokens',
  'nano_usd',
  'is_estimated',
  'first_byte_ms',
  'total_ms',
];
export function prepareStatements(engine: SqliteEngine, owner: string): LedgerStatements {
  const addIntent = engine.prepare(
    `insert into intents (request_id, owner, started_ms, project, key_id, endpoint, model, input_tokens, output_tokens,
       nano_usd) values (${marks(10)}) on conflict (request_id) do nothing`,
  );
  const dropIntent = engine.prepare('delete from intents where request_id = ?');
  const addRow = engine.prepare(
    `insert into exchanges (${exchangeColumns.join()}) values (${marks(exchangeColumns.length)})
     on conflict (request_id) do nothing`,
  );
  const addSum = engine.prepare(
    `insert into sums (quarter, project, key_id, model, ${summed.join()}) values (${marks(4 + summed.length)})
     on conflict (quarter, project, key_id, model) do update
     set ${additions('sums')}`,
  );
  const openOf = engine.prepare(
    `select request_id, started_ms, project, key_id, endpoint, model, input_tokens, output_tokens, nano_usd
     from intents where owner = ?`,
  );
  const allOwners = engine.prepare('select distinct owner from intents');
  const sums = {
    project: engine.prepare(sumOf('project')),
    key: engine.prepare(sumOf('key_id')),
  };

  const begin = (intent: Intent): void => {
    const { requestId, startedMs, project, keyId, endpoint, model } = intent;
    const { inputTokens, outputTokens, nanoUsd } = intent;
    const amounts = [inputTokens, outputTokens, nanoUsd];
    addIntent.run(requestId, owner, startedMs, project, keyId, endpoint, model, ...amounts);
  };
  const finish = (row: LedgerRow, added: AddedSums): void => {
    dropIntent.run(row.requestId);
    // Once for each request id, whoever writes it and however often.
    if (Number(addRow.run(...valuesOf(row)).changes) > 0) added.add(row);
  };
  /** Most rows of a transaction belong to few sums, each of which is written once. */
  const summingUp = (work: (added: AddedSums) => void): void => {
    const added = new AddedSums();
    work(added);
    for (const values of added.rows()) addSum.run(...values);
  };

  return {
    apply: (changes) =>
      summingUp((added) => {
        for (const change of changes) {
          if (change.kind === 'begin') begin(change.intent);
          else if (change.kind === 'finish') finish(change.row, added);
          else dropIntent.run(change.requestId);
        }
      }),
    settle: (dead) =>
      summingUp((added) => {
        for (const open of openOf.all(dead) as readonly OpenIntent[]) finish(unknownRow(open), added);
      }),
    owners: () => (allOwners.all() as readonly { owner: string }[]).map(({ owner: id }) => id),
    sum: (wanted) => {
      const since = Math.floor(wanted.sinceMs / quarterMs);
      const [found] = sums[wanted.scope].all(wanted.name, since, wanted.name, since * quarterMs);
      return { ...wanted, ...(found as { tokens: number; nanoUsd: number }) }; // an aggregate has one row
    },
  };
}

/** What rows add to the sums, by quarter, project, key and model. */
class AddedSums {
  readonly #rows = new Map<string, SqliteValue[]>();

  add(row: LedgerRow): void {
    const names = [Math.floor(row.startedMs / quarterMs), row.project, row.keyId, row.model];
    const amounts = amountsOf(row);
    const id = names.join('\n'); // clean texts have no ends of lines
    const known = this.#rows.get(id);
    if (known === undefined) {
      this.#rows.set(id, [...names, ...amounts]);
      return;
    }
    for (const [i, amount] of amounts.entries()) {
      known[names.length + i] = Number(known[names.length + i]) + amount;
    }
  }

  /** In the order of the columns of `sums`. */
  rows(): Iterable<SqliteValue[]> {
    return this.#rows.values();
  }
}

/** In the order of `summed`. */
function amountsOf(row: LedgerRow): number[] {
  return [
    1,
    row.inputTokens,
    row.outputTokens,
    row.cacheReadTokens,
    row.cacheWriteTokens,
    row.reasoningTokens,
    row.nanoUsd ?? 0,
    row.isEstimated ? 1 : 0,
    row.nanoUsd === null ? 1 : 0,
  ];
}

/** As the query names the columns. */
interface OpenIntent {
  readonly request_id: string;
  readonly started_ms: number;
  readonly project: string;
  readonly key_id: string;
  readonly endpoint: string;
  readonly model: string;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly nano_usd: number | null;
}

function unknownRow(open: OpenIntent): LedgerRow {
  return {
    requestId: open.request_id,
    startedMs: open.started_ms,
    project: open.project,
    keyId: open.key_id,
    endpoint: open.endpoint,
    model: open.model,
    inputTokens: open.input_tokens,
    outputTokens: open.output_tokens,
    nanoUsd: open.nano_usd,
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
  return `select coalesce(sum(input_tokens + output_tokens), 0) as tokens, coalesce(sum(nano_usd), 0) as nanoUsd from (
    select input_tokens, output_tokens, nano_usd from sums where ${column} = ? and quarter >= ?
    union all select input_tokens, output_tokens, nano_usd from intents where ${column} = ? and started_ms >= ?)`;
}

function marks(count: number): string {
  return Array.from({ length: count }, () => '?').join();
}
