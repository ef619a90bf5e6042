import { join } from 'node:path';
import { afterAll, beforeAll, describe } from 'vitest';
import { emptyDirectory } from '../kit/own-configuration.ts';
import { isExhaustive } from '../kit/scale.ts';
import { type Postgres, postgresPrograms, startPostgres } from './postgres.ts';

export interface TestDatabases {
  readonly kind: 'sqlite' | 'postgres';
  /** The address of a new, empty database. */
  create(): Promise<string>;
}

/** Runs the same tests on SQLite and, in a run of everything, on PostgreSQL, if it is installed. */
export function describeDatabases(name: string, tests: (databases: TestDatabases) => void): void {
  describeSqlite(name, tests);
  describePostgres(name, tests);
}

export function describeSqlite(name: string, tests: (databases: TestDatabases) => void): void {
  describe(`${name} on SQLite`, () => tests(sqliteFiles()));
}

/** Databases in files of a directory that is gone after the test file. */
export function sqliteFiles(): TestDatabases {
  const directory = emptyDirectory();
  let made = 0;
  return {
    kind: 'sqlite',
    create: async () => {
      made += 1;
      return `sqlite:${join(directory, `plants-${made}.sqlite`)}`;
    },
  };
}

export function describePostgres(
  name: string,
  tests: (databases: TestDatabases, postgres: () => Postgres) => void,
): void {
  describe.skipIf(!isExhaustive || postgresPrograms === undefined)(`${name} on PostgreSQL`, () => {
    let postgres: Postgres | undefined;
    const running = () => {
      if (postgres === undefined) throw new Error('PostgreSQL is started before the tests');
      return postgres;
    };
    beforeAll(async () => {
      postgres = await startPostgres();
    }, 60_000);
    afterAll(async () => postgres?.stop());
    tests({ kind: 'postgres', create: () => running().createDatabase() }, running);
  });
}
