import type { Database, Queries } from '../database/open.ts';
import type { PlantEvent } from '../plant/plant-event.ts';
import { openPostgresFeed } from './postgres-feed.ts';

export interface Outcome<Value> {
  readonly value: Value;
  readonly events: readonly PlantEvent[];
}

/** Writes, and the news of them: nobody hears of what was not committed. */
export interface Feed {
  /** False while events may be missed: watchers are not let in then. */
  readonly isLive: boolean;
  /** Runs the work in a transaction; its events are told after the commit. */
  write<Value>(work: (transaction: Queries) => Promise<Outcome<Value>>): Promise<Value>;
  close(): Promise<void>;
}

export interface FeedListener {
  readonly onEvent: (event: PlantEvent) => void;
  /** Events were or may have been missed: watchers must not believe that they know all. */
  readonly onGap: () => void;
}

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
    close: async () => undefined,
  };
}
