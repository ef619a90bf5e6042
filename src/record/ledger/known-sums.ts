import { dirname, resolve } from 'node:path';
import { openSqliteReader, type SqliteEngine } from '../../database/sqlite-engine.ts';
import { prepareSqliteFile } from '../../database/sqlite-file.ts';
import { makeDirectory } from '../../directories.ts';
import { type JournalContent, readJournal } from './journal/segments.ts';
import { addUp, type Intent, type KnownSum, quartersOf, type Used, type WantedSum } from './ledger-row.ts';
import { hasTables } from './ledger-schema.ts';
import { fileLedger } from './ledger-store.ts';

/**
 * The sums of a file that no thread has opened yet. Creates an empty file if there is none, so that a path where none can be
 * created is known at once; throws then.
 */
export async function readFileSums(path: string, wanted: readonly WantedSum[]): Promise<readonly KnownSum[]> {
  const file = resolve(path);
  makeDirectory(dirname(file));
  prepareSqliteFile(file);
  const journal = readJournal(fileLedger(file).journal);
  const engine = await openSqliteReader(file);
  try {
    return hasTables(engine) ? readSums(engine, wanted, journal) : addUp(wanted, [], allOf(journal));
  } finally {
    engine.close();
  }
}

/** The journal must have been read before: what leaves it is in the database by then, and counted there. */
export function readSums(
  engine: SqliteEngine,
  wanted: readonly WantedSum[],
  journal: JournalContent,
): readonly KnownSum[] {
  return inOneState(engine, () =>
    addUp(wanted, storedSums(engine, wanted), withoutStored(engine, allOf(journal))),
  );
}

/** All queries see the same state of the database, whoever writes it meanwhile. */
export function inOneState<Value>(engine: SqliteEngine, read: () => Value): Value {
  engine.exec('begin');
  try {
    return read();
  } finally {
    engine.exec('commit');
  }
}

/** Those that the database does not have yet. */
export function withoutStored<Exchange extends Intent>(
  engine: SqliteEngine,
  exchanges: readonly Exchange[],
): readonly Exchange[] {
  const find = engine.prepare('select 1 from exchanges where started_ms = ? and request_id = ?');
  return exchanges.filter(({ startedMs, requestId }) => find.all(startedMs, requestId).length === 0);
}

function allOf({ rows, open }: JournalContent): readonly Intent[] {
  const ids = new Set(rows.map(({ requestId }) => requestId));
  return [...rows, ...open.filter(({ requestId }) => !ids.has(requestId))];
}

/** Each sum reads all rows of its day or month; from so many on, one query that groups them by name is faster. */
const manySums = 8;

function storedSums(engine: SqliteEngine, wanted: readonly WantedSum[]): readonly (Used | undefined)[] {
  // `sum` fails where the result has more bits than a number of JavaScript or of SQLite. With `+` the end is no bound of
  // the search, which reads on: in a damaged file it would otherwise stop at a row that only seems to be later.
  const select = (column: string) =>
    `select ${column} as name, total(input_tokens + output_tokens) as tokens, total(nano_usd) as nanoUsd
     from sums where quarter >= ? and +quarter < ?`;
  const found: (Used | undefined)[] = [];
  for (const { column, since, until, sums } of periodsOf(wanted).values()) {
    if (sums.length < manySums) {
      const one = engine.prepare(`${select(column)} and ${column} = ?`);
      for (const { name, at } of sums) [found[at]] = one.all(since, until, name) as Used[];
      continue;
    }
    const all = engine.prepare(`${select(column)} group by ${column}`).all(since, until);
    const byName = new Map((all as (Used & { name: string })[]).map((used) => [used.name, used]));
    for (const { name, at } of sums) found[at] = byName.get(name);
  }
  return found;
}

/** What is read together: sums of the same kind of name in the same period, with their places in the list. */
function periodsOf(wanted: readonly WantedSum[]) {
  const periods = new Map<
    string,
    { column: string; since: number; until: number; sums: { name: string; at: number }[] }
  >();
  for (const [at, sum] of wanted.entries()) {
    const { since, until } = quartersOf(sum);
    const column = sum.scope === 'project' ? 'project' : 'key_id';
    const id = `${column} ${since} ${until}`;
    const period = periods.get(id) ?? { column, since, until, sums: [] };
    periods.set(id, period);
    period.sums.push({ name: sum.name, at });
  }
  return periods;
}
