import type { SqliteValue } from '../../database/sqlite-engine.ts';
import { type LedgerRow, quarterMs, quarterOf } from './ledger-row.ts';

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

/** The same and, last, what sums of sessions alone have. */
const sessionAmounts = {
  ...amounts,
  new_tokens: (row) => row.new_tokens ?? row.input_tokens + row.output_tokens,
} satisfies Record<string, (row: LedgerRow) => number>;

export type SummedColumn = keyof typeof amounts;
export const summed = Object.keys(amounts) as readonly SummedColumn[];

/** When the earliest and the latest request of a sum began. */
const timeColumns = ['first_ms', 'last_ms'] as const;

/** A table of sums: of a quarter of an hour, by names. */
export interface SumTable {
  readonly name: 'sums' | 'session_sums' | 'provider_sums';
  /** The columns that a sum is found by: the quarter first, then names. */
  readonly key: readonly string[];
  readonly names: readonly (keyof LedgerRow)[];
  /** The first of `sessionAmounts`, or all. */
  readonly amounts: readonly string[];
  readonly times: readonly string[];
  readonly columns: readonly string[];
}

function sumTable(
  name: SumTable['name'],
  names: SumTable['names'],
  { amounts: added, times }: Pick<SumTable, 'amounts' | 'times'>,
): SumTable {
  const key = ['quarter', ...names];
  return { name, key, names, amounts: added, times, columns: [...key, ...added, ...times] };
}

const usual = { amounts: summed, times: [] };
/** What budgets of days and months are read from, and `usage`. */
export const sums = sumTable('sums', ['project', 'key_id', 'model'], usual);
/** Of all requests too; of those that name no session or agent it is ''. */
export const sessionSums = sumTable('session_sums', ['project', 'key_id', 'session', 'agent'], {
  amounts: Object.keys(sessionAmounts),
  times: timeColumns,
});
/** By what a provider and its key are called. */
export const providerSums = sumTable('provider_sums', ['provider'], usual);

export const sumTables = [sums, sessionSums, providerSums] as const;

/** For each of `sumTables`, what is added to it: lists of its columns, in the order of their keys. */
export type Sums = readonly (readonly (readonly SqliteValue[])[])[];

/**
 * What rows add to all tables of sums. Most rows of a second share a few sums, each of which is written once. Linear, and
 * on the request path.
 */
export class RowSums {
  readonly #tables: readonly TableSums[];
  /** Added up together, because code and data then stay in the CPU's caches. */
  #waiting: LedgerRow[] = [];

  constructor(tables: readonly SumTable[] = sumTables) {
    this.#tables = tables.map((table) => new TableSums(table));
  }

  /** The rows must not change afterwards. */
  add(rows: readonly LedgerRow[]): void {
    for (const row of rows) this.#waiting.push(row);
    if (this.#waiting.length >= batchRows) this.#addUp();
  }

  get sums(): Sums {
    this.#addUp();
    return this.#tables.map((table) => table.list());
  }

  #addUp(): void {
    for (const row of this.#waiting) {
      const given = amountsOf.map((read) => fitWhole(read(row)));
      for (const table of this.#tables) table.add(row, given);
    }
    this.#waiting = [];
  }
}

/** Some 0.1 ms. */
const batchRows = 64;

const amountsOf = Object.values(sessionAmounts);

export function sumsOf(rows: readonly LedgerRow[], tables?: readonly SumTable[]): Sums {
  const added = new RowSums(tables);
  added.add(rows);
  return added.sums;
}

interface Added {
  readonly key: readonly SqliteValue[];
  readonly amounts: number[];
  firstMs: number;
  lastMs: number;
}

class TableSums {
  readonly #table: SumTable;
  readonly #found = new Map<string, Added>();

  constructor(table: SumTable) {
    this.#table = table;
  }

  add(row: LedgerRow, given: readonly number[]): void {
    const { names, amounts: added } = this.#table;
    const { started_ms: startedMs } = row;
    const quarter = quarterOf(startedMs);
    let id = `${quarter}`;
    for (const name of names) id += `\n${fitText(row[name] ?? '')}`; // which has no ends of lines
    let sum = this.#found.get(id);
    if (sum === undefined) {
      const key = [quarter, ...names.map((name) => fitText(row[name] ?? ''))];
      sum = { key, amounts: added.map(() => 0), firstMs: startedMs, lastMs: startedMs };
      this.#found.set(id, sum);
    }
    for (let i = 0; i < added.length; i += 1) sum.amounts[i] = (sum.amounts[i] ?? 0) + (given[i] ?? 0);
    sum.firstMs = Math.min(sum.firstMs, startedMs);
    sum.lastMs = Math.max(sum.lastMs, startedMs);
  }

