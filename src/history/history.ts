import { openSqlite, type SqliteEngine, type SqliteValue, transaction } from '../database/sqlite-engine.ts';
import { GatewayError } from '../errors.ts';
import {
  excerptOf,
  type FoundTurn,
  type KeptConversation,
  type KeptTurn,
  type NewConversation,
  type NewTurn,
} from './conversation-row.ts';

const version = 1;

// Trigrams find any part of a text in any script; words would not do for those that are written without blanks.
const schema = `
create table conversations (
  id integer primary key autoincrement,
  name text unique,
  model text not null,
  system text,
  started_ms integer not null,
  updated_ms integer not null
);
create index conversations_by_time on conversations (updated_ms);
create table turns (
  id integer primary key autoincrement,
  conversation integer not null references conversations (id) on delete cascade,
  role text not null,
  text text not null,
  parts text,
  model text,
  request_id text,
  at_ms integer not null
);
create index turns_by_conversation on turns (conversation);
create index turns_by_request on turns (request_id);
create virtual table turn_texts using fts5(
  text, content='turns', content_rowid='id', tokenize='trigram remove_diacritics 1'
);
insert into turn_texts (turn_texts, rank) values ('secure-delete', 1);
create trigger turns_added after insert on turns begin
  insert into turn_texts (rowid, text) values (new.id, new.text);
end;
create trigger turns_removed after delete on turns begin
  insert into turn_texts (turn_texts, rowid, text) values ('delete', old.id, old.text);
end;
pragma user_version = ${version};
`;

/** Makes the tables in a new file. Throws config.invalid for a file of another kind, or of a newer version. */
function prepareHistory(engine: SqliteEngine): void {
  if (readVersion(engine) === version) return;
  // Whoever comes second finds them made.
  transaction(engine, () => {
    const found = readVersion(engine);
    if (found === version) return;
    if (found > version) {
      throw new GatewayError('config.invalid', 'a newer version of the gateway made this history');
    }
    const [{ tables }] = engine.prepare('select count(*) as tables from sqlite_schema').all() as [
      { tables: number },
    ];
    if (tables > 0) throw new GatewayError('config.invalid', 'this file is the database of something else');
    engine.exec(schema);
  });
}

function readVersion(engine: SqliteEngine): number {
  const [{ user_version: found }] = engine.prepare('pragma user_version').all() as [{ user_version: number }];
  return found;
}

/**
 * The user's conversations, in one SQLite file that only the user can read. Every method blocks until it is done;
 * what `append` was given is on the disk when it returns, even if the process dies.
 */
export type History = ReturnType<typeof createHistory>;

/** Opens or makes the file. Throws config.invalid if it can't be used. */
export async function openHistory(path: string, now: () => number = Date.now): Promise<History> {
  const { writer, reader } = await openSqlite(path);
  reader.close();
  try {
    prepareHistory(writer);
    // What is deleted is overwritten: these are people's words.
    writer.exec('pragma secure_delete = on');
    return createHistory(writer, now);
  } catch (error) {
    writer.close();
    throw error;
  }
}

const conversationColumns = `c.id, c.name, c.model, c.system, c.started_ms as startedMs, c.updated_ms as updatedMs,
  (select count(*) from turns t where t.conversation = c.id) as turns,
  coalesce((select substr(t.text, 1, 200) from turns t where t.conversation = c.id order by t.id limit 1), '') as beginning`;

