import {
  providerSums,
  type SummedColumn,
  type SumTable,
  sessionSums,
  summed,
  sums,
  sumsOf,
} from './ledger-columns.ts';
import { type LedgerRow, quarterMs, quarterOf } from './ledger-row.ts';
import type { LedgerTables } from './ledger-store.ts';

interface Group {
  readonly table: SumTable;
  /** Their values are the name, the second one is the key of a session. */
  readonly columns: readonly [string, 'key_id'?];
}

const groups = {
  project: { table: sums, columns: ['project'] },
  key: { table: sums, columns: ['key_id'] },
  model: { table: sums, columns: ['model'] },
  day: { table: sums, columns: ['quarter'] },
  session: { table: sessionSums, columns: ['session', 'key_id'] },
  agent: { table: sessionSums, columns: ['agent'] },
  'provider-key': { table: providerSums, columns: ['provider'] },
} as const satisfies Record<string, Group>;

/** What usage is summed up by. */
export type UsageGroup = keyof typeof groups;
export const usageGroups = Object.keys(groups) as readonly UsageGroup[];

/** Usage of one project, key, model, day, session, agent, or key of a provider (`anthropic/work`). */
export interface UsageSum extends Readonly<Record<Exclude<SummedColumn, 'nano_usd'>, number>> {
  /** '' for requests that name no session, or no agent that is recognized. */
  readonly name: string;
  /** Of a session alone: the same name of another key is another session. */
  readonly key?: string;
  /** Excludes requests whose price is not known. */
  readonly cost_usd: number;
}

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

type SumRow = Readonly<Record<SummedColumn, number>> & {
  readonly name: string | number;
  readonly key_id?: string;
};

/** Usage of a period, rounded to quarters of an hour: what the tables have, and `rows` that they don't have yet. */
export async function sumUsage(
  tables: LedgerTables | undefined,
  query: UsageQuery,
  rows: readonly LedgerRow[],
): Promise<readonly UsageSum[]> {
  const since = quarterOf(query.sinceMs);
  const until = query.untilMs === undefined ? latestQuarter : quarterOf(query.untilMs);
  const { table, columns }: Group = groups[query.by];
  const from = tables?.names[table.name];
  const [name] = columns;
  const names = [`${name} as name`, ...columns.slice(1)];
  const amounts = summed.map((column) => `${tables?.sumOf(column)} as ${column}`);
  const sql = `select ${[...names, ...amounts].join()} from ${from} where quarter >= $1 and quarter < $2 group by ${columns.join()}`;
  const stored = from === undefined ? [] : await tables?.select<SumRow>(sql, [since, until]);
  const recent = rows.filter(({ started_ms }) => {
    const quarter = quarterOf(started_ms);
    return quarter >= since && quarter < until;
  });
  const added = sumsOf(recent, [table])
    .flat()
    .map((values) => {
      const sum = Object.fromEntries(table.columns.map((column, i) => [column, values[i]]));
      return { ...sum, name: sum[name] } as SumRow; // it has all columns of the table
    });
  return toReport([...(stored ?? []), ...added], query);
}

/** All of them together. */
export function totalUsage(sums: readonly UsageSum[]): UsageSum {
  const add = (one: UsageSum, other: UsageSum): UsageSum => {
    const added = summed.map((column) =>
      column === 'nano_usd'
        ? ['cost_usd', one.cost_usd + other.cost_usd]
        : [column, one[column] + other[column]],
    );
    const names = one.key === undefined ? { name: 'TOTAL' } : { name: 'TOTAL', key: '' };
    return { ...names, ...Object.fromEntries(added) }; // it has all of `summed`
  };
  return sums.reduce(add);
}

function toReport(rows: readonly SumRow[], { by, dayOf }: UsageQuery): readonly UsageSum[] {
  const merged = new Map<string, Merged>();
  for (const row of rows) {
    // The quarters of an hour of one day have the same name.
    const name = typeof row.name === 'number' ? dayOf(row.name * quarterMs) : row.name;
    const key = by === 'session' ? (row.key_id ?? '') : undefined;
    const id = key === undefined ? name : `${name}\n${key}`; // names have no ends of lines
    const known = merged.get(id);
    if (known === undefined) merged.set(id, { name, key, first: row });
    else addTo(known, row);
  }
  // Sorted here, because databases have their own collations.
  return [...merged].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, each]) => toSum(each));
}

interface Merged {
  readonly name: string;
  readonly key: string | undefined;
  readonly first: SumRow;
  /** Of several rows: most sessions have one. */
  amounts?: Record<SummedColumn, number>;
}

function addTo(known: Merged, row: SumRow): void {
  const amounts = known.amounts ?? { ...known.first };
  known.amounts = amounts;
  for (const column of summed) amounts[column] += row[column];
}

/** As one literal that begins with a name: objects that are made a member at a time take ten times as long. */
function toSum({ name, key, first, amounts = first }: Merged): UsageSum {
  return {
    name,
    ...(key === undefined ? {} : { key }),
    requests: amounts.requests,
    input_tokens: amounts.input_tokens,
    output_tokens: amounts.output_tokens,
    cache_read_tokens: amounts.cache_read_tokens,
    cache_write_tokens: amounts.cache_write_tokens,
    reasoning_tokens: amounts.reasoning_tokens,
    cost_usd: amounts.nano_usd / nanoUsdPerUsd,
    estimated: amounts.estimated,
    unpriced: amounts.unpriced,
  };
}
