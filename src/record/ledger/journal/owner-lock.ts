import { closeSync, existsSync, openSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { SqliteEngine, SqliteModule } from '../../../database/sqlite-engine.ts';
import { type JournalSegment, namesIn } from './segments.ts';

// SQLite's own locks, since Node has no others: they hold between containers too, where process ids do not, and the system
// releases them however a process dies.

/** A process starts to write before it has its lock, which takes a moment to load. */
export const youngMs = 10_000;
const suffix = '.lock';

export type OwnerLock = ReturnType<typeof lockOwner>;

/** The file gets its name once it is locked, so it isn't taken for a dead owner's. */
export function lockOwner({ DatabaseSync }: SqliteModule, directory: string, owner: string) {
  const path = lockPath(directory, owner);
  closeSync(openSync(`${path}.new`, 'w', 0o600));
  const engine = new DatabaseSync(`${path}.new`);
  // SQLite's own journal would be a file beside it, by its first name, and stay when the process is killed.
  engine.exec('pragma journal_mode = memory; pragma locking_mode = exclusive; begin exclusive');
  renameSync(`${path}.new`, path);
  return {
    /** Whether its file is still there. */
    get isHeld(): boolean {
      return existsSync(path);
    },
    /** With the file, unless segments are left: without one they would look young. */
    release: ({ isLast }: { readonly isLast: boolean }): void => {
      if (isLast) rmSync(path, { force: true });
      engine.close();
    },
  };
}

/** The owners that have a lock file, dead or alive. */
export function lockedOwners(directory: string): readonly string[] {
  return namesIn(directory)
    .filter((name) => name.endsWith(suffix))
    .map((name) => name.slice(0, -suffix.length));
}

export function removeLock(directory: string, owner: string): void {
  rmSync(lockPath(directory, owner), { force: true });
}

/** Whether the process that wrote these segments still runs; `young` if that will be known later. */
export function stateOfOwner(
  sqlite: SqliteModule,
  directory: string,
  owner: string,
  segments: readonly JournalSegment[],
): 'alive' | 'young' | 'gone' {
  const path = lockPath(directory, owner);
  if (existsSync(path)) return isLocked(sqlite, path) ? 'alive' : 'gone';
  return segments.some((segment) => isYoung(segment.path)) ? 'young' : 'gone';
}

/** Whether a process writes this journal now. */
export function isJournalInUse(sqlite: SqliteModule, directory: string): boolean {
  return lockedOwners(directory).some((owner) => isLocked(sqlite, lockPath(directory, owner)));
}

/** Whether somebody holds the lock. */
function isLocked({ DatabaseSync }: SqliteModule, path: string): boolean {
  if (!existsSync(path)) return false;
  let engine: SqliteEngine | undefined;
  try {
    engine = new DatabaseSync(path);
    // Reading conflicts with its owner's lock, and not with others who look.
    engine.exec('pragma busy_timeout = 0');
    engine.prepare('select count(*) from sqlite_schema').all();
    return false;
  } catch {
    return true; // locked, or inaccessible: then it is better left alone
  } finally {
    engine?.close();
  }
}

function isYoung(path: string): boolean {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats !== undefined && Math.abs(Date.now() - stats.mtimeMs) < youngMs;
}

function lockPath(directory: string, owner: string): string {
  return join(directory, `${owner}${suffix}`);
}
