import type { SqliteEngine, SqliteStatement } from '../../database/sqlite-engine.ts';
import type { Intent, LedgerChange } from './ledger-row.ts';

/** Intents that were committed together, in one row. */
interface Group {
  readonly id: number;
  readonly open: Map<string, Intent>;
  /** How many intents its row holds: finished ones stay in it for a while. */
  stored: number;
}

/** A row is rewritten when this share of it is left: often enough to keep it small, rarely enough to cost little. */
const leftPart = 1 / 4;

/** The intents that this process has open, and their rows in the file. */
export class OpenGroups {
  readonly #owner: string;
  readonly #add: SqliteStatement;
  readonly #replace: SqliteStatement;
  readonly #drop: SqliteStatement;
  readonly #groups = new Map<string, Group>();

  constructor(engine: SqliteEngine, owner: string) {
    this.#owner = owner;
    this.#add = engine.prepare('insert into intents (owner, open) values (?, ?)');
    this.#replace = engine.prepare('update intents set open = ? where id = ? and owner = ?');
    this.#drop = engine.prepare('delete from intents where id = ? and owner = ?');
  }

  /**
   * Within the caller's transaction. What this process knows of its groups changes once that is committed, by the
   * function that it returns: a failed transaction is tried again.
   */
  apply(changes: readonly LedgerChange[]): () => void {
    const begun = new Map<string, Intent>();
    const ended = new Map<Group, Set<string>>();
    const cancelled = new Set<Group>();
    for (const change of changes) {
      if (change.kind === 'begin') {
        const { intent } = change;
        if (!this.#groups.has(intent.requestId)) begun.set(intent.requestId, intent);
        continue;
      }
      const id = change.kind === 'finish' ? change.row.requestId : change.requestId;
      if (begun.delete(id)) continue;
      const group = this.#groups.get(id);
      if (group === undefined) continue;
      ended.set(group, (ended.get(group) ?? new Set()).add(id));
      if (change.kind === 'cancel') cancelled.add(group);
    }
    const rewritten = [...ended].flatMap(([group, ids]) => this.#write(group, ids, cancelled.has(group)));
    const added = begun.size === 0 ? undefined : this.#insert(begun);
    return () => {
      for (const [group, ids] of ended) {
        for (const id of ids) {
          group.open.delete(id);
          this.#groups.delete(id);
        }
      }
      for (const group of rewritten) group.stored = group.open.size;
      for (const id of begun.keys()) this.#groups.set(id, added as Group);
    };
  }

  #insert(begun: Map<string, Intent>): Group {
    const added = this.#add.run(this.#owner, JSON.stringify([...begun.values()]));
    return { id: Number(added.lastInsertRowid), open: begun, stored: begun.size };
  }

  /** A finished intent may stay in its row, since its exchange has one; a cancelled one has none. */
  #write(group: Group, ended: ReadonlySet<string>, isCancelled: boolean): Group[] {
    const left = group.open.size - ended.size;
    if (left === 0) {
      this.#drop.run(group.id, this.#owner);
      return [];
    }
    if (!isCancelled && left > group.stored * leftPart) return [];
    const open = [...group.open.values()].filter(({ requestId }) => !ended.has(requestId));
    this.#replace.run(JSON.stringify(open), group.id, this.#owner);
    return [group];
  }
}
