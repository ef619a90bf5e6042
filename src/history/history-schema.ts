import type { SqliteEngine } from '../database/sqlite-engine.ts';
import { transaction } from '../database/transaction.ts';
import { GatewayError } from '../errors.ts';

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
export function prepareHistory(engine: SqliteEngine): void {
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
