import type { SqliteValue } from '../../database/sqlite-engine.ts';
import type { LedgerRow } from './ledger-row.ts';

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

/** What is summed up by project, key, model and quarter of an hour: columns of the table `sums`. */
export const summed = [
  'requests',
  'input_tokens',
  'output_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'reasoning_tokens',
  'nano_usd',
  'estimated',
  'unpriced',
] as const;

/** The columns that a sum is found by: the quarter of an hour, and names. */
export const sumKey = 'quarter, project, key_id, model';
export const sumColumns: readonly string[] = [...sumKey.split(', '), ...summed];

/** The definitions of `sumColumns`; `integer` is a type of 64 bits. */
export function sumDefinitions(integer: string): string {
  return sumColumns.map((name, i) => `${name} ${i > 0 && i < 4 ? 'text' : integer} not null`).join(', ');
}

export type SummedColumn = (typeof summed)[number];

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
