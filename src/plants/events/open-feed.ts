import type { Database } from '../database/open.ts';
import type { Feed, FeedListener } from './feed.ts';
import { openPostgresFeed } from './postgres-feed.ts';

/** Throws store.database if events are not available yet. */
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
