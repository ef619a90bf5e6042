import type { SqliteEngine } from '../../database/sqlite-engine.ts';
import { GatewayError } from '../../errors.ts';

/**
 * Sums are kept by quarters of an hour: days begin at one in every time zone there is, so the sum of a day or a month
 * is exact in each. They outlive the rows, so that retention gives no budget back.
 */
export const quarterMs = 900_000;

const version = 1;

const schema = `
create table intents (
  request_id text primary key,
  owner text not null,
  started_ms integer not null,
  project text not null,
  key_id text not null,
  endpoint text not null,
  model text not null,
  input_tokens integer not null,
  output_tokens integer not null,
  nano_usd integer
) without rowid;
create table exchanges (
  id integer primary key,
  request_id text not null unique,
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
  total_ms real
);
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

/** Makes the tables in a new file, within the caller's transaction. Throws config.invalid for a file of another kind. */
export function prepareSchema(engine: SqliteEngine): void {
  if (hasSchema(engine)) return;
  const [{ tables }] = engine.prepare('select count(*) as tables from sqlite_schema').all() as [
    { tables: number },
  ];
  if (tables > 0) throw new GatewayError('config.invalid', 'this file is the database of something else');
  engine.exec(schema);
}

/** Whether the tables are there. Throws config.invalid if a newer version made them. */
export function hasSchema(engine: SqliteEngine): boolean {
  const [{ user_version: found }] = engine.prepare('pragma user_version').all() as [{ user_version: number }];
  if (found > version) {
    throw new GatewayError('config.invalid', 'a newer version of the gateway made this ledger');
  }
  return found === version;
}
