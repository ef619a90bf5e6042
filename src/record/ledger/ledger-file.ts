import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import {
  openSqlite,
  openSqliteReader,
  type SqliteEngine,
  type SqliteValue,
  transaction,
} from '../../database/sqlite-engine.ts';
import { GatewayError } from '../../errors.ts';
import { makeDirectory } from '../../lib/directories.ts';
import { readJournal } from './journal/segments.ts';
import {
  addedColumns,
  additions,
  definitions,
  earlierProviderSums,
  earlierTimes,
  exchangeColumns,
  exchangeNames,
  movedDefinitions,
  moveStatement,
  providerSums,
  raiseDefinitions,
  raiseStatement,
  type Sums,
  type SumTable,
  sessionSums,
  sumDefinitions,
  sumPruning,
  sums,
  sumsOf,
  sumTables,
  tableNames,
  timeDefinitions,
} from './ledger-columns.ts';
import { keptMs, type LedgerRow, oldestQuarter } from './ledger-row.ts';
import type {
  Addition,
  LedgerStore,
  LedgerTables,
  ReadLedger,
  Retention,
  SessionRaise,
} from './ledger-store.ts';

/** The ledger's file, opened for writing. Its methods block the thread. */
export type LedgerFile = ReturnType<typeof ledgerFile>;

const dayMs = 86_400_000;
// Few enough that others hardly wait for the deletion.
const pruneRows = 500;

const version = 2;

/**
 * Exchanges are in the order of their start, so that a commit writes few pages; their ids are random. A request has one
 * start, so it is unique with it.
 */
const types = { text: 'text', integer: 'integer', real: 'real' } as const;
const schema = `
create table exchanges (${definitions(exchangeColumns, types).join()},
  primary key (started_ms, request_id)) without rowid;
${createSums(sums)};
pragma user_version = ${version};
`;

/** What a ledger of a build before sessions lacks, beside `addedColumns`. */
const sessionSchema = `
${createSums(sessionSums)};
create index if not exists session_names on session_sums (session, key_id);
create index if not exists exchange_sessions on exchanges (session) where session is not null;
create table if not exists session_raises (${raiseDefinitions('integer')}) without rowid;
`;

/** What a ledger of a build before moved segments lacks. */
const movedSchema = `
${createSums(providerSums)};
create table moved_segments (${movedDefinitions('integer')}) without rowid;
insert into provider_sums (${providerSums.columns.join()})
  select ${providerSums.columns.join()} from ${earlierProviderSums('exchanges')};
`;

function createSums(table: SumTable): string {
  const { name, key } = table;
  return `create table if not exists ${name} (${sumDefinitions(table, 'integer')},
    primary key (${key.join()})) without rowid`;
}

/** Opens or creates the ledger. Throws if it can't be used. */
export async function openLedgerFile(path: string): Promise<LedgerFile> {
  makeDirectory(dirname(resolve(path)));
  const { writer, reader } = await openSqlite(path);
  reader.close();
  try {
    transaction(writer, () => {
      if (!hasTables(writer)) writer.exec(schema);
      addSessions(writer);
      if (!hasTable(writer, 'moved_segments')) addMoved(writer);
    });
    return ledgerFile(writer, prepareAdding(writer));
  } catch (error) {
    writer.close();
    throw error;
  }
}

function columnsOf(engine: SqliteEngine, table: string): ReadonlySet<string> {
  const rows = engine.prepare(`select name from pragma_table_info('${table}')`).all();
  return new Set((rows as { name: string }[]).map(({ name }) => name));
}

function addSessions(engine: SqliteEngine): void {
  const known = columnsOf(engine, 'exchanges');
  const missing = addedColumns.filter(({ name }) => !known.has(name));
  for (const definition of definitions(missing, types))
    engine.exec(`alter table exchanges add column ${definition}`);
  engine.exec(sessionSchema);
}

function addMoved(engine: SqliteEngine): void {
  if (!columnsOf(engine, sessionSums.name).has('first_ms')) {
    for (const definition of timeDefinitions('integer'))
      engine.exec(`alter table ${sessionSums.name} add column ${definition}`);
    engine.exec(earlierTimes(sessionSums.name, 'exchanges'));
  }
  engine.exec(movedSchema);
}

