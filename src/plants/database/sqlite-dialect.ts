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

function createConnection(engine: SqliteEngine): DatabaseConnection {
  const statements = new Map<string, SqliteStatement>();
  const prepare = (sql: string): SqliteStatement => {
    const known = statements.get(sql);
    if (known !== undefined) return known;
    const statement = engine.prepare(sql);
    const [oldest] = statements.keys();
    if (statements.size >= statementLimit && oldest !== undefined) statements.delete(oldest);
    statements.set(sql, statement);
    return statement;
  };
  return {
    executeQuery: async <Row>({ sql, parameters, query }: CompiledQuery): Promise<QueryResult<Row>> => {
      const statement = prepare(sql);
      const values = parameters as readonly SqliteValue[]; // the schema has no other column types
      if (hasRows(query)) return { rows: statement.all(...values) as Row[] }; // typed by the query that asked
      return { rows: [], numAffectedRows: BigInt(statement.run(...values).changes) };
    },
    streamQuery: () => {
      throw new Error('streaming is not needed by this service');
    },
  };
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
