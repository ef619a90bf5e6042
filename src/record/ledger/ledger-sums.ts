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
