import { crc32 } from 'node:zlib';
import type { SqliteValue } from '../../../database/sqlite-engine.ts';
import {
  exchangeColumns,
  fitText,
  fitWhole,
  intentColumns,
  lineLengths,
  maxTextLength,
} from '../ledger-columns.ts';
import type { Intent, LedgerRow } from '../ledger-row.ts';

// A segment begins with a header; each of its other lines is the CRC-32 of what follows, a blank, and a JSON list.

export type JournalEntry =
  | { readonly kind: 'begin'; readonly intent: Intent }
  | { readonly kind: 'end'; readonly row: LedgerRow }
  /** The exchange was refused after all. */
  | { readonly kind: 'cancel'; readonly requestId: string };

/** From 3 on a segment is moved as a whole; a row of an earlier one counts once wherever it is, by its request id. */
export const journalVersion = 3;
export const firstMovedWhole = 3;
const title = 'gateway-ledger-journal';
export const segmentHeader = `${title} ${journalVersion}\n`;

/** The version in a segment's first line; undefined for what is no segment. */
export function versionOf(line: string): number | undefined {
  const [name, version] = line.split(' ');
  return name === title && version !== undefined && /^\d{1,9}$/.test(version) ? Number(version) : undefined;
}

export function beginLine(intent: Intent): string {
  return toLine(['begin', ...intentColumns.map(({ name }) => short(intent[name as keyof Intent]))]);
}

export function cancelLine(requestId: string): string {
  return toLine(['cancel', requestId]);
}

/** The values of `exchangeColumns`, spelled out because every exchange has one. */
export function endLine(row: LedgerRow): string {
  return toLine([
    'end',
    short(row.request_id),
    row.started_ms,
    short(row.project),
    short(row.key_id),
    short(row.endpoint),
    short(row.model),
    row.input_tokens,
    row.output_tokens,
    row.nano_usd,
    short(row.provider),
    short(row.target_model),
    row.status,
    row.outcome,
    row.decision,
    short(row.reason),
    row.cache_read_tokens,
    row.cache_write_tokens,
    row.reasoning_tokens,
    row.is_estimated === 1, // a boolean in this format
    row.first_byte_ms,
    row.total_ms,
    short(row.session),
    short(row.agent),
    short(row.subagent),
    row.new_tokens,
    short(row.parent),
  ]);
}

/** Undefined for a line that is damaged, or of something else. */
export function parseLine(line: string): JournalEntry | undefined {
  const blank = line.indexOf(' ');
  const text = line.slice(blank + 1);
  if (blank < 1 || String(crc32(text)) !== line.slice(0, blank)) return undefined;
  const [kind, ...values] = parseList(text);
  if (kind === 'begin' && isLength(values.length, lineLengths.begin)) {
    return { kind, intent: toRow<Intent>(intentColumns, values) };
  }
  if (kind === 'end' && isLength(values.length, lineLengths.end)) {
    return { kind, row: toRow<LedgerRow>(exchangeColumns, values) };
  }
  return kind === 'cancel' ? { kind, requestId: String(values[0]) } : undefined;
}

function isLength(length: number, known: readonly number[]): boolean {
  return known.includes(length);
}

function parseList(text: string): readonly unknown[] {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value : [];
  } catch {
    return []; // another program's
  }
}

function toLine(values: readonly unknown[]): string {
  const text = JSON.stringify(values);
  return `${crc32(text)} ${text}\n`;
}

function short(value: SqliteValue): SqliteValue {
  return typeof value === 'string' && value.length > maxTextLength ? value.slice(0, maxTextLength) : value;
}

/** `Row` has exactly these columns. */
function toRow<Row>(columns: typeof exchangeColumns, values: readonly unknown[]): Row {
  const row: Partial<Record<keyof LedgerRow, SqliteValue>> = {};
  for (const [i, { name, type, isNullable }] of columns.entries()) {
    row[name] = isNullable && (values[i] ?? null) === null ? null : fitters[type](values[i]);
  }
  return row as Row;
}

function time(value: unknown): number | null {
  return typeof value === 'number' ? value : null;
}

const fitters = { text: fitText, integer: fitWhole, real: time };
