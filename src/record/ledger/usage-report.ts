import type { PostgresClient } from '../../database/postgres.ts';
import type { SqliteEngine } from '../../database/sqlite-engine.ts';
import { addedSums, sumValues } from './added-sums.ts';
import { type SummedColumn, sumColumns, summed } from './ledger-columns.ts';
import { type LedgerRow, quarterMs, quarterOf } from './ledger-row.ts';
import { bounded } from './postgres/postgres-schema.ts';

/** What usage is summed up by. */
export const usageGroups = ['project', 'key', 'model', 'day'] as const;
export type UsageGroup = (typeof usageGroups)[number];

/** Usage of one project, key, model or day, whose name is in the field of the same name. */
export interface UsageSum {
  readonly name: string;
  readonly requests: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cache_read_tokens: number;
  readonly cache_write_tokens: number;
  readonly reasoning_tokens: number;
  /** Excludes requests whose price is not known. */
  readonly cost_usd: number;
  /** How many requests have estimated tokens. */
  readonly estimated: number;
  /** How many requests have no price. */
  readonly unpriced: number;
}

interface SumRow extends Omit<UsageSum, 'cost_usd'> {
  readonly nano_usd: number;
}

const columns = { project: 'project', key: 'key_id', model: 'model', day: 'quarter' } as const;
const nanoUsdPerUsd = 1_000_000_000;

export interface UsageQuery {
  readonly by: UsageGroup;
  readonly sinceMs: number;
  /** The name of the day that a time belongs to. */
  readonly dayOf: (ms: number) => string;
}

/** Usage since a time, rounded to a quarter of an hour; `rows` are those that the file does not have yet. */
export function sumUsage(
  engine: SqliteEngine | undefined,
  query: UsageQuery,
  rows: readonly LedgerRow[],
): readonly UsageSum[] {
  const sql = usageSql('sums', query.by, (column) => `total(${column})`).replace('$1', '?');
  const stored = engine?.prepare(sql).all(quarterOf(query.sinceMs)) ?? [];
  return toReport([...(stored as readonly SqlRow[]), ...toSqlRows(rows, query)], query);
}

/** The same from PostgreSQL. */
export async function sumPostgresUsage(
  client: PostgresClient,
  query: UsageQuery,
  rows: readonly LedgerRow[],
): Promise<readonly UsageSum[]> {
  const sql = usageSql('ledger_sums', query.by, (column) => bounded(`sum(${column})`));
  const stored = await client.query<SqlRow>(sql, [quarterOf(query.sinceMs)]);
  return toReport([...stored, ...toSqlRows(rows, query)], query);
}

type SqlRow = Readonly<Record<SummedColumn, number>> & { readonly name: string | number };

function toSqlRows(rows: readonly LedgerRow[], { by, sinceMs }: UsageQuery): readonly SqlRow[] {
  const recent = rows.filter(({ startedMs }) => quarterOf(startedMs) >= quarterOf(sinceMs));
  return addedSums(recent).map((sum) => {
    const values = Object.fromEntries(sumValues(sum).map((value, i) => [sumColumns[i], value]));
    return { ...values, name: values[columns[by]] } as SqlRow; // it has all of `sumColumns`
  });
}

function usageSql(table: string, by: UsageGroup, sumOf: (column: SummedColumn) => string): string {
  const column = columns[by];
  const sums = summed.map((name) => `${sumOf(name)} as ${name}`).join();
  return `select ${column} as name, ${sums} from ${table} where quarter >= $1 group by ${column}`;
}

function toReport(rows: readonly SqlRow[], { dayOf }: UsageQuery): readonly UsageSum[] {
  // Sorted here, because databases have their own collations.
  const named = rows
    .toSorted((one, other) => (one.name < other.name ? -1 : 1))
    .map((row) => ({ ...row, name: typeof row.name === 'number' ? dayOf(row.name * quarterMs) : row.name }));
  return merge(named).map(({ nano_usd: nanoUsd, ...row }) => ({ ...row, cost_usd: nanoUsd / nanoUsdPerUsd }));
}

/** One row for each name; the quarters of an hour of one day are adjacent. */
function merge(rows: readonly SumRow[]): readonly SumRow[] {
  const merged = new Map<string, SumRow>();
  for (const row of rows) {
    const known = merged.get(row.name);
    if (known === undefined) merged.set(row.name, row);
    else {
      const sums = summed.map((name) => [name, known[name] + row[name]] as const);
      merged.set(row.name, { ...known, ...Object.fromEntries(sums) });
    }
  }
  return [...merged.values()];
}
