import { resolve } from 'node:path';
import { GatewayError } from '../errors.ts';
import { sqliteFailure } from './failures.ts';
import { checkSqliteFile, prepareSqliteFile } from './sqlite-file.ts';

export type SqliteValue = string | number | null;

export interface SqliteStatement {
  all(...parameters: readonly SqliteValue[]): unknown[];
  run(...parameters: readonly SqliteValue[]): { readonly changes: number | bigint };
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

/** Two connections to one file: in WAL mode readers never wait, so they must not queue behind a writer. */
export interface SqliteEngines {
  readonly writer: SqliteEngine;
  readonly reader: SqliteEngine;
}

export interface SqliteModule {
  readonly DatabaseSync: new (file: string) => SqliteEngine;
}

// Two processes that turn on WAL in the same new file at once: one gets "locked" without waiting.
const walAttempts = 50;
const walPauseMs = 50;

/** Opens (and creates) a database file that only its owner can read. Throws config.invalid if it can't be used. */
export async function openSqlite(file: string): Promise<SqliteEngines> {
  const { DatabaseSync } = await loadSqlite();
  // Absolute, since SQLite gives ":memory:" and "file:…" a meaning of their own.
  const path = resolve(file);
  const opened: SqliteEngine[] = [];
  const open = () => {
    const engine = new DatabaseSync(path);
    opened.push(engine);
    // SQLite would wait for a lock inside the call, and everything else in this process with it: the driver retries.
    engine.exec('PRAGMA busy_timeout = 0');
    return engine;
  };
  try {
    prepareSqliteFile(path);
    const writer = open();
    await turnOnWal(writer);
    // WAL with FULL syncs the log at every commit: what was acknowledged survives a crash of the machine.
    writer.exec('PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON');
    const reader = open();
    reader.exec('PRAGMA query_only = ON');
    return { writer, reader };
  } catch (cause) {
    for (const engine of opened) engine.close();
    throw toOpenError(path, cause);
  }
}

/** Opens a file that is there already, for reading alone; another process may write it meanwhile. */
export async function openSqliteReader(file: string): Promise<SqliteEngine> {
  const { DatabaseSync } = await loadSqlite();
  const path = resolve(file);
  let engine: SqliteEngine | undefined;
  try {
    checkSqliteFile(path);
    engine = new DatabaseSync(path);
    engine.exec('PRAGMA busy_timeout = 5000; PRAGMA query_only = ON');
    return engine;
  } catch (cause) {
    engine?.close();
    throw toOpenError(path, cause);
  }
}

function toOpenError(path: string, cause: unknown): GatewayError {
  if (cause instanceof GatewayError) return cause;
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new GatewayError('config.invalid', `can't open the SQLite database ${path}: ${reason}`, { cause });
}

async function turnOnWal(engine: SqliteEngine): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return engine.exec('PRAGMA journal_mode = WAL');
    } catch (error) {
      if (attempt === walAttempts || !/locked|busy/i.test(String(error))) throw error;
      await new Promise((resume) => setTimeout(resume, walPauseMs));
    }
  }
}

/** node:sqlite where this Node has it (from 22), else the same API as a package. */
export async function loadSqlite(): Promise<SqliteModule> {
  const name: string = 'node:sqlite';
  const loaded: unknown = await withoutExperimentalWarning(() => import(name)).catch(
    () => import('@photostructure/sqlite'),
  );
  return loaded as SqliteModule; // both have DatabaseSync; the types of Node 20 don't know node:sqlite
}

// Node 22 announces node:sqlite as experimental on stderr, where people read what the service logs.
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

const lockWaitMs = 5_000;
const lockPauseMs = 1;

/**
 * One transaction, which waits for other processes that write. It blocks the thread, and so belongs where nothing
 * else runs: into a thread of its own, or into a command.
 */
export function transaction<Value>(engine: SqliteEngine, work: () => Value): Value {
  begin(engine, performance.now() + lockWaitMs);
  try {
    const value = work();
    engine.exec('commit');
    return value;
  } catch (error) {
    try {
      engine.exec('rollback');
    } catch {
      // SQLite itself has rolled back, as it does where the disk is full.
    }
    throw error;
  }
}

function begin(engine: SqliteEngine, deadline: number): void {
  for (;;) {
    try {
      return engine.exec('begin immediate');
    } catch (error) {
      if (sqliteFailure(error) !== 'locked' || performance.now() > deadline) throw error;
    }
    // SQLite's own waiting becomes longer and longer, up to a tenth of a second.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, lockPauseMs);
  }
}
