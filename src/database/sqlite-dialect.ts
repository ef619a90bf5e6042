import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import { GatewayError } from '../errors.ts';
import { sqliteFailure } from './failures.ts';
import type { SqliteEngine, SqliteEngines, SqliteStatement, SqliteValue } from './sqlite-engine.ts';

/** How long a request waits for a lock in all: this process's, then the file's. */
const lockWaitMs = 5_000;
const minPauseMs = 2;
const maxPauseMs = 50;
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

function createDriver({ writer, reader }: SqliteEngines): Driver {
  const parts = { lock: createWriteLock(), write: createRun(writer), read: createRun(reader) };
  const session = (connection: DatabaseConnection) => connection as SqliteSession; // kysely returns what it acquired
  return {
    init: async () => undefined,
    acquireConnection: async () => new SqliteSession(parts),
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

/** Resolves when the writing connection is the caller's, in the order of asking, with the function that passes it on. */
type WriteLock = () => Promise<() => void>;

function createWriteLock(): WriteLock {
  let last = Promise.resolve();
  return () => {
    const before = last;
    return new Promise((acquired) => {
      last = new Promise((release) => void before.then(() => acquired(release)));
    });
  };
}

type RunQuery = (query: Pick<CompiledQuery, 'sql' | 'parameters'>) => QueryResult<unknown>;

interface Parts {
  readonly lock: WriteLock;
  readonly write: RunQuery;
  readonly read: RunQuery;
}

/** A connection in kysely's eyes: one transaction, or single queries. */
class SqliteSession implements DatabaseConnection {
  readonly #parts: Parts;
  readonly #deadline = performance.now() + lockWaitMs;
  #release: (() => void) | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    const { write, read } = this.#parts;
    // kysely's types describe the rows; here they have SQLite's own types.
    if (this.#release !== undefined) return write(query) as QueryResult<Row>;
    if (query.sql.startsWith('select')) return (await this.#whileBusy(() => read(query))) as QueryResult<Row>;
    return (await this.#locked(() => write(query))) as QueryResult<Row>;
  }

  // A generator because kysely's interface is one; nothing here streams.
  // biome-ignore lint/correctness/useYield: see above
  async *streamQuery(): AsyncIterableIterator<never> {
    throw new Error('streaming is not needed by this service');
  }

  /** Immediate: a transaction that begins by reading could not get the write lock later without failing. */
  async begin(): Promise<void> {
    const { lock } = this.#parts;
    this.#release = await lock();
    await this.#whileBusy(() => this.#run('begin immediate')).catch((error) => {
      this.end();
      throw error;
    });
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
    this.#release?.();
    this.#release = undefined;
  }

  async #locked<Value>(work: () => Value): Promise<Value> {
    const { lock } = this.#parts;
    const release = await lock();
    return this.#whileBusy(work).finally(release);
  }

  /** Runs the work again while another process has the file locked, leaving the event loop free in between. */
  async #whileBusy<Value>(work: () => Value): Promise<Value> {
    for (let pauseMs = minPauseMs; ; pauseMs = Math.min(pauseMs * 2, maxPauseMs)) {
      try {
        return work();
      } catch (cause) {
        if (sqliteFailure(cause) !== 'locked') throw cause;
        if (performance.now() + pauseMs > this.#deadline) {
          throw new GatewayError('store.database', "the store's database is busy; try again soon", {
            cause,
            retryAfterS: 1,
          });
        }
      }
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }

  #run(sql: string): void {
    this.#parts.write(CompiledQuery.raw(sql));
  }
}

/** Runs queries, which name their columns, on one connection; prepared statements are kept. */
function createRun(engine: SqliteEngine): RunQuery {
  const known = new Map<string, SqliteStatement>();
  return ({ sql, parameters }) => {
    let statement = known.get(sql);
    if (statement === undefined) {
      statement = engine.prepare(sql);
      if (known.size >= statementLimit) known.clear();
      known.set(sql, statement);
    }
    return { rows: statement.all(...(parameters as readonly SqliteValue[])) }; // the schema has no other column types
  };
}
