import type { SqliteValue } from '../../database/sqlite-engine.ts';
import { type LedgerRow, quarterOf } from './ledger-row.ts';

/** A column of the table of exchanges, in both databases; `real` and `integer` have 64 bits. */
interface Column {
  readonly name: keyof LedgerRow;
  readonly type: 'text' | 'integer' | 'real';
  readonly isNullable: boolean;
}

function columnsOf(type: Column['type'], ...names: readonly Column['name'][]): readonly Column[] {
  return names.map((name) => ({ name, type, isNullable: nullable.has(name) }));
}

const nullable: ReadonlySet<keyof LedgerRow> = new Set([
  ...(['provider', 'target_model', 'decision', 'reason'] as const),
  ...(['nano_usd', 'first_byte_ms', 'total_ms'] as const),
]);

/** Those that are known when an exchange begins; the journal has their values in this order. */
export const intentColumns = [
  ...columnsOf('text', 'request_id'),
  ...columnsOf('integer', 'started_ms'),
  ...columnsOf('text', 'project', 'key_id', 'endpoint', 'model'),
  ...columnsOf('integer', 'input_tokens', 'output_tokens', 'nano_usd'),
];

/** All of them; the order is also that of the journal. */
export const exchangeColumns: readonly Column[] = [
  ...intentColumns,
  ...columnsOf('text', 'provider', 'target_model'),
  ...columnsOf('integer', 'status'),
  ...columnsOf('text', 'outcome', 'decision', 'reason'),
  ...columnsOf('integer', 'cache_read_tokens', 'cache_write_tokens', 'reasoning_tokens', 'is_estimated'),
  ...columnsOf('real', 'first_byte_ms', 'total_ms'),
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
  input_tokens: (row) => row.input_tokens,
  output_tokens: (row) => row.output_tokens,
  cache_read_tokens: (row) => row.cache_read_tokens,
  cache_write_tokens: (row) => row.cache_write_tokens,
  reasoning_tokens: (row) => row.reasoning_tokens,
  nano_usd: (row) => row.nano_usd ?? 0,
  /** How many requests have estimated tokens. */
  estimated: (row) => row.is_estimated,
  /** How many requests have no price. */
  unpriced: (row) => (row.nano_usd === null ? 1 : 0),
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
    const key = [quarterOf(row.started_ms), row.project, row.key_id, row.model];
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
