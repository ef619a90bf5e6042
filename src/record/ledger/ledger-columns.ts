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
  ...(['session', 'agent', 'subagent', 'new_tokens', 'parent'] as const),
  ...(['nano_usd', 'first_byte_ms', 'total_ms'] as const),
]);

/** What builds before sessions wrote of a beginning, and of an end. */
const oldIntentColumns = [
  ...columnsOf('text', 'request_id'),
  ...columnsOf('integer', 'started_ms'),
  ...columnsOf('text', 'project', 'key_id', 'endpoint', 'model'),
  ...columnsOf('integer', 'input_tokens', 'output_tokens', 'nano_usd'),
];
const oldColumns: readonly Column[] = [
  ...oldIntentColumns,
  ...columnsOf('text', 'provider', 'target_model'),
  ...columnsOf('integer', 'status'),
  ...columnsOf('text', 'outcome', 'decision', 'reason'),
  ...columnsOf('integer', 'cache_read_tokens', 'cache_write_tokens', 'reasoning_tokens', 'is_estimated'),
  ...columnsOf('real', 'first_byte_ms', 'total_ms'),
];
const senderColumns = columnsOf('text', 'session', 'agent', 'subagent');
const parentColumns = columnsOf('text', 'parent');
/** Nullable: a ledger of an earlier build gets them when it is opened. */
export const addedColumns: readonly Column[] = [
  ...senderColumns,
  ...columnsOf('integer', 'new_tokens'),
  ...parentColumns,
];

/** Those that are known when an exchange begins; the journal has their values in this order. */
export const intentColumns: readonly Column[] = [...oldIntentColumns, ...senderColumns, ...parentColumns];

/** All of them; the order is also that of the journal. */
export const exchangeColumns: readonly Column[] = [...oldColumns, ...addedColumns];

/** How many values a line of the journal may have: fewer in one of an earlier build. */
export const lineLengths = {
  begin: [intentColumns.length, intentColumns.length - parentColumns.length, oldIntentColumns.length],
  end: [exchangeColumns.length, exchangeColumns.length - parentColumns.length, oldColumns.length],
} as const;

export const exchangeNames = exchangeColumns.map(({ name }) => name).join();

/** Their definitions in `create table`, in the database's names of the types. */
export function definitions(
  columns: readonly Column[],
  types: Readonly<Record<Column['type'], string>>,
): readonly string[] {
  return columns.map(
    ({ name, type, isNullable }) => `${name} ${types[type]}${isNullable ? '' : ' not null'}`,
  );
}

/** What is summed up, and what a row adds to it. */
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

const sessionAmounts = {
  ...amounts,
  new_tokens: (row) => row.new_tokens ?? row.input_tokens + row.output_tokens,
} satisfies Record<string, (row: LedgerRow) => number>;

export type SummedColumn = keyof typeof amounts;
export const summed = Object.keys(amounts) as readonly SummedColumn[];

/** A table of sums: of a quarter of an hour, by names. */
export interface SumTable {
  readonly name: 'sums' | 'session_sums' | 'provider_sums';
  /** The columns that a sum is found by: the quarter first, then names. */
  readonly key: readonly string[];
  readonly columns: readonly string[];
  readonly keyOf: (row: LedgerRow) => readonly SqliteValue[];
  readonly amountsOf: readonly ((row: LedgerRow) => number)[];
}

function sumTable(
  name: SumTable['name'],
  names: readonly (keyof LedgerRow)[],
  added: Readonly<Record<string, (row: LedgerRow) => number>>,
): SumTable {
  const key = ['quarter', ...names];
  return {
    name,
    key,
    columns: [...key, ...Object.keys(added)],
    keyOf: (row) => [quarterOf(row.started_ms), ...names.map((each) => row[each] ?? '')],
    amountsOf: Object.values(added),
  };
}

/** What budgets of days and months are read from, and `usage`. */
export const sums = sumTable('sums', ['project', 'key_id', 'model'], amounts);
/** Of all requests too; of those that name no session or agent it is ''. */
export const sessionSums = sumTable(
  'session_sums',
  ['project', 'key_id', 'session', 'agent'],
  sessionAmounts,
);

/** By what a provider and its key are called; no table: `usage` sums up the rows that are kept. */
export const providerSums = sumTable('provider_sums', ['provider'], amounts);

/** The definitions of a table's columns; `integer` is a type of 64 bits. */
export function sumDefinitions({ key, columns }: SumTable, integer: string): string {
  return columns
    .map((name, i) => `${name} ${i > 0 && i < key.length ? 'text' : integer} not null`)
    .join(', ');
}

/**
 * What rows add to a table of sums, each as a list of its columns: most rows of a transaction share a few sums, each of
 * which is written once. Sorted, so that gateways that add to the same ones can't deadlock.
 */
export function addedSums(
  { keyOf, amountsOf }: SumTable,
  rows: readonly LedgerRow[],
): readonly (readonly SqliteValue[])[] {
  const found = new Map<string, { readonly key: readonly SqliteValue[]; readonly added: number[] }>();
  for (const row of rows) {
    const key = keyOf(row);
    const id = key.join('\n'); // clean texts have no ends of lines
    const known = found.get(id);
    if (known === undefined) found.set(id, { key, added: amountsOf.map((read) => read(row)) });
    else for (const [i, read] of amountsOf.entries()) known.added[i] = (known.added[i] ?? 0) + read(row);
  }
  return [...found]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([, { key, added }]) => [...key, ...added]);
}

/** The `set` clause of an upsert that adds new amounts to existing ones; `table` is its name in the database. */
export function additions({ key, columns }: SumTable, table: string): string {
  return columns
    .slice(key.length)
    .map((column) => `${column} = ${table}.${column} + excluded.${column}`)
    .join();
}

/** What sessions were raised by: the columns of a table; `integer` is a type of 64 bits. */
export function raiseDefinitions(integer: string): string {
  return `session text not null, key_id text not null, limit_name text not null, amount ${integer} not null,
  primary key (session, key_id, limit_name)`;
}

/** The statement that adds one, with its four parameters. */
export function raiseStatement(table: string, parameters: string): string {
  return `insert into ${table} (session, key_id, limit_name, amount) values (${parameters})
    on conflict (session, key_id, limit_name) do update set amount = ${table}.amount + excluded.amount`;
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
