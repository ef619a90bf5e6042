import { type LedgerRow, quarterMs, quarterOf } from './ledger-row.ts';
import type { LedgerTables } from './ledger-store.ts';
import type { TurnQuery } from './recorded-turns.ts';

/** What one session of a key has used so far. */
export interface SessionSum {
  readonly session: string;
  readonly key: string;
  readonly project: string;
  /** '' if it is none that is recognized. */
  readonly agent: string;
  /** The starts of its first and its last request; of what an earlier build wrote, the beginning of their quarter of an hour. */
  readonly started_ms: number;
  readonly last_ms: number;
  readonly requests: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cache_read_tokens: number;
  readonly new_tokens: number;
  /** Excludes requests whose price is not known. */
  readonly cost_usd: number;
  readonly unpriced: number;
}

export interface SessionQuery {
  /** Those with a request since then. */
  readonly sinceMs: number;
  readonly limit: number;
  /** Only this one, of any key. */
  readonly session?: string | undefined;
}

const amounts = [
  ...(['requests', 'input_tokens', 'output_tokens', 'cache_read_tokens', 'new_tokens'] as const),
  ...(['nano_usd', 'unpriced'] as const),
];
type Amount = (typeof amounts)[number];

/** A session as the tables, or rows that they don't have yet, know it. */
type SessionPart = Readonly<Record<Amount, number>> &
  Pick<SessionSum, 'session' | 'project' | 'agent'> & {
    readonly key_id: string;
    readonly first: number;
    readonly last: number;
  };

const nanoUsdPerUsd = 1_000_000_000;

/** The sessions with the latest requests, the latest first: what the tables have, and `rows` that they don't have yet. */
export async function sumSessions(
  tables: LedgerTables | undefined,
  query: SessionQuery,
  rows: readonly LedgerRow[],
): Promise<readonly SessionSum[]> {
  const { sinceMs, limit, session } = query;
  const recent = rows.filter((row) => row.session !== null && (session ?? row.session) === row.session);
  const stored = await readStored(tables, query);
  // A session with a recent row has earlier ones in the tables, whenever they were.
  const known = new Set(stored.map(idOf));
  const missing = new Set(recent.filter((row) => !known.has(idOf(row))).map((row) => row.session ?? ''));
  const earlier: SessionPart[] = [];
  for (const each of missing)
    earlier.push(...(await readStored(tables, { sinceMs: 0, limit, session: each })));
  const merged = new Map<string, SessionPart>();
  for (const part of [
    ...stored,
    ...earlier.filter((each) => !known.has(idOf(each))),
    ...recent.map(toPart),
  ]) {
    const before = merged.get(idOf(part));
    merged.set(idOf(part), before === undefined ? part : add(before, part));
  }
  return [...merged.values()]
    .filter(({ last }) => last >= quarterOf(sinceMs) * quarterMs)
    .toSorted((one, other) => other.last - one.last)
    .slice(0, limit)
    .map(toSum);
}

type StoredRow = Omit<LedgerRow, 'parent'> & Partial<Pick<LedgerRow, 'parent'>> & { readonly id?: unknown };

/** The exchanges of a session, the latest last: those that are kept, and `rows` that the tables don't have yet. */
export async function listTurns(
  tables: LedgerTables | undefined,
  { session, limit }: TurnQuery,
  rows: readonly LedgerRow[],
): Promise<readonly LedgerRow[]> {
  // A ledger that no gateway has written since an earlier build has not all of the columns.
  const sql = `select * from ${tables?.names.exchanges} where session = $1
    order by started_ms desc limit $2`;
  const stored = hasSessions(tables) ? await tables.select<StoredRow>(sql, [session, limit]) : [];
  const kept = stored.map(({ id: _, parent = null, ...row }): LedgerRow => ({ ...row, parent }));
  return [...kept, ...rows.filter((row) => row.session === session)]
    .toSorted((one, other) => one.started_ms - other.started_ms)
    .slice(-limit);
}

/** Whether a gateway has written the ledger since there are sessions. */
function hasSessions(tables: LedgerTables | undefined): tables is LedgerTables {
  return tables?.names.session_sums !== undefined;
}

/** The latest sessions are found by the quarters of an hour, and then summed up whole by their names. */
async function readStored(
  tables: LedgerTables | undefined,
  { sinceMs, limit, session }: SessionQuery,
): Promise<readonly SessionPart[]> {
  if (!hasSessions(tables)) return [];
  const { session_sums: table, moved_segments: moved } = tables.names;
  const named = session === undefined ? "session <> ''" : 'session = $2';
  const values = [quarterOf(sinceMs), ...(session === undefined ? [] : [session])];
  const timeOf = (column: 'first_ms' | 'last_ms') =>
    moved === undefined ? `quarter * ${quarterMs}` : `coalesce(${column}, quarter * ${quarterMs})`;
  const sums = amounts.map((name) => `${tables.sumOf(name)} as ${name}`).join();
  return tables.select<SessionPart>(
    `with latest as (select session, key_id from ${table} where quarter >= $1 and ${named}
       group by session, key_id order by max(quarter) desc, session limit ${limit})
     select each.session, each.key_id, max(project) as project, max(agent) as agent,
       min(${timeOf('first_ms')}) as first, max(${timeOf('last_ms')}) as last, ${sums}
     from ${table} as each join latest on each.session = latest.session and each.key_id = latest.key_id
     group by each.session, each.key_id`,
    values,
  );
}

function toPart(row: LedgerRow): SessionPart {
  const { session, key_id, project, agent, started_ms, nano_usd, new_tokens } = row;
  const { input_tokens, output_tokens, cache_read_tokens } = row;
  return {
    ...{ session: session ?? '', key_id, project, agent: agent ?? '', first: started_ms, last: started_ms },
    ...{ requests: 1, input_tokens, output_tokens, cache_read_tokens },
    new_tokens: new_tokens ?? input_tokens + output_tokens,
    nano_usd: nano_usd ?? 0,
    unpriced: nano_usd === null ? 1 : 0,
  };
}

function add(one: SessionPart, other: SessionPart): SessionPart {
  const added = amounts.map((name) => [name, one[name] + other[name]]);
  return {
    ...one,
    ...Object.fromEntries(added), // it has all of `amounts`
    agent: one.agent > other.agent ? one.agent : other.agent,
    first: Math.min(one.first, other.first),
    last: Math.max(one.last, other.last),
  };
}

function toSum({ key_id, first, last, nano_usd, ...part }: SessionPart): SessionSum {
  const { session, project, agent, requests, input_tokens, output_tokens } = part;
  const { cache_read_tokens, new_tokens, unpriced } = part;
  return {
    ...{ session, key: key_id, project, agent, started_ms: first, last_ms: last, requests },
    ...{ input_tokens, output_tokens, cache_read_tokens, new_tokens },
    cost_usd: nano_usd / nanoUsdPerUsd,
    unpriced,
  };
}

/** The same name of another key is another session. Names have no ends of lines. */
function idOf({ session, key_id }: Pick<LedgerRow, 'session' | 'key_id'>): string {
  return `${session}\n${key_id}`;
}
