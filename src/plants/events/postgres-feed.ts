import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import type { Client } from 'pg';
import type { Queries } from '../database/open.ts';
import type { PlantEvent } from '../plant/plant-event.ts';
import type { Feed, FeedListener } from './feed.ts';

const channel = 'plant_events';
// PostgreSQL takes less than 8,000 bytes a notification; a plant with long tags is more.
const partCharacters = 1_800;
const incompleteLimit = 1_000;
const checkEveryMs = 15_000;
const answerWithinMs = 5_000;
const firstRetryMs = 100;
const longestRetryMs = 5_000;

interface PostgresDatabase {
  readonly queries: Queries;
  readonly url: string;
}

/**
 * Events through NOTIFY, sent inside the transaction: PostgreSQL itself tells them at the commit, in its
 * order, to every instance that listens, this one too. The listening connection is replaced when it breaks.
 */
export async function openPostgresFeed(database: PostgresDatabase, listener: FeedListener): Promise<Feed> {
  const listening = createListening(database.url, listener);
  await listening.start();
  return {
    get isLive() {
      return listening.isLive;
    },
    write: (work) =>
      database.queries.transaction().execute(async (transaction) => {
        const { value, events } = await work(transaction);
        for (const event of events) await notify(transaction, event);
        return value;
      }),
    close: listening.stop,
  };
}

async function notify(transaction: Queries, event: PlantEvent): Promise<void> {
  const text = JSON.stringify(event);
  const id = randomBytes(9).toString('base64url');
  const count = Math.ceil(text.length / partCharacters);
  for (let part = 0; part < count; part += 1) {
    const piece = text.slice(part * partCharacters, (part + 1) * partCharacters);
    await sql`select pg_notify(${channel}, ${JSON.stringify([id, count - part - 1, piece])})`.execute(
      transaction,
    );
  }
}

function createListening(url: string, { onEvent, onGap }: FeedListener) {
  let client: Client | undefined;
  let isStopped = false;
  let retry: NodeJS.Timeout | undefined;

  const lose = (lost: Client) => {
    if (client !== lost) return;
    client = undefined;
    lost.end().catch(() => undefined); // it is broken already
    if (isStopped) return;
    onGap();
    reconnect(firstRetryMs);
  };
  const reconnect = (delayMs: number) => {
    retry = setTimeout(() => {
      connect().catch(() => reconnect(Math.min(delayMs * 2, longestRetryMs)));
    }, delayMs);
    retry.unref();
  };
  const connect = async () => {
    const { default: pg } = await import('pg');
    const fresh = new pg.Client({
      connectionString: url,
      application_name: 'plant store events',
      connectionTimeoutMillis: answerWithinMs,
      query_timeout: answerWithinMs,
      keepAlive: true,
    });
    const take = createAssembler(onEvent);
    fresh.on('error', () => lose(fresh));
    fresh.on('end', () => lose(fresh));
    fresh.on('notification', ({ payload }) => take(payload ?? ''));
    await fresh.connect();
    await fresh.query(`listen ${channel}`);
    if (isStopped) return fresh.end();
    client = fresh;
  };
  // A peer that vanished without a word is noticed only by asking.
  const check = setInterval(() => {
    const asked = client;
    asked?.query('select 1').catch(() => lose(asked));
  }, checkEveryMs);
  check.unref();

  return {
    get isLive() {
      return client !== undefined;
    },
    start: connect,
    stop: async () => {
      isStopped = true;
      clearInterval(check);
      clearTimeout(retry);
      await client?.end();
    },
  };
}

/** Puts the parts of one event together. They arrive in order, and together, as they were committed together. */
function createAssembler(onEvent: (event: PlantEvent) => void): (payload: string) => void {
  const incomplete = new Map<string, string>();
  return (payload) => {
    try {
      const [id, left, piece] = JSON.parse(payload) as [string, number, string]; // written by `notify` above
      const text = (incomplete.get(id) ?? '') + piece;
      if (left === 0) {
        incomplete.delete(id);
        return onEvent(JSON.parse(text) as PlantEvent); // as above
      }
      if (incomplete.size >= incompleteLimit) incomplete.clear();
      incomplete.set(id, text);
    } catch {
      // Somebody else uses the channel's name: nothing of ours.
    }
  };
}
