/** What keeps SQLite from reading or writing its file: a lock, a full disk, or the file itself. */
export type SqliteFailure = 'locked' | 'full' | 'unusable';

/** By primary result code, with the text that SQLite has for it (https://sqlite.org/rescode.html). */
const failures: readonly (readonly [code: number, text: string, failure: SqliteFailure])[] = [
  [5, 'database is locked', 'locked'],
  [6, 'database table is locked', 'locked'],
  [8, 'attempt to write a readonly database', 'unusable'],
  [10, 'disk I/O error', 'unusable'],
  [13, 'database or disk is full', 'full'],
  [14, 'unable to open database file', 'unusable'],
];

/** Undefined for what is no error of SQLite, or one of the query. */
export function sqliteFailure(error: unknown): SqliteFailure | undefined {
  if (!(error instanceof Error) || !('code' in error) || error.code !== 'ERR_SQLITE_ERROR') return undefined;
  const primary = 'errcode' in error && typeof error.errcode === 'number' ? error.errcode & 0xff : undefined;
  // The driver for Node 20 leaves the code out where a statement with rows fails.
  return failures.find(([code, text]) => primary === code || error.message.startsWith(text))?.[2];
}
