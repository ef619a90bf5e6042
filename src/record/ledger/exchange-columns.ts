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
