import { dirname, resolve } from 'node:path';
import { openSqliteReader, type SqliteEngine } from '../../database/sqlite-engine.ts';
import { prepareSqliteFile } from '../../database/sqlite-file.ts';
import { GatewayError } from '../../errors.ts';
import { makeDirectory } from '../../make-directory.ts';
import type { Intent, KnownSum, WantedSum } from './ledger-row.ts';
import { stateOfSchema } from './ledger-schema.ts';
import { quarterOf } from './quarters.ts';

/**
 * The sums of a file that no thread has opened yet; undefined for one of an older version, which the ledger's thread
 * migrates first. Creates an empty file if there is none, so that a path where none can be created is known at once;
 * throws then.
 */
export async function readFileSums(
  path: string,
  wanted: readonly WantedSum[],
): Promise<readonly KnownSum[] | undefined> {
  const file = resolve(path);
  makeDirectory(dirname(file));
  prepareSqliteFile(file);
  const engine = await openSqliteReader(file);
  try {
    const state = stateOfSchema(engine);
    if (state === 'older') return undefined;
    return state === 'none'
      ? wanted.map((each) => ({ ...each, tokens: 0, nanoUsd: 0 }))
      : readSums(engine, wanted);
  } finally {
    engine.close();
  }
}

/** Including the worst case of everything that is open, in any process. */
export function readSums(engine: SqliteEngine, wanted: readonly WantedSum[]): readonly KnownSum[] {
  const open = [...readOpenIntents(engine).values()];
  const used = usedIn(engine, wanted);
  return wanted.map((each) => {
    const { scope, name } = each;
    const { tokens = 0, nanoUsd = 0 } = used(each) ?? {};
    const known = { ...each, tokens, nanoUsd };
    const { since, until } = quartersOf(each);
    for (const intent of open) {
      const of = scope === 'project' ? intent.project : intent.keyId;
      const quarter = quarterOf(intent.startedMs);
      if (of !== name || quarter < since || quarter >= until) continue;
      known.tokens += intent.inputTokens + intent.outputTokens;
      known.nanoUsd += intent.nanoUsd ?? 0;
    }
    return known;
  });
}

type Used = Pick<KnownSum, 'tokens' | 'nanoUsd'>;

/** Each sum reads all rows of its day or month; from so many on, one that groups them by name is faster. */
const manySums = 8;

/** Finds what a project or key has used. */
function usedIn(engine: SqliteEngine, wanted: readonly WantedSum[]): (sum: WantedSum) => Used | undefined {
  // `sum` fails where the result has more bits than a number of JavaScript or of SQLite. With `+` the end is no bound of
  // the search, which reads on: in a damaged file it would otherwise stop at a row that only seems to be later.
  const select = (column: string) =>
    `select ${column} as name, total(input_tokens + output_tokens) as tokens, total(nano_usd) as nanoUsd
     from sums where quarter >= ? and +quarter < ?`;
  const columnOf = (scope: WantedSum['scope']) => (scope === 'project' ? 'project' : 'key_id');
  const periodOf = (sum: WantedSum) => {
    const { since, until } = quartersOf(sum);
    return `${sum.scope} ${since} ${until}`;
  };
  const grouped = new Map<string, ReadonlyMap<string, Used>>();
  return (sum) => {
    const column = columnOf(sum.scope);
    const { since, until } = quartersOf(sum);
    const id = periodOf(sum);
    const known = grouped.get(id);
    if (known !== undefined) return known.get(sum.name);
    if (wanted.filter((other) => periodOf(other) === id).length < manySums) {
      const [row] = engine.prepare(`${select(column)} and ${column} = ?`).all(since, until, sum.name) as [
        Used,
      ];
      return row;
    }
    const rows = engine.prepare(`${select(column)} group by ${column}`).all(since, until) as (Used & {
      name: string;
    })[];
    grouped.set(id, new Map(rows.map((row) => [row.name, row])));
    return grouped.get(id)?.get(sum.name);
  };
}

function quartersOf({ sinceMs, untilMs }: WantedSum): { readonly since: number; readonly until: number } {
  return { since: quarterOf(sinceMs), until: quarterOf(untilMs) };
}

/** By request id, so that a group that was written twice counts once; of one owner or of all. */
export function readOpenIntents(engine: SqliteEngine, owner?: string): Map<string, Intent> {
  const isFinished = engine.prepare('select 1 from exchanges where started_ms = ? and request_id = ?');
  const groups = engine.prepare('select open from intents where owner = ? or ? is null');
  const open = new Map<string, Intent>();
  for (const group of groups.all(owner ?? null, owner ?? null) as readonly { open: string }[]) {
    for (const intent of parseGroup(group.open)) {
      if (isFinished.all(intent.startedMs, intent.requestId).length === 0) open.set(intent.requestId, intent);
    }
  }
  return open;
}

/** Throws config.invalid for a damaged one, without its content. */
function parseGroup(json: string): readonly Intent[] {
  try {
    return JSON.parse(json) as readonly Intent[]; // written by this program
  } catch {
    throw new GatewayError('config.invalid', 'the database is damaged: its open requests are unreadable');
  }
}
