import type { Queries } from '../database/open.ts';
import type { PlantEvent } from '../plant/plant-event.ts';

export interface Outcome<Value> {
  readonly value: Value;
  readonly events: readonly PlantEvent[];
}

/** Writes and the events of them: no event goes out of what was not committed. */
export interface Feed {
  /** False while events wait in a database that is away: no watcher is accepted then. */
  readonly isLive: boolean;
  /** Runs the work in a transaction; its events go out after the commit. */
  write<Value>(work: (transaction: Queries) => Promise<Outcome<Value>>): Promise<Value>;
  deleteExpired(): Promise<void>;
  close(): Promise<void>;
}

export interface FeedListener {
  readonly onEvent: (event: PlantEvent) => void;
  /** Events were or may have been missed: watchers must not believe that they know all. */
  readonly onGap: () => void;
  /** The database went away or came back. */
  readonly onState: (state: 'lost' | 'back') => void;
  readonly now: () => number;
}
