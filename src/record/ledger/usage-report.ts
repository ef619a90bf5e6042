import type { SqliteEngine } from '../../database/sqlite-engine.ts';
import { quarterMs } from './ledger-schema.ts';

/** What usage is summed up by. */
export const usageGroups = ['project', 'key', 'model', 'day'] as const;
export type UsageGroup = (typeof usageGroups)[number];

/** Usage of one project, key, model or day, which is in the field of that name. */
export interface UsageSum {
  readonly name: string;
  readonly requests: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cache_read_tokens: number;
  readonly cache_write_tokens: number;
  readonly reasoning_tokens: number;
  /** Without the requests whose price is not known. */
  readonly cost_usd: number;
  /** How many requests have estimated tokens. */
  readonly estimated: number;
  /** How many requests have no price. */
  readonly unpriced: number;
}

interface SumRow extends Omit<UsageSum, 'cost_usd'> {
  readonly nano_usd: number;
}

const summed = [
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
const columns = { project: 'project', key: 'key_id', model: 'model', day: 'quarter' } as const;
const nanoUsdPerUsd = 1_000_000_000;

/** Usage since a time, to the quarter of an hour. Days are those of `dayOf`. */
export function sumUsage(
  engine: SqliteEngine,
  { by, sinceMs, dayOf }: { by: UsageGroup; sinceMs: number; dayOf: (ms: number) => string },
): readonly UsageSum[] {
  const column = columns[by];
  const sums = summed.map((name) => `sum(${name}) as ${name}`).join();
  const rows = engine
    .prepare(
      `select ${column} as name, ${sums} from sums where quarter >= ? group by ${column} order by ${column}`,
    )
    .all(Math.floor(sinceMs / quarterMs)) as readonly (Omit<SumRow, 'name'> & { name: string | number })[];
  const named = rows.map((row) => ({
    ...row,
    name: typeof row.name === 'number' ? dayOf(row.name * quarterMs) : row.name,
  }));
  return merge(named).map(({ nano_usd: nanoUsd, ...row }) => ({ ...row, cost_usd: nanoUsd / nanoUsdPerUsd }));
}

/** One row for each name; quarters of an hour of one day come one after the other. */
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
