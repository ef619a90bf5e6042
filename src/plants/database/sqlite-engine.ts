import { chmodSync, closeSync, openSync } from 'node:fs';
import { GatewayError } from '../../errors.ts';

export type SqliteValue = string | number | null;

export interface SqliteStatement {
  all(...parameters: readonly SqliteValue[]): unknown[];
  run(...parameters: readonly SqliteValue[]): { readonly changes: number | bigint };
  /** Missing, like the next one, from the first versions of node:sqlite. */
  columns?(): readonly { readonly name: string }[];
  setReturnArrays?(areArrays: boolean): void;
}

/**
 * What this service uses of DatabaseSync, which node:sqlite and its stand-in for Node 20 have alike.
 * It must be kept for as long as its statements are: they don't hold it, and crash without it.
 */
export interface SqliteEngine {
  prepare(sql: string): SqliteStatement;
  exec(sql: string): void;
  close(): void;
}

interface SqliteModule {
  readonly DatabaseSync: new (file: string) => SqliteEngine;
}

// Two processes that turn on WAL in the same new file at once: one is told "locked" without waiting.
const walAttempts = 50;
const walPauseMs = 50;

/** Opens (and makes) a database file that only its owner can read, so that every commit is on the disk. */
export async function openSqlite(file: string): Promise<SqliteEngine> {
  const { DatabaseSync } = await loadModule();
  try {
    closeSync(openSync(file, 'a', 0o600));
    chmodSync(file, 0o600);
    const engine = new DatabaseSync(file);
    engine.exec('PRAGMA busy_timeout = 5000');
    await turnOnWal(engine);
    // WAL with FULL syncs the log at every commit: what was acknowledged survives a crash of the machine.
    engine.exec('PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON');
    return engine;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new GatewayError('config.invalid', `can't open the SQLite database ${file}: ${reason}`, { cause });
  }
}

async function turnOnWal(engine: SqliteEngine): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return engine.exec('PRAGMA journal_mode = WAL');
    } catch (error) {
      if (attempt === walAttempts || !/locked|busy/i.test(String(error))) throw error;
      await new Promise((resolve) => setTimeout(resolve, walPauseMs));
    }
  }
}

/** node:sqlite where this Node has it (from 22), else the same API as a package. */
async function loadModule(): Promise<SqliteModule> {
  const name: string = 'node:sqlite';
  const loaded: unknown = await withoutExperimentalWarning(() => import(name)).catch(
    () => import('@photostructure/sqlite'),
  );
  return loaded as SqliteModule; // both have DatabaseSync; the types of Node 20 don't know node:sqlite
}

// Node 22 announces node:sqlite as experimental on stderr, where people read what the service says.
async function withoutExperimentalWarning<Value>(load: () => Promise<Value>): Promise<Value> {
  const { emitWarning } = process;
  process.emitWarning = ((warning: string | Error, ...rest: unknown[]) => {
    if (!String(warning).startsWith('SQLite is an experimental')) {
      Reflect.apply(emitWarning, process, [warning, ...rest]);
    }
  }) as typeof emitWarning; // overloads; every one is passed on as it came
  try {
    return await load();
  } finally {
    process.emitWarning = emitWarning;
  }
}
