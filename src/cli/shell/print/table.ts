import textWidth from 'fast-string-width';
import type { CommonOptions } from '../command.ts';
import type { Io } from '../io.ts';
import { isForPrograms, printValue } from './print.ts';

/** How to show values as rows. */
export interface Listing<Value> {
  readonly header: readonly string[];
  readonly row: (value: Value) => readonly string[];
  /** Titles of the columns to shorten first; by default the last one. */
  readonly narrowedFirst?: readonly string[];
}

type Options = Pick<CommonOptions, 'output'>;
/**
 * Prints values as they arrive: with `text` as rows (a table on a terminal, tab-separated in a pipe), with `json` as
 * one array. Only formats that need all values at once (a table, json, yaml) are held back until the end.
 */
export async function printList<Value>(
  batches: AsyncIterable<readonly Value[]> | Iterable<readonly Value[]>,
  { header, row, narrowedFirst }: Listing<Value>,
  options: Options,
  io: Io,
): Promise<void> {
  const isUncut = isForPrograms(options.output) || options.output === 'table' || io.stdout.isTTY === true;
  const values: Value[] = [];
  for await (const batch of batches) {
    if (isUncut && options.output !== 'ndjson') values.push(...batch);
    else await printValue(batch, rowsText(header, batch.map(row), options, io), options, io);
  }
  if (options.output === 'ndjson' || !isUncut) return;
  await printValue(values, rowsText(header, values.map(row), options, io, narrowedFirst), options, io);
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
  options: Options,
  { stdout }: Pick<Io, 'stdout'>,
  narrowedFirst: readonly string[] = [],
): string {
  return table(header, rows, isTable(options, { stdout }), { columns: stdout.columns, narrowedFirst });
}

/** Whether text is printed as a table, for a person. */
export function isTable({ output }: Options, { stdout }: Pick<Io, 'stdout'>): boolean {
  return output === 'table' || (stdout.isTTY === true && !isForPrograms(output));
}

/** Amounts of US$ below each other: all with the decimals that the finest of them needs, two to six. */
export function alignedUsd(amounts: readonly number[]): readonly string[] {
  const decimals = amounts.map((amount) => /\.(\d*?)0*$/.exec(amount.toFixed(6))?.[1]?.length ?? 0);
  return amounts.map((amount) => amount.toFixed(Math.max(2, ...decimals)));
}

// Not string-width, which gives the same widths but takes 80 ms to load, nor cli-table3, which cuts words.

interface TableWidth {
  /** Columns of the terminal; unlimited if absent, or 0 (an unknown size). */
  readonly columns?: number | undefined;
  /** Titles of the columns to shorten first, in this order. By default the last column. */
  readonly narrowedFirst?: readonly string[];
}

const gap = 2;
const ellipsis = '…';

/**
 * Rows for a person (aligned columns with a header, on a terminal) or for a script (tab-separated, no header). Control
 * characters in a cell become spaces: a row stays one line, and a name chosen by a provider can't control the terminal.
 * If the terminal is too narrow, the least important columns are shortened by whole words, then dropped; no word is
 * ever cut.
 */
export function table(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  isForPeople: boolean,
  width: TableWidth = {},
): string {
  const cells = rows.map((row) => row.map(oneLine));
  if (!isForPeople) return cells.map((row) => `${row.join('\t')}\n`).join('');
  const shown = fitColumns(header, cells, width);
  const lines = [header, ...cells].map((row, i) => {
    const texts = shown.map(({ index, width: most, isNumeric }) =>
      isNumeric ? (row[index] ?? '').padStart(most) : padded(row[index] ?? '', most),
    );
    const isCut = i === 0 && shown.length < header.length;
    return `${texts.join(' '.repeat(gap)).trimEnd()}${isCut ? `${' '.repeat(gap)}${ellipsis}` : ''}\n`;
  });
  return lines.join('');
}

function oneLine(cell: string): string {
  return cell.replace(/[\u0000-\u001f\u007f-\u009f\u200b\u2028-\u202e\u2066-\u2069]+/g, ' ');
}

interface ShownColumn {
  readonly index: number;
  readonly width: number;
  /** Numbers stand on the right, so that their digits are below each other; they have no words to leave out. */
  readonly isNumeric: boolean;
}

const numeric = /^(?:[-+]?\d+(?:\.\d+)?(?: ?(?:ms|s|%))?)?$/;

/** The columns that fit, in order: one is shortened, then dropped, before a more important one is shortened. */
function fitColumns(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  { columns, narrowedFirst = [] }: TableWidth,
): readonly ShownColumn[] {
  const cellsOf = (i: number) => rows.map((row) => row[i] ?? '');
  const shown = header.map((title, index) => ({
    index,
    width: maximum([title, ...cellsOf(index)].map((text) => textWidth(text))),
    isNumeric:
      cellsOf(index).some((text) => text !== '') && cellsOf(index).every((text) => numeric.test(text)),
  }));
  let kept: readonly ShownColumn[] = shown;
  for (const index of givingWay(header, narrowedFirst)) {
    const needed = total(kept) + (kept.length < header.length ? gap + 1 : 0);
    const excess = needed - (columns || Number.POSITIVE_INFINITY);
    // The most important column always stays.
    if (excess <= 0 || kept.length === 1) return kept;
    const natural = shown[index]?.width ?? 0;
    const least = maximum([textWidth(header[index] ?? ''), ...cellsOf(index).map(minWidth)]);
    if (natural - excess >= least) {
      return kept.map((column) => (column.index === index ? { ...column, width: natural - excess } : column));
    }
    kept = kept.filter((column) => column.index !== index);
  }
  return kept;
}

/** Indexes of columns, in the order in which they are shortened. */
function givingWay(header: readonly string[], narrowedFirst: readonly string[]): readonly number[] {
  const named = narrowedFirst.map((title) => header.indexOf(title)).filter((index) => index >= 0);
  const rest = [...header.keys()].reverse().filter((index) => !named.includes(index));
  return [...named, ...rest];
}

function total(columns: readonly ShownColumn[]): number {
  return columns.reduce((sum, { width }) => sum + width, gap * (columns.length - 1));
}

function maximum(numbers: readonly number[]): number {
  return numbers.reduce((most, number) => Math.max(most, number), 0);
}

/** Splits after blanks and after the commas of a list; separators are kept. */
function words(text: string): readonly string[] {
  return text.match(/[^\s,]*,|[^\s,]+\s*|\s+/g) ?? [];
}

/** The minimum width of a cell: its first word and an ellipsis. */
function minWidth(text: string): number {
  const [first = '', ...rest] = words(text);
  return rest.length === 0 ? textWidth(text) : textWidth(first.trimEnd()) + 1;
}

/** The words that fit, padded to the width. */
function padded(text: string, width: number): string {
  const whole = textWidth(text);
  if (whole <= width) return text + ' '.repeat(width - whole);
  let kept = '';
  for (const word of words(text)) {
    if (textWidth((kept + word).trimEnd()) + 1 > width) break;
    kept += word;
  }
  // A single word that is wider than its column: the most important column of a very narrow terminal.
  if (kept === '') return text;
  const shown = `${kept.trimEnd()}${ellipsis}`;
  return shown + ' '.repeat(Math.max(0, width - textWidth(shown)));
}

/** Rows as RFC 4180 has them. */
export function csv(rows: readonly (readonly (string | number)[])[]): string {
  return rows.map((row) => `${row.map((value) => cell(String(value))).join(',')}\r\n`).join('');
}

function cell(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
