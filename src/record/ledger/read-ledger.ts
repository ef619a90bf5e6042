import { isConnectionLost, postgresRemedy } from '../../database/failures.ts';
import { messageOfError } from '../../lib/message-of.ts';
import { openOf, rowsOf } from './journal/segments.ts';
import { readLedgerFile } from './ledger-file.ts';
import {
  addUp,
  type Intent,
  type KnownSum,
  type LedgerRow,
  quartersOf,
  type Used,
  type WantedSum,
} from './ledger-row.ts';
import {
  anyKey,
  type LedgerPlace,
  type LedgerTables,
  type ReadLedger,
  type ReadSegment,
  type SegmentId,
} from './ledger-store.ts';
import { type TurnQuery, withRecorded } from './recorded-turns.ts';
import { listTurns, type SessionQuery, type SessionSum, sumSessions } from './session-report.ts';
import { sumUsage, type UsageQuery, type UsageSum } from './usage-report.ts';

/** Why the ledger could not be written or read. */
export class LedgerFailure extends Error {
  /** Whether the database just does not answer, so that the settings may be right. */
  readonly isAway: boolean;

  constructor(cause: unknown, { isAway = false } = {}) {
    const remedy = postgresRemedy(cause);
    super(remedy === undefined ? messageOfError(cause) : `${messageOfError(cause)}; ${remedy}`, { cause });
    this.isAway = isAway;
  }
}

/**
 * What was used, with the worst case of everything that is open, whoever writes the ledger meanwhile. Blocks for as long as
 * SQLite reads the sums of the days or months. Throws LedgerFailure.
 */
export async function readLedgerSums(
  place: LedgerPlace,
  wanted: readonly WantedSum[],
): Promise<readonly KnownSum[]> {
  if (wanted.length === 0) return [];
  try {
    return await readLedger(place, async (tables, { rows, open }) =>
      addUp(wanted, await readStored(tables, wanted), [...open, ...rows]),
    );
  } catch (cause) {
    throw new LedgerFailure(cause, { isAway: place.url !== undefined && isConnectionLost(cause) });
  }
}

/** The same in two parts: what was used, and the worst case of what is open. */
export async function readBudgetSums(
  place: LedgerPlace,
  wanted: readonly WantedSum[],
): Promise<{ readonly used: readonly KnownSum[]; readonly reserved: readonly KnownSum[] }> {
  return readLedger(place, async (tables, { rows, open }) => ({
    used: addUp(wanted, await readStored(tables, wanted), rows),
    reserved: addUp(wanted, [], open),
  }));
}

/** Usage so far; none if nothing was served yet. */
export async function readUsage(place: LedgerPlace, query: UsageQuery): Promise<readonly UsageSum[]> {
  return readLedger(place, (tables, { rows }) => sumUsage(tables, query, rows));
}

/** The sessions with the latest requests. */
export async function readSessions(place: LedgerPlace, query: SessionQuery): Promise<readonly SessionSum[]> {
  return readLedger(place, (tables, { rows }) => sumSessions(tables, query, rows));
}

/**
 * The last exchanges of a session, whichever key it is of: rows of the ledger, what is still in the journal, and records of
 * this machine.
 */
export async function readTurns(
  { place, records }: { readonly place: LedgerPlace; readonly records: string | undefined },
  query: TurnQuery,
): Promise<readonly LedgerRow[]> {
  const rows = await readLedger(place, (tables, journal) => listTurns(tables, query, journal.rows));
  return withRecorded(rows, records, query);
}

/** What the budgets of a session or a run were raised by, in their counters' units. Throws LedgerFailure. */
export async function readRaises(
  place: LedgerPlace,
  { key, session }: { readonly key: string; readonly session: string },
): Promise<Readonly<Record<string, number>>> {
  const read = async (tables: LedgerTables | undefined) => {
    if (tables?.names.session_raises === undefined) return {};
    const rows = await tables.select<{ readonly limit_name: string; readonly amount: number }>(
      `select limit_name, amount from ${tables.names.session_raises} where session = $1 and key_id in ($2, $3)`,
      [session, key, anyKey],
    );
    const raises: Record<string, number> = {};
    for (const { limit_name, amount } of rows) raises[limit_name] = (raises[limit_name] ?? 0) + amount;
    return raises;
  };
  try {
    return await readLedger(place, read);
  } catch (cause) {
    throw new LedgerFailure(cause);
  }
}

/** What the journal has that the tables don't: the exchanges that are over, and those that are not, as far as it says. */
interface Unmoved {
  readonly rows: readonly LedgerRow[];
  readonly open: readonly Intent[];
}

/** Attempts at reading a state in which nothing open may have ended already. */
const maxAttempts = 5;

