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
import type { SqliteEngine, SqliteStatement, SqliteValue } from './sqlite-engine.ts';

// Statements kept ready; queries come in a few dozen shapes, so the bound is only a safeguard.
const statementLimit = 256;

/** kysely on one synchronous SQLite connection: prepared statements are kept, transactions take the write lock at once. */
export function sqliteDialect(engine: SqliteEngine): Dialect {
  return {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => createDriver(engine),
    createIntrospector: (database) => new SqliteIntrospector(database),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  };
}

function createDriver(engine: SqliteEngine): Driver {
  const connection = createConnection(engine);
  const turns = createTurns();
  const run = (sql: string) => connection.executeQuery(CompiledQuery.raw(sql));
  return {
    init: async () => undefined,
    acquireConnection: async () => {
      await turns.take();
      return connection;
    },
    // A transaction that begins by reading could not get the write lock later without failing.
    beginTransaction: async () => void (await run('begin immediate')),
    commitTransaction: async () => void (await run('commit')),
    rollbackTransaction: async () => void (await run('rollback')),
    releaseConnection: async () => turns.give(),
    destroy: async () => engine.close(),
  };
}

interface Prepared {
  readonly statement: SqliteStatement;
  readonly all: (values: readonly SqliteValue[]) => unknown[];
}

function createConnection(engine: SqliteEngine): DatabaseConnection {
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
  return {
    executeQuery: async <Row>({ sql, parameters, query }: CompiledQuery): Promise<QueryResult<Row>> => {
      const { statement, all } = prepare(sql);
      const values = parameters as readonly SqliteValue[]; // the schema has no other column types
      if (hasRows(query)) return { rows: all(values) as Row[] }; // typed by the query that asked
      return { rows: [], numAffectedRows: BigInt(statement.run(...values).changes) };
    },
    streamQuery: () => {
      throw new Error('streaming is not needed by this service');
    },
  };
}

/**
 * Reads rows as arrays and makes the objects here: the driver takes longer to make an object than SQLite
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

/** One holder at a time, in the order of asking. */
function createTurns() {
  const waiting: (() => void)[] = [];
  let isTaken = false;
  return {
    take: (): Promise<void> | undefined => {
      if (isTaken) return new Promise((resolve) => waiting.push(resolve));
      isTaken = true;
      return undefined;
    },
    give: () => {
      const next = waiting.shift();
      if (next === undefined) isTaken = false;
      else next();
    },
  };
}
