import { existsSync, readdirSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { SqliteEngine, SqliteModule } from '../../database/sqlite-engine.ts';
import { GatewayError } from '../../errors.ts';
import { isLocked } from './journal/owner-lock.ts';
import type { Intent } from './ledger-row.ts';

// Versions before the journal kept what is open in the database: the intents of a group as one row, JSON, and for each
// process a lock file beside the database. One may still be running.

/** What is open in them. Throws config.invalid for a damaged group, without its content. */
export function readOldIntents(engine: SqliteEngine, owner?: string): readonly Intent[] {
  const groups = engine.prepare('select open from intents where owner = ? or ? is null');
  return (groups.all(owner ?? null, owner ?? null) as readonly { open: string }[]).flatMap(({ open }) => {
    try {
      return JSON.parse(open) as readonly Intent[]; // written by this program
    } catch {
      throw new GatewayError('config.invalid', 'the database is damaged: its open requests are unreadable');
    }
  });
}

/** Within the caller's transaction: passes on what dead processes have left open, and forgets it. */
export function takeOldIntents(
  { engine, sqlite, path }: { engine: SqliteEngine; sqlite: SqliteModule; path: string },
  settle: (intents: readonly Intent[]) => void,
): void {
  const owners = engine.prepare('select distinct owner from intents').all() as readonly { owner: string }[];
  for (const { owner } of owners) {
    if (isLocked(sqlite, lockOf(path, owner))) continue;
    settle(readOldIntents(engine, owner));
    engine.prepare('delete from intents where owner = ?').run(owner);
  }
  for (const owner of oldOwners(path)) {
    if (!isLocked(sqlite, lockOf(path, owner))) rmSync(lockOf(path, owner), { force: true });
  }
}

/** Whether such a process writes the file now. */
export function hasOldOwner(sqlite: SqliteModule, path: string): boolean {
  return oldOwners(path).some((owner) => isLocked(sqlite, lockOf(path, owner)));
}

function oldOwners(path: string): readonly string[] {
  const prefix = `${basename(path)}-owner-`;
  if (!existsSync(dirname(path))) return [];
  return readdirSync(dirname(path))
    .filter((name) => name.startsWith(prefix) && !name.endsWith('-journal'))
    .map((name) => name.slice(prefix.length));
}

function lockOf(path: string, owner: string): string {
  return join(dirname(path), `${basename(path)}-owner-${owner}`);
}