function createHistory(engine: SqliteEngine, now: () => number) {
  const all = <Row>(sql: string, ...values: SqliteValue[]) => engine.prepare(sql).all(...values) as Row[]; // named in sql
  const conversation = (rest: string, ...values: SqliteValue[]) =>
    all<KeptConversation>(`select ${conversationColumns} from conversations c ${rest}`, ...values);
  return {
    /** The one that was gone on with last. */
    last: () => conversation('order by c.updated_ms desc, c.id desc limit 1')[0],
    named: (name: string) => conversation('where c.name = ?', name)[0],
    withId: (id: number) => conversation('where c.id = ?', id)[0],
    /** The one in which a request was sent. */
    ofRequest: (requestId: string) =>
      conversation(
        'where c.id = (select conversation from turns where request_id = ? limit 1)',
        requestId,
      )[0],
    /** The newest first. */
    list: (limit: number) => conversation('order by c.updated_ms desc, c.id desc limit ?', limit),
    turns: (id: number) =>
      all<Record<string, unknown>>(
        `select id, role, text, parts, model, request_id as requestId, at_ms as atMs
         from turns where conversation = ? order by id`,
        id,
      ).map((row) => withoutNulls(row) as unknown as KeptTurn), // the columns named above
    /** Turns that hold the text, in any case, the newest first. */
    search: (text: string, limit: number): readonly FoundTurn[] => {
      const { from, value } = matching(text);
      const rows = all<Omit<FoundTurn, 'excerpt'> & { readonly text: string }>(
        `select t.conversation, c.name, t.role, t.at_ms as atMs, t.request_id as requestId, t.text ${from} limit ?`,
        value,
        limit,
      );
      return rows.map(({ text: whole, ...row }) => ({ ...row, excerpt: excerptOf(whole, text) }));
    },
    /** Adds turns to a conversation, begun with them where it is new; returns its id. */
    append: (to: number | NewConversation, turns: readonly NewTurn[]): number =>
      transaction(engine, () => {
        const atMs = now();
        const id = typeof to === 'number' ? to : begin(engine, to, atMs);
        const add = engine.prepare(
          `insert into turns (conversation, role, text, parts, model, request_id, at_ms) values (?, ?, ?, ?, ?, ?, ?)`,
        );
        for (const { role, text, parts = null, model = null, requestId = null } of turns) {
          add.run(id, role, text, parts, model, requestId, atMs);
        }
        engine.prepare('update conversations set updated_ms = ? where id = ?').run(atMs, id);
        return id;
      }),
    /** Deletes the last question of a conversation and what came after it. */
    forgetLast: (id: number): void =>
      transaction(engine, () => {
        engine
          .prepare(
            `delete from turns where conversation = ?1
             and id >= (select max(id) from turns where conversation = ?1 and role = 'user')`,
          )
          .run(id);
      }),
    rename: (id: number, name: string): void =>
      transaction(engine, () => {
        engine.prepare('update conversations set name = ? where id = ?').run(name, id);
      }),
    /** The user's last questions of one line, each once, the newest first. */
    questions: (limit: number) =>
      all<{ readonly text: string }>(
        `select text from (select id, text, parts from turns where role = 'user' order by id desc limit 1000)
         where parts is null and length(text) < 1000 and instr(text, char(10)) = 0
         group by text order by max(id) desc limit ?`,
        limit,
      ).map(({ text }) => text),
    /** Deletes conversations, all that were last gone on with before a time, or one; returns how many. */
    remove: (which: { readonly id: number } | { readonly beforeMs: number }): number => {
      const [condition, value] = 'id' in which ? ['id = ?', which.id] : ['updated_ms < ?', which.beforeMs];
      const deletion = `delete from conversations where ${condition}`;
      const count = transaction(engine, () => Number(engine.prepare(deletion).run(value).changes));
      // The log would hold the words until it is written over.
      engine.exec('pragma wal_checkpoint(truncate)');
      return count;
    },
    close: () => engine.close(),
  };
}

/** The conversation of a name, where another process has begun it meanwhile; else a new one. */
function begin(engine: SqliteEngine, conversation: NewConversation, atMs: number): number {
  const { name = null, model, system = null } = conversation;
  const [known] = engine.prepare('select id from conversations where name = ?').all(name) as { id: number }[];
  if (known !== undefined) return known.id;
  const [made] = engine
    .prepare(
      `insert into conversations (name, model, system, started_ms, updated_ms) values (?, ?, ?, ?, ?) returning id`,
    )
    .all(name, model, system, atMs, atMs) as [{ id: number }];
  return made.id;
}

function withoutNulls(row: Record<string, unknown>): object {
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null));
}

// The index knows groups of three characters; what is shorter is looked for in the texts themselves.
const indexedLength = 3;

function matching(text: string): { readonly from: string; readonly value: string } {
  const conversations = 'join conversations c on c.id = t.conversation';
  if ([...text].length < indexedLength) {
    const value = `%${text.replace(/[\\%_]/g, '\\$&')}%`;
    return {
      from: `from turns t ${conversations} where t.text like ? escape '\\' order by t.id desc`,
      value,
    };
  }
  const index = `from turn_texts f join turns t on t.id = f.rowid ${conversations}`;
  const value = `"${text.replaceAll('"', '""')}"`;
  return { from: `${index} where turn_texts match ? order by f.rowid desc`, value };
}
