import { dirname, resolve } from 'node:path';
import { openSqliteReader, type SqliteEngine } from '../../database/sqlite-engine.ts';
import { prepareSqliteFile } from '../../database/sqlite-file.ts';
import { GatewayError } from '../../errors.ts';
import { makeDirectory } from '../../make-directory.ts';
import type { Intent, KnownSum, WantedSum } from './ledger-row.ts';
import { quarterMs, stateOfSchema } from './ledger-schema.ts';

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
  const sums = {
    project: engine.prepare(sumOf('project')),
    key: engine.prepare(sumOf('key_id')),
  };
  const open = [...readOpenIntents(engine).values()];
  return wanted.map((each) => {
    const since = Math.floor(each.sinceMs / quarterMs);
    const [found] = sums[each.scope].all(each.name, since) as [Pick<KnownSum, 'tokens' | 'nanoUsd'>];
    const known = { ...each, ...found }; // an aggregate has one row
    for (const { startedMs, project, keyId, inputTokens, outputTokens, nanoUsd } of open) {
      const name = each.scope === 'project' ? project : keyId;
      if (name !== each.name || startedMs < since * quarterMs) continue;
      known.tokens += inputTokens + outputTokens;
      known.nanoUsd += nanoUsd ?? 0;
    }
    return known;
  });
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

function sumOf(column: string): string {
  // `sum` fails where the result has more bits than a number of JavaScript or of SQLite; `total` is 0 without rows.
  return `select total(input_tokens + output_tokens) as tokens, total(nano_usd) as nanoUsd
    from sums where ${column} = ? and quarter >= ?`;
}
