import { GatewayError } from '../errors.ts';

/** What keeps SQLite from reading or writing its file: a lock, a full disk, or the file itself. */
type SqliteFailure = 'locked' | 'full' | 'unusable';

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

const networkFailure =
  /^(?:ECONNREFUSED|ECONNRESET|ECONNABORTED|ENOENT|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|EHOSTDOWN|ENOTFOUND|EAI_AGAIN|EMFILE|ENFILE)$/;
// PostgreSQL's classes 08 (connection), 53 (no resources), 57P0x (shutting down, starting), 58 (its disk);
// 25006: a server that was demoted to a standby.
const postgresAway = /^(?:08...|53...|57P0[1-5]|58...|25006)$/;
// Deadlock, serialization, lock time-out, statement time-out: the transaction did nothing and may be tried again.
const postgresRetry = /^(?:40001|40P01|55P03|57014)$/;
const lostMessages =
  /^(?:Connection terminated|Client has encountered a connection error|Client was closed|Query read timeout|timeout expired|timeout exceeded when trying to connect|Connection ended unexpectedly)/;

/** Whether an error of PostgreSQL's client means that its connection is of no more use. */
export function isConnectionLost(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = codeOf(error);
  return networkFailure.test(code) || postgresAway.test(code) || lostMessages.test(error.message);
}

/** What to do where PostgreSQL's client was refused for no fault of user, password or database. */
export function postgresRemedy(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const code = codeOf(error);
  // too_many_connections
  if (code === '53300') return 'let PostgreSQL or its user have more connections, or others fewer';
  // cannot_connect_now: it starts, or it stops
  if (code === '57P03') return 'wait until it is ready';
  if (/unsupported startup parameter/i.test(error.message))
    return 'let the pooler in between ignore statement_timeout: in PgBouncer, ignore_startup_parameters = statement_timeout';
  if (/self.signed|unable to (?:verify|get (?:local )?issuer)/i.test(error.message))
    return "set NODE_EXTRA_CA_CERTS, or sslrootcert in its URL, to the file of its authority's certificate";
  return undefined;
}

/** A database that is away, locked or full as 503 (waiting helps); any other failure as it is. */
export function toStoreError(thrown: unknown): unknown {
  if (!(thrown instanceof Error) || thrown instanceof GatewayError) return thrown;
  const sqlite = sqliteFailure(thrown);
  const isAway = sqlite !== undefined || isConnectionLost(thrown) || postgresRetry.test(codeOf(thrown));
  if (!isAway) return thrown;
  const problem = sqlite === 'full' ? "the store's disk is full" : "the store's database does not answer";
  return new GatewayError('store.database', `${problem}; try again soon`, { cause: thrown, retryAfterS: 1 });
}

function codeOf(error: Error): string {
  return 'code' in error ? String(error.code) : '';
}