  /** Sorted, so that gateways that add to the same ones can't deadlock. */
  list(): Sums[number] {
    const hasTimes = this.#table.times.length > 0;
    return [...this.#found]
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([, { key, amounts: added, firstMs, lastMs }]) => [
        ...key,
        ...added,
        ...(hasTimes ? [firstMs, lastMs] : []),
      ]);
  }
}

// Clients choose some of the texts, and providers report the numbers. A database that refuses one of them would refuse all
// that is committed with it, now and ever after, so they are made fit.

/** Longer than any configured name or known model. */
export const maxTextLength = 200;
/** Above every real amount (US$ 10,000) and time, as for counters; a million of them still fit into a sum's 64 bits. */
const maxNumber = 1e13;

/** PostgreSQL has no NUL, and UTF-8 no lone surrogates; control characters would only harm readers. */
export function fitText(value: unknown): string {
  const given = String(value);
  return fit.test(given) ? given : given.slice(0, maxTextLength).replace(unfit, '\ufffd');
}

const fit = /^[\x20-\x7e]{0,200}$/;
const unfit = /[\p{Cc}\p{Cs}]/gu;

/** Also for what is not a number after a JSON round trip; earlier builds wrote whether something is so as a boolean. */
export function fitWhole(value: unknown): number {
  const given = Number(value);
  return given > 0 ? Math.min(Math.ceil(given), maxNumber) : 0;
}

/** The definitions of a table's columns; `integer` is a type of 64 bits. */
export function sumDefinitions(table: SumTable, integer: string): string {
  const { key, amounts: added, times } = table;
  const names = key.map((name, i) => `${name} ${i > 0 ? 'text' : integer} not null`);
  const given = added.map((name) => `${name} ${integer} not null`);
  return [...names, ...given, ...(times.length > 0 ? timeDefinitions(integer) : [])].join(', ');
}

/** Nullable: a ledger of an earlier build gets them when it is opened. */
export function timeDefinitions(integer: string): readonly string[] {
  return timeColumns.map((name) => `${name} ${integer}`);
}

/** The `set` clause of an upsert that adds new amounts to existing ones; `table` is its name in the database. */
export function additions({ amounts: added, times }: SumTable, table: string): string {
  const sets = added.map((column) => `${column} = ${table}.${column} + excluded.${column}`);
  const kept = times.map((column) => {
    const [own, other] = [`${table}.${column}`, `excluded.${column}`];
    return `${column} = case when ${own} ${column === 'first_ms' ? '<' : '>'} ${other} then ${own} else ${other} end`;
  });
  return [...sets, ...kept].join();
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

/**
 * What a ledger of a build before provider sums lacks is made of its rows, once: for readers in place of its tables, and
 * when it is opened for writing.
 */
export function earlierProviderSums(exchanges: string): string {
  const counted = {
    requests: 'count(*)',
    estimated: 'sum(is_estimated)',
    unpriced: 'sum(case when nano_usd is null then 1 else 0 end)',
    nano_usd: 'sum(coalesce(nano_usd, 0))',
  } as const;
  const given = providerSums.amounts.map(
    (name) => `${counted[name as keyof typeof counted] ?? `sum(${name})`} as ${name}`,
  );
  return `(select started_ms / ${quarterMs} as quarter, coalesce(provider, '') as provider, ${given.join()}
    from ${exchanges} group by 1, 2) as earlier`;
}

/** The statement that gives sums of sessions the times of the rows that are kept. */
export function earlierTimes(table: string, exchanges: string): string {
  const names = ['project', 'key_id', 'session', 'agent'] as const;
  return `update ${table} set first_ms = earlier.first_ms, last_ms = earlier.last_ms from
    (select started_ms / ${quarterMs} as quarter, ${names.map((name) => `coalesce(${name}, '') as ${name}`).join()},
       min(started_ms) as first_ms, max(started_ms) as last_ms
     from ${exchanges} where session is not null group by 1, 2, 3, 4, 5) as earlier
    where ${table}.first_ms is null and ${table}.quarter = earlier.quarter
      and ${names.map((name) => `${table}.${name} = earlier.${name}`).join(' and ')}`;
}

/** What a ledger has that no gateway has written since an earlier build may lack. */
export interface LedgerParts {
  readonly sessions: boolean;
  readonly moved: boolean;
}

/** The tables' names, without those that a ledger lacks. */
export interface TableNames {
  readonly sums: string;
  readonly session_sums: string | undefined;
  /** A query over the rows, where there is no such table. */
  readonly provider_sums: string;
  readonly session_raises: string | undefined;
  readonly exchanges: string;
  readonly moved_segments: string | undefined;
}

/** They begin with `prefix`. */
export function tableNames(prefix: '' | 'ledger_', { sessions, moved }: LedgerParts): TableNames {
  const exchanges = `${prefix}exchanges`;
  return {
    sums: `${prefix}sums`,
    session_sums: sessions ? `${prefix}session_sums` : undefined,
    provider_sums: moved ? `${prefix}provider_sums` : earlierProviderSums(exchanges),
    session_raises: sessions ? `${prefix}session_raises` : undefined,
    exchanges,
    moved_segments: moved ? `${prefix}moved_segments` : undefined,
  };
}

/** Up to which segment of each process of the journal the sums have everything. */
export function movedDefinitions(integer: string): string {
  return `owner text not null primary key, number ${integer} not null, moved_ms ${integer} not null`;
}

/** The statement that says so, with its three parameters: it changes nothing if they have it already. */
export function moveStatement(table: string, parameters: string): string {
  return `insert into ${table} (owner, number, moved_ms) values (${parameters})
    on conflict (owner) do update set number = excluded.number, moved_ms = excluded.moved_ms
    where ${table}.number < excluded.number`;
}
