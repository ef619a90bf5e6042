import { type CompiledQuery, sql } from 'kysely';
import type { Client } from 'pg';
import { backoffMs } from '../../backoff.ts';
import { connectionSettings } from '../../database/postgres.ts';
import type { Queries } from '../database/open.ts';
import type { Feed, FeedListener, PlantEvent } from './feed.ts';

const channel = 'plant_events';
/** Longer than the outages that watchers should survive. */
const keptMs = 60 * 60 * 1_000;
const pageSize = 500;

/**
 * Adds events inside their transaction and wakes every instance at its commit. The counter's row is locked until
 * then, so ids have no gaps and become visible in order: a reader that has read one has read all before it.
 */
async function appendEvents(transaction: Queries, events: readonly PlantEvent[], now: number): Promise<void> {
  if (events.length === 0) return;
  const texts = events.map((event) => JSON.stringify(event));
  await sql`
    with counted as (
      update plant_event_counter set last_id = last_id + ${sql.lit(texts.length)} returning last_id
    ), added as (
      insert into plant_events (id, event, created_at)
      select last_id - ${sql.lit(texts.length)} + position, event, ${now}::bigint
      from counted, unnest(${texts}::text[]) with ordinality as given (event, position)
    )
    select pg_notify(${channel}, '')`.execute(transaction);
}

interface EventRow {
  readonly id: number;
  readonly event: string;
}

function eventsAfter(queries: Queries, id: number): CompiledQuery<EventRow> {
  return queries
    .selectFrom('plant_events')
    .select(['id', 'event'])
    .where('id', '>', id)
    .orderBy('id')
    .limit(pageSize)
    .compile();
}

function lastEventId(queries: Queries): CompiledQuery<{ readonly last_id: number }> {
  return queries.selectFrom('plant_event_counter').select('last_id').compile();
}

/** The newest event stays, however old: its id shows a reader that it missed the ones before. */
async function deleteOldEvents(queries: Queries, now: number): Promise<void> {
  await queries
    .deleteFrom('plant_events')
    .where('created_at', '<', now - keptMs)
    .where('id', '<', ({ selectFrom }) => selectFrom('plant_event_counter').select('last_id'))
    .execute();
}

const checkEveryMs = 15_000;
const retry = { firstMs: 100, longestMs: 5_000 };

interface PostgresDatabase {
  readonly queries: Queries;
  readonly url: string;
}

/**
 * Events through a table: written in the transaction that they describe, and read by every instance, including this one,
 * when NOTIFY wakes it. A broken connection is replaced, and reading continues where it stopped.
 */
export async function openPostgresFeed(database: PostgresDatabase, listener: FeedListener): Promise<Feed> {
  const { queries } = database;
  const { now } = listener;
  const reader = new EventReader(database, listener);
  await reader.start();
  return {
    get isLive() {
      return reader.isLive;
    },
    write: (work) =>
      queries.transaction().execute(async (transaction) => {
        const { value, events } = await work(transaction);
        await appendEvents(transaction, events, now());
        return value;
      }),
    deleteExpired: () => deleteOldEvents(queries, now()),
    close: () => reader.stop(),
  };
}

/** The connection that listens and reads, replaced after its loss. */
class EventReader {
  readonly #database: PostgresDatabase;
  readonly #listener: FeedListener;
  #client: Client | undefined;
  /** The id of the last event that was sent; undefined before the first connection. */
  #lastId: number | undefined;
  #failures = 0;
  #isReading = false;
  #hasNews = false;
  #isStopped = false;
  #retry: NodeJS.Timeout | undefined;
  readonly #check: NodeJS.Timeout;

  constructor(database: PostgresDatabase, listener: FeedListener) {
    this.#database = database;
    this.#listener = listener;
    // A peer that vanished silently is only noticed by sending it a query.
    this.#check = setInterval(() => this.#wake(), checkEveryMs).unref();
  }

  get isLive(): boolean {
    return this.#client !== undefined;
  }

  async start(): Promise<void> {
    try {
      await this.#connect();
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    clearInterval(this.#check);
    clearTimeout(this.#retry);
    const client = this.#client;
    this.#client = undefined;
    await client?.end().catch(() => undefined); // it broke meanwhile
  }

  async #connect(): Promise<void> {
    const { default: pg } = await import('pg');
    const settings = await connectionSettings(this.#database.url);
    const client = new pg.Client({ ...settings, application_name: 'plant store events' });
    client.on('error', () => this.#lose(client));
    client.on('end', () => this.#lose(client));
    client.on('notification', () => this.#wake());
    try {
      await client.connect();
      // LISTEN first: later commits wake this instance, and earlier ones are read now.
      await client.query(`listen ${channel}`);
      await this.#findPlace(client);
    } catch (error) {
      client.end().catch(() => undefined); // there may be no connection to end
      throw error;
    }
    if (this.#isStopped) return client.end();
    this.#client = client;
    this.#wake();
  }

  /** Events begin with the first connection. A counter that went back means another database: a standby, a backup. */
  async #findPlace(client: Client): Promise<void> {
    const [counter] = await rows(client, lastEventId(this.#database.queries));
    const newest = counter?.last_id ?? 0;
    if (this.#lastId !== undefined && newest < this.#lastId) this.#skipTo(newest);
    this.#lastId ??= newest;
  }

  #wake(): void {
    this.#hasNews = true;
    if (!this.#isReading) void this.#read();
  }

  /** Reads until there is nothing new. Never rejects: a reader that fails has lost its connection. */
  async #read(): Promise<void> {
    this.#isReading = true;
    while (this.#hasNews && this.#client !== undefined) {
      this.#hasNews = false;
      const client = this.#client;
      try {
        const found = await rows(client, eventsAfter(this.#database.queries, this.#lastId ?? 0));
        if (client !== this.#client) continue; // lost meanwhile: the next connection reads them again
        if (this.#failures > 0) this.#recovered();
        for (const { id, event } of found) this.#pass(id, JSON.parse(event) as PlantEvent); // written by appendEvents
        if (found.length === pageSize) this.#hasNews = true;
      } catch {
        this.#lose(client);
      }
    }
    this.#isReading = false;
  }

  #pass(id: number, event: PlantEvent): void {
    if (this.#lastId !== undefined && id !== this.#lastId + 1) this.#skipTo(id - 1);
    this.#lastId = id;
    this.#listener.onEvent(event);
  }

  #skipTo(id: number): void {
    this.#lastId = id;
    this.#listener.onGap();
  }

  #recovered(): void {
    this.#failures = 0;
    this.#listener.onState('back');
  }

  #lose(lost: Client): void {
    if (this.#client !== lost || this.#isStopped) return;
    this.#client = undefined;
    lost.end().catch(() => undefined); // it is broken already
    this.#listener.onState('lost');
    this.#reconnect();
  }

  #reconnect(): void {
    if (this.#isStopped) return;
    this.#failures += 1;
    this.#retry = setTimeout(
      () => {
        this.#connect().catch(() => this.#reconnect());
      },
      backoffMs(this.#failures, retry),
    ).unref();
  }
}

async function rows<Row>(client: Client, { sql, parameters }: CompiledQuery<Row>): Promise<readonly Row[]> {
  const { rows: found } = await client.query(sql, [...parameters]);
  return found as readonly Row[]; // as the query's type says
}
