import { addedSums, type SummedColumn, sumColumns, summed } from './ledger-columns.ts';
import { type LedgerRow, quarterMs, quarterOf } from './ledger-row.ts';
import type { LedgerTables } from './ledger-store.ts';

/** What usage is summed up by. */
export const usageGroups = ['project', 'key', 'model', 'day'] as const;
export type UsageGroup = (typeof usageGroups)[number];

/** Usage of one project, key, model or day, whose name is in the field of the same name. */
export interface UsageSum extends Readonly<Record<Exclude<SummedColumn, 'nano_usd'>, number>> {
  readonly name: string;
  /** Excludes requests whose price is not known. */
  readonly cost_usd: number;
}

const columns = { project: 'project', key: 'key_id', model: 'model', day: 'quarter' } as const;
const nanoUsdPerUsd = 1_000_000_000;
/** After any, and an integer of four bytes. */
const latestQuarter = 2 ** 31 - 1;

export interface UsageQuery {
  readonly by: UsageGroup;
  readonly sinceMs: number;
  /** Its end, where it has one. */
  readonly untilMs?: number | undefined;
  /** The name of the day that a time belongs to. */
  readonly dayOf: (ms: number) => string;
}

type SumRow = Readonly<Record<SummedColumn, number>> & { readonly name: string | number };

/** Usage of a period, rounded to quarters of an hour: what the tables have, and `rows` that they don't have yet. */
export async function sumUsage(
  tables: LedgerTables | undefined,
  query: UsageQuery,
  rows: readonly LedgerRow[],
): Promise<readonly UsageSum[]> {
  const since = quarterOf(query.sinceMs);
  const until = query.untilMs === undefined ? latestQuarter : quarterOf(query.untilMs);
  const sums = summed.map((name) => `${tables?.sumOf(name)} as ${name}`).join();
  const name = columns[query.by];
  const sql = `select ${name} as name, ${sums} from ${tables?.sums} where quarter >= $1 and quarter < $2 group by ${name}`;
  const stored = await tables?.select<SumRow>(sql, [since, until]);
  const recent = rows.filter(({ started_ms }) => {
    const quarter = quarterOf(started_ms);
    return quarter >= since && quarter < until;
  });
  const added = addedSums(recent).map((values) => {
    const sum = Object.fromEntries(sumColumns.map((column, i) => [column, values[i]]));
    return { ...sum, name: sum[name] } as SumRow; // it has all of `sumColumns`
  });
  return toReport([...(stored ?? []), ...added], query);
}

/** All of them together, by this name. */
export function totalUsage(name: string, sums: readonly UsageSum[]): UsageSum {
  const add = (one: UsageSum, other: UsageSum): UsageSum => {
    const added = summed.map((column) =>
      column === 'nano_usd'
        ? ['cost_usd', one.cost_usd + other.cost_usd]
        : [column, one[column] + other[column]],
    );
    return { name, ...Object.fromEntries(added) }; // it has all of `summed`
  };
  return sums.reduce(add);
}

function toReport(rows: readonly SumRow[], { dayOf }: UsageQuery): readonly UsageSum[] {
  const merged = new Map<string, Record<SummedColumn, number>>();
  for (const row of rows) {
    // The quarters of an hour of one day have the same name.
    const name = typeof row.name === 'number' ? dayOf(row.name * quarterMs) : row.name;
    const known = merged.get(name);
    const sums = summed.map((column) => [column, (known?.[column] ?? 0) + row[column]]);
    merged.set(name, Object.fromEntries(sums)); // it has all of `summed`
  }
  // Sorted here, because databases have their own collations.
  return [...merged]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, { nano_usd: nanoUsd, ...sum }]) => ({ name, ...sum, cost_usd: nanoUsd / nanoUsdPerUsd }));
}
