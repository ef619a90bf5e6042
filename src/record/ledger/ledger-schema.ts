import type { SqliteEngine } from '../../database/sqlite-engine.ts';
import { GatewayError } from '../../errors.ts';

export const exchangeColumns = [
  'request_id',
  'started_ms',
  'project',
  'key_id',
  'endpoint',
  'model',
  'provider',
  'target_model',
  'status',
  'outcome',
  'decision',
  'reason',
  'input_tokens',
  'output_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'reasoning_tokens',
  'nano_usd',
  'is_estimated',
  'first_byte_ms',
  'total_ms',
];

const version = 2;

/**
 * Exchanges are in the order of their start, so that a commit writes few pages; their ids are random. A request has one
 * start, so it is unique with it. `intents` is for versions before the journal, which can still use the file.
 */
const tables = `
create table intents (
  id integer primary key,
  owner text not null,
  open text not null
);
create table exchanges (
  request_id text not null,
  started_ms integer not null,
  project text not null,
  key_id text not null,
  endpoint text not null,
  model text not null,
  provider text,
  target_model text,
  status integer not null,
  outcome text not null,
  decision text,
  reason text,
  input_tokens integer not null,
  output_tokens integer not null,
  cache_read_tokens integer not null,
  cache_write_tokens integer not null,
  reasoning_tokens integer not null,
  nano_usd integer,
  is_estimated integer not null,
  first_byte_ms real,
  total_ms real,
  primary key (started_ms, request_id)
) without rowid;
`;

const schema = `${tables}
create table sums (
  quarter integer not null,
  project text not null,
  key_id text not null,
  model text not null,
  requests integer not null,
  input_tokens integer not null,
  output_tokens integer not null,
  cache_read_tokens integer not null,
  cache_write_tokens integer not null,
  reasoning_tokens integer not null,
  nano_usd integer not null,
  estimated integer not null,
  unpriced integer not null,
  primary key (quarter, project, key_id, model)
) without rowid;
pragma user_version = ${version};
`;

/** From a row for each intent, and exchanges in the order of their end. */
const fromVersion1 = `
alter table intents rename to old_intents;
alter table exchanges rename to old_exchanges;
${tables}
insert into exchanges (${exchangeColumns.join()}) select ${exchangeColumns.join()} from old_exchanges;
insert into intents (owner, open)
select owner, json_group_array(json_object('requestId', request_id, 'startedMs', started_ms, 'project', project,
  'keyId', key_id, 'endpoint', endpoint, 'model', model, 'inputTokens', input_tokens, 'outputTokens', output_tokens,
  'nanoUsd', nano_usd)) from old_intents group by owner;
drop table old_intents;
drop table old_exchanges;
pragma user_version = ${version};
`;

/** Makes the tables in a new file or an older one, within the caller's transaction. Throws config.invalid for others. */
export function prepareSchema(engine: SqliteEngine): void {
  const state = stateOfSchema(engine);
  if (state === 'none') engine.exec(schema);
  else if (state === 'older') engine.exec(fromVersion1);
}

/** Which tables exist. Throws config.invalid if a newer version or another program made them. */
export function stateOfSchema(engine: SqliteEngine): 'none' | 'older' | 'current' {
  const [{ user_version: found }] = engine.prepare('pragma user_version').all() as [{ user_version: number }];
  if (found === version) return 'current';
  if (found > version) {
    throw new GatewayError('config.invalid', 'a newer version of the gateway made this ledger');
  }
  if (found > 0) return 'older';
  const [{ others }] = engine.prepare('select count(*) as others from sqlite_schema').all() as [
    { others: number },
  ];
  if (others > 0) throw new GatewayError('config.invalid', 'this file is the database of something else');
  return 'none';
}
