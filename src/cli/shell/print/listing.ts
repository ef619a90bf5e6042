import type { CommonOptions, OutputFormat } from '../command.ts';
import type { Io } from '../io.ts';
import { print } from './print.ts';
import { table } from './table.ts';

/** How to show values as rows. */
export interface Listing<Value> {
  readonly header: readonly string[];
  readonly row: (value: Value) => readonly string[];
  /** Titles of the columns to shorten first; by default the last one. */
  readonly leastFirst?: readonly string[];
}

/**
 * Prints values as they arrive: with `text` as rows (a table on a terminal, tab-separated in a pipe), with `json` as
 * one array. Only formats that need all values at once (a table, json, yaml) are held back until the end.
 */
export async function printList<Value>(
  batches: AsyncIterable<readonly Value[]>,
  { header, row, leastFirst = [] }: Listing<Value>,
  { output = 'text' }: CommonOptions,
  io: Io,
): Promise<void> {
  if (output === 'ndjson') return eachBatch(batches, (batch) => batch.map(toLine).join(''), io);
  if (output === 'text' && io.stdout.isTTY !== true) {
    return eachBatch(batches, (batch) => table(header, batch.map(row), false), io);
  }
  const values: Value[] = [];
  for await (const batch of batches) values.push(...batch);
  if (output === 'json' || output === 'yaml') return print(await formatted(values, output), io);
  await print(table(header, values.map(row), true, { columns: io.stdout.columns, leastFirst }), io);
}

/** Prints one value; in text as the one row of a table. */
export async function printOne<Value>(
  value: Value,
  { header, row }: Listing<Value>,
  { output = 'text' }: CommonOptions,
  io: Io,
): Promise<void> {
  const text =
    output === 'text' || output === 'table'
      ? table(header, [row(value)], output === 'table' || io.stdout.isTTY === true, {
          columns: io.stdout.columns,
        })
      : await formatted(value, output);
  await print(text, io);
}

/** A value in one of the formats for programs. */
export async function formatted(
  value: unknown,
  format: Exclude<OutputFormat, 'text' | 'table'>,
): Promise<string> {
  if (format === 'json' || format === 'ndjson') return toLine(value);
  const { stringify } = await import('yaml'); // takes 40 ms, which only this format pays
  return stringify(value);
}

async function eachBatch<Value>(
  batches: AsyncIterable<readonly Value[]>,
  toText: (batch: readonly Value[]) => string,
  io: Io,
): Promise<void> {
  for await (const batch of batches) await print(toText(batch), io);
}

function toLine(value: unknown): string {
  return `${JSON.stringify(value)}\n`;
}
