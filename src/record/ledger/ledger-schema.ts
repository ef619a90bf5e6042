import type { SqliteEngine } from '../../database/sqlite-engine.ts';
import { GatewayError } from '../../errors.ts';
import { exchangeDefinitions, sumDefinitions, sumKey } from './ledger-columns.ts';

const version = 2;

/**
 * Exchanges are in the order of their start, so that a commit writes few pages; their ids are random. A request has one
 * start, so it is unique with it.
 */
const schema = `
create table exchanges (${exchangeDefinitions({ text: 'text', integer: 'integer', real: 'real' })},
  primary key (started_ms, request_id)) without rowid;
create table sums (${sumDefinitions('integer')}, primary key (${sumKey})) without rowid;
pragma user_version = ${version};
`;

/** Makes the tables in a new file, within the caller's transaction. Throws config.invalid as `hasTables` does. */
export function prepareSchema(engine: SqliteEngine): void {
  if (!hasTables(engine)) engine.exec(schema);
}

/** Whether the tables are there. Throws config.invalid if another version or another program made them. */
export function hasTables(engine: SqliteEngine): boolean {
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
