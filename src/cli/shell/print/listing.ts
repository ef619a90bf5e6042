import type { CommonOptions } from '../command.ts';
import type { Io } from '../io.ts';
import { isForPrograms, printValue } from './print.ts';
import { table } from './table.ts';

/** How to show values as rows. */
export interface Listing<Value> {
  readonly header: readonly string[];
  readonly row: (value: Value) => readonly string[];
  /** Titles of the columns to shorten first; by default the last one. */
  readonly leastFirst?: readonly string[];
}

type Options = Pick<CommonOptions, 'output'>;
/**
 * Prints values as they arrive: with `text` as rows (a table on a terminal, tab-separated in a pipe), with `json` as
 * one array. Only formats that need all values at once (a table, json, yaml) are held back until the end.
 */
export async function printList<Value>(
  batches: AsyncIterable<readonly Value[]> | Iterable<readonly Value[]>,
  { header, row, leastFirst }: Listing<Value>,
  options: Options,
  io: Io,
): Promise<void> {
  const isWhole = isForPrograms(options.output) || options.output === 'table' || io.stdout.isTTY === true;
  const values: Value[] = [];
  for await (const batch of batches) {
    if (isWhole && options.output !== 'ndjson') values.push(...batch);
    else await printValue(batch, rowsText(header, batch.map(row), options, io), options, io);
  }
  if (options.output === 'ndjson' || !isWhole) return;
  await printValue(values, rowsText(header, values.map(row), options, io, leastFirst), options, io);
}

/** Prints one value; in text as the one row of a table. */
export function printOne<Value>(
  value: Value,
  { header, row }: Listing<Value>,
  options: Options,
  io: Io,
): Promise<void> {
  return printValue(value, rowsText(header, [row(value)], options, io), options, io);
}

/** Rows as a table where people look at them, else separated by tabs. */
export function rowsText(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  { output }: Options,
  { stdout }: Pick<Io, 'stdout'>,
  leastFirst: readonly string[] = [],
): string {
  const isForPeople = output === 'table' || stdout.isTTY === true;
  return table(header, rows, isForPeople, { columns: stdout.columns, leastFirst });
}
