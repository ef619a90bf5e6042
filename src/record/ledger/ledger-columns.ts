import type { SqliteValue } from '../../database/sqlite-engine.ts';
import { type LedgerRow, quarterOf } from './ledger-row.ts';

/** A column of the table of exchanges, in both databases; `real` and `integer` have 64 bits. */
interface Column {
  readonly name: string;
  readonly type: 'text' | 'integer' | 'real';
  readonly isNullable: boolean;
  readonly read: (row: LedgerRow) => SqliteValue;
}

const column = (name: string, type: Column['type'], read: Column['read']): Column => {
  return { name, type, isNullable: false, read };
};
const nullable = (...parts: Parameters<typeof column>): Column => {
  return { ...column(...parts), isNullable: true };
};

export const exchangeColumns: readonly Column[] = [
  column('request_id', 'text', (row) => row.requestId),
  column('started_ms', 'integer', (row) => row.startedMs),
  column('project', 'text', (row) => row.project),
  column('key_id', 'text', (row) => row.keyId),
  column('endpoint', 'text', (row) => row.endpoint),
  column('model', 'text', (row) => row.model),
  nullable('provider', 'text', (row) => row.provider),
  nullable('target_model', 'text', (row) => row.targetModel),
  column('status', 'integer', (row) => row.status),
  column('outcome', 'text', (row) => row.outcome),
  nullable('decision', 'text', (row) => row.decision),
  nullable('reason', 'text', (row) => row.reason),
  column('input_tokens', 'integer', (row) => row.inputTokens),
  column('output_tokens', 'integer', (row) => row.outputTokens),
  column('cache_read_tokens', 'integer', (row) => row.cacheReadTokens),
  column('cache_write_tokens', 'integer', (row) => row.cacheWriteTokens),
  column('reasoning_tokens', 'integer', (row) => row.reasoningTokens),
  nullable('nano_usd', 'integer', (row) => row.nanoUsd),
  column('is_estimated', 'integer', (row) => (row.isEstimated ? 1 : 0)),
  nullable('first_byte_ms', 'real', (row) => row.firstByteMs),
  nullable('total_ms', 'real', (row) => row.totalMs),
];

export const exchangeNames = exchangeColumns.map(({ name }) => name).join();

/** Their definitions in `create table`. */
export function exchangeDefinitions(types: Readonly<Record<Column['type'], string>>): string {
  return exchangeColumns
    .map(({ name, type, isNullable }) => `${name} ${types[type]}${isNullable ? '' : ' not null'}`)
    .join(', ');
}

/** What is summed up by project, key, model and quarter of an hour, and what a row adds to it. */
const amounts = {
  requests: () => 1,
  input_tokens: (row) => row.inputTokens,
  output_tokens: (row) => row.outputTokens,
  cache_read_tokens: (row) => row.cacheReadTokens,
  cache_write_tokens: (row) => row.cacheWriteTokens,
  reasoning_tokens: (row) => row.reasoningTokens,
  nano_usd: (row) => row.nanoUsd ?? 0,
  estimated: (row) => (row.isEstimated ? 1 : 0),
  unpriced: (row) => (row.nanoUsd === null ? 1 : 0),
} satisfies Record<string, (row: LedgerRow) => number>;

export type SummedColumn = keyof typeof amounts;
export const summed = Object.keys(amounts) as readonly SummedColumn[];
const readAmounts: readonly ((row: LedgerRow) => number)[] = Object.values(amounts);

/** The columns that a sum is found by: the quarter of an hour, and names. */
export const sumKey = 'quarter, project, key_id, model';
export const sumColumns: readonly string[] = [...sumKey.split(', '), ...summed];

/** The definitions of `sumColumns`; `integer` is a type of 64 bits. */
export function sumDefinitions(integer: string): string {
  return sumColumns.map((name, i) => `${name} ${i > 0 && i < 4 ? 'text' : integer} not null`).join(', ');
}

/**
 * What rows add to the sums, each as a list of `sumColumns`: most rows of a transaction share a few sums, each of which is
 * written once. Sorted, so that gateways that add to the same ones can't deadlock.
 */
export function addedSums(rows: readonly LedgerRow[]): readonly (readonly SqliteValue[])[] {
  const sums = new Map<string, { readonly key: readonly SqliteValue[]; readonly added: number[] }>();
  for (const row of rows) {
    const key = [quarterOf(row.startedMs), row.project, row.keyId, row.model];
    const id = key.join('\n'); // clean texts have no ends of lines
    const known = sums.get(id);
    if (known === undefined) sums.set(id, { key, added: readAmounts.map((read) => read(row)) });
    else for (const [i, read] of readAmounts.entries()) known.added[i] = (known.added[i] ?? 0) + read(row);
  }
  return [...sums]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([, { key, added }]) => [...key, ...added]);
}

/** The `set` clause of an upsert that adds new amounts to existing ones. */
export function additions(table: string): string {
  return summed.map((column) => `${column} = ${table}.${column} + excluded.${column}`).join();
}

const quartersPerDay = 96;
/** Two months: no budget is longer than one. */
const keptDays = 62;

/**
 * The statement that deletes sums before a quarter of an hour, its parameter, but never those of the last days that have
 * any: a clock that is years ahead would otherwise refund all budgets. Days are found by one seek each.
 */
export function sumPruning(table: string, parameter: string): string {
  return `with recursive used(day, position) as (
      select max(quarter) / ${quartersPerDay}, 1 from ${table}
      union all
      select (select max(quarter) from ${table} where quarter < day * ${quartersPerDay}) / ${quartersPerDay}, position + 1
      from used where day is not null and position < ${keptDays})
    delete from ${table} where quarter < ${parameter}
      and quarter < (select day * ${quartersPerDay} from used where position = ${keptDays})`;
}
