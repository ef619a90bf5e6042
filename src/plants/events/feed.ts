import type { Database, Queries } from '../database/open.ts';
import type { PlantEvent } from '../plant/plant-event.ts';
import { openPostgresFeed } from './postgres-feed.ts';

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

/** Throws store.database where events can't be had yet. */
export async function openFeed(database: Database, listener: FeedListener): Promise<Feed> {
  return database.kind === 'postgres'
    ? openPostgresFeed(database, listener)
    : openLocalFeed(database, listener);
}

function openLocalFeed({ queries }: Database, { onEvent }: FeedListener): Feed {
  return {
    isLive: true,
    write: async (work) => {
      const { value, events } = await queries.transaction().execute(work);
      for (const event of events) onEvent(event);
      return value;
    },
    deleteExpired: async () => undefined,
    close: async () => undefined,
  };
}
