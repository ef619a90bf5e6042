import type { Queries } from '../database/open.ts';
import type { PlantEvent } from '../plant/plant-event.ts';

export interface Outcome<Value> {
  readonly value: Value;
  readonly events: readonly PlantEvent[];
}

/** Writes with their events: no event is sent for a write that was not committed. */
export interface Feed {
  /** False while the database with the events is unreachable: no watcher is accepted then. */
  readonly isLive: boolean;
  /** Runs the work in a transaction; its events are sent after the commit. */
  write<Value>(work: (transaction: Queries) => Promise<Outcome<Value>>): Promise<Value>;
  deleteExpired(): Promise<void>;
  close(): Promise<void>;
}

export interface FeedListener {
  readonly onEvent: (event: PlantEvent) => void;
  /** Events were or may have been missed, so watchers must be disconnected. */
  readonly onGap: () => void;
  /** The database became unreachable or reachable again. */
  readonly onState: (state: 'lost' | 'back') => void;
  readonly now: () => number;
}
