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
import type { SqliteEngine, SqliteEngines, SqliteStatement, SqliteValue } from './sqlite-engine.ts';
import { createWriteLock, lockWaitMs, type WriteLock, whileBusy } from './write-lock.ts';

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