async function readLedger<Value>(
  place: LedgerPlace,
  read: (tables: LedgerTables | undefined, unmoved: Unmoved) => Promise<Value>,
): Promise<Value> {
  for (let attempt = 1; ; attempt += 1) {
    const found = await readOnce(place, async (tables, journal) => {
      const { isCurrent, ...unmoved } = await unmovedOf(tables, journal);
      if (isCurrent || attempt === maxAttempts) return { value: await read(tables, unmoved) };
      return undefined;
    });
    if (found !== undefined) return found.value;
  }
}

async function readOnce<Value>({ path, url, journal }: LedgerPlace, read: ReadLedger<Value>): Promise<Value> {
  if (path !== undefined) return readLedgerFile(path, journal, read);
  const { readPostgresLedger } = await import('./postgres-ledger.ts');
  return readPostgresLedger(url, journal, read);
}

/**
 * `isCurrent`: unless the last segment of a process was moved since it was read. Then what is open in it may have ended
 * there, and counts in the sums too.
 */
async function unmovedOf(
  tables: LedgerTables | undefined,
  journal: readonly ReadSegment[],
): Promise<Unmoved & { readonly isCurrent: boolean }> {
  const moved = await movedSegments(tables);
  const isMoved = ({ owner, number }: SegmentId) => number <= (moved.get(owner) ?? -1);
  const rows = rowsOf(journal.filter((segment) => !isMoved(segment)).flatMap(({ entries }) => entries));
  const open = openOf(journal.flatMap(({ entries }) => entries));
  const last = new Map(journal.map((segment) => [segment.owner, segment]));
  const isCurrent = open.length === 0 || ![...last.values()].some(isMoved);
  // Of what is both, the row counts.
  const unstored = await withoutStored(tables, [...open, ...rows]);
  return {
    rows: rows.filter((row) => unstored.has(row)),
    open: open.filter((intent) => unstored.has(intent)),
    isCurrent,
  };
}

async function movedSegments(tables: LedgerTables | undefined): Promise<ReadonlyMap<string, number>> {
  const table = tables?.names.moved_segments;
  if (tables === undefined || table === undefined) return new Map();
  const found = await tables.select<SegmentId>(`select owner, number from ${table}`, []);
  return new Map(found.map(({ owner, number }) => [owner, number]));
}

/** Those that the tables have no row of. */
async function withoutStored<Exchange extends Intent>(
  tables: LedgerTables | undefined,
  exchanges: readonly Exchange[],
): Promise<ReadonlySet<Exchange>> {
  const byId = new Map(exchanges.map((exchange) => [exchange.request_id, exchange]));
  for (const id of (await tables?.findStored([...byId.values()])) ?? []) byId.delete(id);
  return new Set(byId.values());
}

/** All sums of the same kind and period are read in one query, that of a session in one of its own. */
async function readStored(
  tables: LedgerTables | undefined,
  wanted: readonly WantedSum[],
): Promise<readonly (Used | undefined)[]> {
  if (tables === undefined) return [];
  const { sums, session_sums: sessionSums } = tables.names;
  const tokens = `${tables.sumOf('input_tokens + output_tokens')} as tokens, ${tables.sumOf('nano_usd')} as "nanoUsd"`;
  const requests = `${tables.sumOf('requests')} as requests`;
  const read = async (column: string, since: number, until: number) => {
    // With `+` the end is no bound of the search, which reads on: in a damaged file it would otherwise stop at a row that
    // only seems to be later.
    const rows = await tables.select<Omit<Used, 'newTokens'> & { readonly name: string }>(
      `select ${column} as name, ${requests}, ${tokens}
       from ${sums} where quarter >= $1 and +quarter < $2 group by ${column}`,
      [since, until],
    );
    // Only sessions' budgets count new tokens.
    return new Map(rows.map((used) => [used.name, { ...used, newTokens: 0 }]));
  };
  const readSession = async (session: string, key: string) => {
    if (sessionSums === undefined) return undefined;
    const [used] = await tables.select<Used>(
      `select ${requests}, ${tokens}, ${tables.sumOf('new_tokens')} as "newTokens"
       from ${sessionSums} where session = $1 and key_id = $2 group by session`,
      [session, key],
    );
    return used;
  };
  const periods = new Map<string, Awaited<ReturnType<typeof read>>>();
  const stored: (Used | undefined)[] = [];
  for (const sum of wanted) {
    if (sum.session !== undefined) {
      stored.push(await readSession(sum.session, sum.name));
      continue;
    }
    const { since, until } = quartersOf(sum);
    const column = sum.scope === 'project' ? 'project' : 'key_id';
    const id = `${column} ${since} ${until}`;
    const period = periods.get(id) ?? (await read(column, since, until));
    periods.set(id, period);
    stored.push(period.get(sum.name));
  }
  return stored;
}
