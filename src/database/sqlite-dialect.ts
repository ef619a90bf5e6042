import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
  RawNode,
  type RootOperationNode,
  SelectQueryNode,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import { GatewayError } from '../errors.ts';
import { sqliteFailure } from './failures.ts';
import type { SqliteEngine, SqliteEngines, SqliteStatement, SqliteValue } from './sqlite-engine.ts';

/** The only writer's place on a SQLite connection, and the patience with other processes that hold the file's lock. */
interface WriteLock {
  /** Resolves when it is the caller's. Throws store.database if that takes too long or too many wait. */
  acquire(): Promise<void>;
  release(): void;
}

interface Waiting {
  readonly resolve: () => void;
  readonly timer: NodeJS.Timeout;
}

/** How long a request waits for a lock in all: this process's, then the file's. */
const lockWaitMs = 5_000;
const waitingLimit = 1_000;
const shortestPauseMs = 2;
const longestPauseMs = 50;

/** One holder at a time, in the order of asking. */
function createWriteLock(): WriteLock {
  const waiting = new Set<Waiting>();
  let isHeld = false;
  return {
    acquire: () => {
      if (!isHeld) {
        isHeld = true;
        return Promise.resolve();
      }
      if (waiting.size >= waitingLimit) return Promise.reject(busyFailure());
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          waiting.delete(entry);
          reject(busyFailure());
        }, lockWaitMs);
        const entry: Waiting = { resolve, timer };
        waiting.add(entry);
      });
    },
    release: () => {
      const [next] = waiting;
      if (next === undefined) {
        isHeld = false;
        return;
      }
      waiting.delete(next);
      clearTimeout(next.timer);
      next.resolve();
    },
  };
}

/** Runs the work again while another process has the file locked, leaving the event loop free in between. */
async function whileBusy<Value>(deadline: number, work: () => Value): Promise<Value> {
  for (let pauseMs = shortestPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    try {
      return work();
    } catch (error) {
      if (sqliteFailure(error) !== 'locked') throw error;
      if (performance.now() + pauseMs > deadline) throw busyFailure(error);
    }
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

function busyFailure(cause?: unknown): GatewayError {
  return new GatewayError('store.database', "the store's database is busy; try again soon", {
    cause,
    retryAfterS: 1,
  });
}

// Statements kept ready; queries come in a few dozen shapes, so the bound is only a safeguard.
const statementLimit = 256;

/** kysely on two synchronous SQLite connections: one writes, one transaction at a time; the other reads meanwhile. */
export function sqliteDialect(engines: SqliteEngines): Dialect {
  return {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => createDriver(engines),
    createIntrospector: (database) => new SqliteIntrospector(database),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  };
}

type Run = (query: CompiledQuery) => QueryResult<unknown>;

function createDriver({ writer, reader }: SqliteEngines): Driver {
  const lock = createWriteLock();
  const write = createRun(writer);
  const read = createRun(reader);
  const session = (connection: DatabaseConnection) => connection as Session; // kysely returns what it acquired
  return {
    init: async () => undefined,
    acquireConnection: async () => new Session({ lock, write, read }),
    beginTransaction: (connection) => session(connection).begin(),
    commitTransaction: async (connection) => session(connection).commit(),
    rollbackTransaction: async (connection) => session(connection).rollback(),
    releaseConnection: async (connection) => session(connection).end(),
    destroy: async () => {
      reader.close();
      writer.close();
    },
  };
}

interface Parts {
  readonly lock: WriteLock;
  readonly write: Run;
  readonly read: Run;
}

/** A connection in kysely's eyes: one transaction, or single queries. */
class Session implements DatabaseConnection {
  readonly #parts: Parts;
  readonly #deadline = performance.now() + lockWaitMs;
  #hasLock = false;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    const { write, read } = this.#parts;
    // kysely's types describe the rows; here they are whatever SQLite returns.
    if (this.#hasLock) return write(query) as QueryResult<Row>;
    if (SelectQueryNode.is(query.query)) {
      return (await whileBusy(this.#deadline, () => read(query))) as QueryResult<Row>;
    }
    await this.#lock();
    try {
      return (await whileBusy(this.#deadline, () => write(query))) as QueryResult<Row>;
    } finally {
      this.end();
    }
  }

  // A generator because kysely's interface is one; nothing here streams.
  // biome-ignore lint/correctness/useYield: see above
  async *streamQuery(): AsyncIterableIterator<never> {
    throw new Error('streaming is not needed by this service');
  }

  /** Immediate: a transaction that begins by reading could not get the write lock later without failing. */
  async begin(): Promise<void> {
    await this.#lock();
    try {
      await whileBusy(this.#deadline, () => this.#run('begin immediate'));
    } catch (error) {
      this.end();
      throw error;
    }
  }

  commit(): void {
    this.#run('commit');
  }

  rollback(): void {
    try {
      this.#run('rollback');
    } catch {
      // SQLite itself has rolled back, as it does where the disk is full; what failed first is thrown instead.
    }
  }

  end(): void {
    if (!this.#hasLock) return;
    this.#hasLock = false;
    this.#parts.lock.release();
  }

  async #lock(): Promise<void> {
    await this.#parts.lock.acquire();
    this.#hasLock = true;
  }

  #run(sql: string): void {
    this.#parts.write(CompiledQuery.raw(sql));
  }
}

interface Prepared {
  readonly statement: SqliteStatement;
  readonly all: (values: readonly SqliteValue[]) => unknown[];
}

/** Runs queries on one connection; prepared statements are kept. */
function createRun(engine: SqliteEngine): Run {
  const known = new Map<string, Prepared>();
  const prepare = (sql: string): Prepared => {
    const found = known.get(sql);
    if (found !== undefined) return found;
    const statement = engine.prepare(sql);
    const prepared = { statement, all: rowReader(statement) };
    const [oldest] = known.keys();
    if (known.size >= statementLimit && oldest !== undefined) known.delete(oldest);
    known.set(sql, prepared);
    return prepared;
  };
  return ({ sql, parameters, query }) => {
    const { statement, all } = prepare(sql);
    const values = parameters as readonly SqliteValue[]; // the schema has no other column types
    if (hasRows(query)) return { rows: all(values) };
    return { rows: [], numAffectedRows: BigInt(statement.run(...values).changes) };
  };
}

/**
 * Reads rows as arrays and builds the objects here: the driver takes longer to build an object than SQLite
 * to find its row. So queries must name their columns; those of a `*` could change under a kept statement.
 */
function rowReader(statement: SqliteStatement): Prepared['all'] {
  const names = statement.columns?.().map(({ name }) => name);
  if (names === undefined || names.length === 0 || statement.setReturnArrays === undefined) {
    return (values) => statement.all(...values);
  }
  statement.setReturnArrays(true);
  return (values) => statement.all(...values).map((row) => toObject(names, row as readonly unknown[])); // see above
}

function toObject(names: readonly string[], row: readonly unknown[]): Record<string, unknown> {
  const object: Record<string, unknown> = {};
  for (let i = 0; i < names.length; i += 1) object[names[i] as string] = row[i]; // i is in range
  return object;
}

function hasRows(query: RootOperationNode): boolean {
  return (
    SelectQueryNode.is(query) || RawNode.is(query) || ('returning' in query && query.returning !== undefined)
  );
}
