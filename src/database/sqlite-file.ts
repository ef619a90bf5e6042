import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  lstatSync,
  openSync,
  readSync,
  type Stats,
} from 'node:fs';
import { GatewayError } from '../errors.ts';

const magic = 'SQLite format 3\0';
// NOFOLLOW and NONBLOCK: a link or pipe that appears at the path after the check is neither followed nor waited for.
const flags = constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * Creates the database file if there is none, and makes it readable only by its owner. Throws config.invalid,
 * before anything is changed, for what is not a plain file that is empty or a SQLite database.
 */
export function prepareSqliteFile(path: string): void {
  refuseUnlessPlain(path, lstatSync(path, { throwIfNoEntry: false }));
  const file = openSync(path, flags, 0o600);
  try {
    refuseUnlessPlain(path, fstatSync(file));
    const head = Buffer.alloc(magic.length);
    const length = readSync(file, head, 0, magic.length, 0);
    if (length > 0 && head.toString('latin1', 0, length) !== magic) {
      throw unusable(path, 'is not a SQLite database');
    }
    fchmodSync(file, 0o600);
  } finally {
    closeSync(file);
  }
}

/** Throws config.invalid for what is missing, or not a plain file. */
export function checkSqliteFile(path: string): void {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) throw unusable(path, 'does not exist');
  refuseUnlessPlain(path, stats);
}

function refuseUnlessPlain(path: string, stats: Stats | undefined): void {
  if (stats === undefined) return;
  if (stats.isSymbolicLink()) throw unusable(path, 'is a symbolic link; name the file itself');
  if (stats.isDirectory()) throw unusable(path, 'is a directory');
  if (!stats.isFile()) throw unusable(path, 'is a device, a pipe or a socket');
  // SQLite finds the log of a crashed process by the file's name: under a second name it would lose data.
  if (stats.nlink > 1) throw unusable(path, 'has several names (hard links)');
}

function unusable(path: string, problem: string): GatewayError {
  return new GatewayError('config.invalid', `the database ${path} ${problem}`);
}