function ledgerFile(engine: SqliteEngine, add: (addition: Addition) => void) {
  const one = (sql: string) => Number(Object.values(engine.prepare(sql).all()[0] as object)[0]);
  return {
    add: (addition: Addition) => transaction(engine, () => add(addition)),
    maintain: ({ days, bytes }: Retention, nowMs: number) =>
      transaction(engine, () => {
        for (const { name } of sumTables) engine.prepare(sumPruning(name, '?')).run(oldestQuarter(nowMs));
        engine.prepare('delete from moved_segments where moved_ms < ?').run(nowMs - keptMs);
        const used = (one('pragma page_count') - one('pragma freelist_count')) * one('pragma page_size');
        const deleted = engine
          .prepare(
            `delete from exchanges where (started_ms, request_id) in
               (select started_ms, request_id from exchanges order by started_ms, request_id limit ?)
             and started_ms < ?`,
          )
          .run(pruneRows, used > bytes ? nowMs : nowMs - days * dayMs);
        return Number(deleted.changes) === pruneRows;
      }),
    raise: ({ session, key_id, limit_name, amount }: SessionRaise) =>
      transaction(engine, () => {
        const add = engine.prepare(raiseStatement('session_raises', '?, ?, ?, ?'));
        add.run(session, key_id, limit_name, amount);
      }),
    close: () => engine.close(),
  } satisfies LedgerStore;
}

/** Adds within the caller's transaction. The statements are prepared once: kysely would compile each query again. */
function prepareAdding(engine: SqliteEngine): (addition: Addition) => void {
  const move = engine.prepare(moveStatement('moved_segments', '?, ?, ?'));
  const addRow = engine.prepare(
    `insert into exchanges (${exchangeNames}) values (${marks(exchangeColumns)}) on conflict do nothing`,
  );
  const addTo = sumTables.map((table) => {
    const { name, key, columns } = table;
    return engine.prepare(
      `insert into ${name} (${columns.join()}) values (${marks(columns)})
       on conflict (${key.join()}) do update set ${additions(table, name)}`,
    );
  });
  const insert = (row: LedgerRow) =>
    Number(addRow.run(...exchangeColumns.map(({ name }) => row[name])).changes) > 0;
  return ({ segment, sums: given, rows = [] }) => {
    if (segment !== undefined) {
      const { changes } = move.run(segment.owner, segment.number, Date.now());
      if (Number(changes) === 0) return;
    }
    const added: Sums = given ?? sumsOf(rows.filter(insert));
    for (const [i, statement] of addTo.entries()) for (const sum of added[i] ?? []) statement.run(...sum);
  };
}

function marks(columns: readonly unknown[]): string {
  return columns.map(() => '?').join();
}

/** Reads from the file, which a gateway may be writing. Throws config.invalid for one of a newer version. */
export async function readLedgerFile<Value>(
  path: string,
  directory: string,
  read: ReadLedger<Value>,
): Promise<Value> {
  const journal = await readJournal(directory);
  if (!existsSync(path)) return read(undefined, journal);
  const engine = await openSqliteReader(path);
  try {
    if (!hasTables(engine)) return await read(undefined, journal);
    engine.exec('begin');
    return await read(tablesOf(engine), journal);
  } finally {
    engine.close();
  }
}

function tablesOf(engine: SqliteEngine): LedgerTables {
  const parts = { sessions: hasTable(engine, 'session_raises'), moved: hasTable(engine, 'moved_segments') };
  const find = engine.prepare('select 1 from exchanges where started_ms = ? and request_id = ?');
  return {
    names: tableNames('', parts),
    // `sum` fails if the result has more bits than SQLite's integers or JavaScript's numbers.
    sumOf: (column) => `total(${column})`,
    select: async <Row>(sql: string, values: readonly SqliteValue[]) =>
      engine.prepare(sql.replaceAll('$', '?')).all(...values) as Row[],
    findStored: async (exchanges) => {
      const stored = exchanges.filter((each) => find.all(each.started_ms, each.request_id).length > 0);
      return new Set(stored.map(({ request_id }) => request_id));
    },
  };
}

/** An earlier build may have made the file, and it has not been opened for writing since. */
function hasTable(engine: SqliteEngine, name: string): boolean {
  return engine.prepare('select 1 from sqlite_schema where name = ?').all(name).length > 0;
}

/** Whether the tables are there. Throws config.invalid if another version or another program made them. */
function hasTables(engine: SqliteEngine): boolean {
  const [{ user_version: found }] = engine.prepare('pragma user_version').all() as [{ user_version: number }];
  if (found === version) return true;
  if (found > version) {
    throw new GatewayError('config.invalid', 'a newer version of the gateway made this ledger');
  }
  const [{ others }] = engine.prepare('select count(*) as others from sqlite_schema').all() as [
    { others: number },
  ];
  if (others === 0) return false;
  const message =
    found > 0
      ? 'a version of the gateway before the first release made this ledger; move the file away to begin a new one'
      : 'this file is the database of something else';
  throw new GatewayError('config.invalid', message);
}
