import { crc32 } from 'node:zlib';
import type { Intent, LedgerRow } from '../ledger-row.ts';

// A segment begins with a header; each of its other lines is the CRC-32 of what follows, a blank, and a JSON list. Clients
// choose some of the texts, and providers report the numbers. A database that refuses one of them would refuse all that is
// committed with it, now and ever after, so what is read is made fit.

export type JournalEntry =
  | { readonly kind: 'begin'; readonly intent: Intent }
  | { readonly kind: 'end'; readonly row: LedgerRow }
  /** The exchange was refused after all. */
  | { readonly kind: 'cancel'; readonly requestId: string };

export const journalVersion = 1;
const title = 'gateway-ledger-journal';
export const header = `${title} ${journalVersion}\n`;

/** Longer than any configured name or known model. */
const longestText = 200;
/** Above every real amount (US$ 10,000) and time, as for counters; a million of them still fit into a sum's 64 bits. */
const mostNumber = 1e13;

/** The version in a segment's first line; undefined for what is no segment. */
export function versionOf(line: string): number | undefined {
  const [name, version] = line.split(' ');
  return name === title && version !== undefined && /^\d{1,9}$/.test(version) ? Number(version) : undefined;
}

export function beginLine(intent: Intent): string {
  return toLine(['begin', ...valuesOfIntent(intent)]);
}

export function cancelLine(requestId: string): string {
  return toLine(['cancel', requestId]);
}

export function endLine(row: LedgerRow): string {
  return toLine([
    'end',
    ...valuesOfIntent(row),
    short(row.provider),
    short(row.targetModel),
    row.status,
    row.outcome,
    row.decision,
    row.reason,
    row.cacheReadTokens,
    row.cacheWriteTokens,
    row.reasoningTokens,
    row.isEstimated,
    row.firstByteMs,
    row.totalMs,
  ]);
}

/** Undefined for a line that is damaged, or of something else. */
export function parseLine(line: string): JournalEntry | undefined {
  const blank = line.indexOf(' ');
  const text = line.slice(blank + 1);
  if (blank < 1 || String(crc32(text)) !== line.slice(0, blank)) return undefined;
  const [kind, ...values] = parseList(text);
  if (kind === 'begin' && values.length === 9) return { kind, intent: toIntent(values) };
  if (kind === 'end' && values.length === 21) return { kind, row: toRow(values) };
  return kind === 'cancel' ? { kind, requestId: String(values[0]) } : undefined;
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

function valuesOfIntent(intent: Intent): readonly unknown[] {
  const { requestId, startedMs, project, keyId, endpoint, model, inputTokens, outputTokens, nanoUsd } =
    intent;
  return [requestId, startedMs, project, keyId, endpoint, short(model), inputTokens, outputTokens, nanoUsd];
}

function short(text: string | null): string | null {
  return text === null || text.length <= longestText ? text : text.slice(0, longestText);
}

function toIntent(values: readonly unknown[]): Intent {
  return {
    requestId: text(values[0]),
    startedMs: whole(values[1]),
    project: text(values[2]),
    keyId: text(values[3]),
    endpoint: text(values[4]),
    model: text(values[5]),
    inputTokens: whole(values[6]),
    outputTokens: whole(values[7]),
    nanoUsd: values[8] === null ? null : whole(values[8]),
  };
}

/** All members in one literal: a spread among so many costs more than SQLite takes for the row. */
function toRow(values: readonly unknown[]): LedgerRow {
  const intent = toIntent(values);
  return {
    requestId: intent.requestId,
    startedMs: intent.startedMs,
    project: intent.project,
    keyId: intent.keyId,
    endpoint: intent.endpoint,
    model: intent.model,
    inputTokens: intent.inputTokens,
    outputTokens: intent.outputTokens,
    nanoUsd: intent.nanoUsd,
    provider: nullable(values[9]),
    targetModel: nullable(values[10]),
    status: whole(values[11]),
    outcome: text(values[12]),
    decision: nullable(values[13]),
    reason: nullable(values[14]),
    cacheReadTokens: whole(values[15]),
    cacheWriteTokens: whole(values[16]),
    reasoningTokens: whole(values[17]),
    isEstimated: values[18] === true,
    firstByteMs: time(values[19]),
    totalMs: time(values[20]),
  };
}

function nullable(value: unknown): string | null {
  return value === null ? null : text(value);
}

/** PostgreSQL has no NUL, and UTF-8 no lone surrogates; control characters would only harm readers. */
function text(value: unknown): string {
  const given = String(value);
  return fit.test(given) ? given : given.slice(0, longestText).replace(unfit, '\ufffd');
}

const fit = /^[\x20-\x7e]{0,200}$/;
const unfit = /[\p{Cc}\p{Cs}]/gu;

/** Also for what is not a number after a JSON round trip. */
function whole(value: unknown): number {
  const given = Number(value);
  return given > 0 ? Math.min(Math.ceil(given), mostNumber) : 0;
}

function time(value: unknown): number | null {
  return typeof value === 'number' ? value : null;
}
