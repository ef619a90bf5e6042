import { existsSync, readdirSync, rmSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { loadSqlite, type SqliteEngine, type SqliteModule } from '../../database/sqlite-engine.ts';

/** A process's claim on its intents: a file that it keeps locked. The system releases the lock however it dies. */
export interface Owner {
  readonly id: string;
  release(): void;
}

/** SQLite's own locks, since Node has no others: they hold between containers too, where process ids do not. */
export function lockOwner({ DatabaseSync }: SqliteModule, ledger: string, id: string): Owner {
  const path = ownerFile(ledger, id);
  const engine = new DatabaseSync(path);
  engine.exec('pragma locking_mode = exclusive; begin exclusive');
  return {
    id,
    release: () => {
      engine.close();
      rmSync(path, { force: true });
    },
  };
}

/** Whether somebody holds the lock. */
export function isOwnerAlive({ DatabaseSync }: SqliteModule, ledger: string, id: string): boolean {
  const path = ownerFile(ledger, id);
  if (!existsSync(path)) return false;
  let engine: SqliteEngine | undefined;
  try {
    engine = new DatabaseSync(path);
    engine.exec('pragma busy_timeout = 0; begin exclusive; rollback');
    return false;
  } catch {
    return true; // locked, or inaccessible: then its intents are better left alone
  } finally {
    engine?.close();
  }
}

/** Whether a process writes this ledger now. */
export async function isLedgerInUse(path: string): Promise<boolean> {
  const ledger = resolve(path);
  const owners = existsSync(ledger) ? findOwners(ledger) : [];
  if (owners.length === 0) return false;
  const sqlite = await loadSqlite();
  return owners.some((id) => isOwnerAlive(sqlite, ledger, id));
}

/** Ids of all owners that have a file, dead or alive. */
export function findOwners(ledger: string): readonly string[] {
  const prefix = `${basename(ledger)}-owner-`;
  return readdirSync(dirname(ledger))
    .filter((name) => name.startsWith(prefix) && !name.endsWith('-journal'))
    .map((name) => name.slice(prefix.length));
}

export function removeOwner(ledger: string, id: string): void {
  rmSync(ownerFile(ledger, id), { force: true });
}

function ownerFile(ledger: string, id: string): string {
  return join(dirname(ledger), `${basename(ledger)}-owner-${id}`);
}
