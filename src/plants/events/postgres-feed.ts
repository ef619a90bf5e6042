import { sql } from 'kysely';
import type { Client } from 'pg';
import { connectionSettings } from '../../database/postgres.ts';
import { backoffMs } from '../../lib/backoff.ts';
import { eventTypes } from '../contract/asyncapi.ts';
import type { Queries } from '../database/open.ts';
import { type Feed, type FeedListener, type PlantEvent, plantOf } from './feed.ts';

const channel = 'plant_events';
/** A notification has less than 8,000 bytes (https://www.postgresql.org/docs/current/sql-notify.html). */
const pieces = /.{1,7000}/g;
const checkEveryMs = 15_000;
const retry = { firstMs: 100, maxMs: 5_000 };

interface PostgresDatabase {
  readonly queries: Queries;
  readonly url: string;
}

/**
 * Events as notifications of the transaction that they describe: every instance, this one too, gets them after its commit,
 * in the order of commits. What happens while the connection that listens is broken is missed, so `onState` tells of it.
 */
export async function openPostgresFeed(
  { queries, url }: PostgresDatabase,
  listener: FeedListener,
): Promise<Feed> {
  const notifications = new Notifications(url, listener);
  await notifications.start();
  return {
    get isLive() {
      return notifications.isLive;
    },
    write: (work) =>
      queries.transaction().execute(async (transaction) => {
        const { value, events } = await work(transaction);
        await notify(transaction, events);
        return value;
      }),
    close: () => notifications.stop(),
  };
}

/** The pieces are numbered, because a transaction sends the same text only once. */
async function notify(transaction: Queries, events: readonly PlantEvent[]): Promise<void> {
  if (events.length === 0) return;
  const texts = Buffer.from(JSON.stringify(events)).toString('base64').match(pieces) ?? [];
  const numbered = texts.map((text, i) => `${i + 1}/${texts.length} ${text}`);
  await sql`
    select pg_notify(${channel}, piece)
    from unnest(${numbered}::text[]) with ordinality as given (piece, position) order by position`.execute(
    transaction,
  );
}

/** The connection that listens, replaced after its loss. */
class Notifications {
  readonly #url: string;
  readonly #listener: FeedListener;
  #client: Client | undefined;
  /** The pieces of a write's events so far; those of one commit arrive together. */
  #text = '';
  #failures = 0;
  #isStopped = false;
  #retry: NodeJS.Timeout | undefined;
  readonly #check: NodeJS.Timeout;

  constructor(url: string, listener: FeedListener) {
    this.#url = url;
    this.#listener = listener;
    // A peer that vanished silently is only noticed by sending it a query.
    this.#check = setInterval(() => {
      const client = this.#client;
      client?.query('select 1').catch(() => this.#lose(client));
    }, checkEveryMs).unref();
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
    const settings = await connectionSettings(this.#url);
    const client = new pg.Client({ ...settings, application_name: 'plant store events' });
    client.on('error', () => this.#lose(client));
    client.on('end', () => this.#lose(client));
    client.on('notification', ({ payload }) => this.#receive(payload ?? ''));
    try {
      await client.connect();
      await client.query(`listen ${channel}`);
    } catch (error) {
      client.end().catch(() => undefined); // there may be no connection to end
      throw error;
    }
    if (this.#isStopped) return client.end();
    this.#client = client;
    if (this.#failures > 0) this.#listener.onState('back');
    this.#failures = 0;
  }

  #receive(payload: string): void {
    const [, number, count, piece] = /^(\d+)\/(\d+) ([A-Za-z0-9+/=]+)$/.exec(payload) ?? [];
    if (piece === undefined) return; // another program's
    this.#text = number === '1' ? piece : this.#text + piece;
    if (number !== count) return;
    for (const event of parseEvents(this.#text)) this.#listener.onEvent(event);
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

/** What `notify` sent; nothing of what another program did. */
function parseEvents(text: string): readonly PlantEvent[] {
  try {
    const events: readonly PlantEvent[] = JSON.parse(Buffer.from(text, 'base64').toString());
    const areOurs = events.every((event) => eventTypes.includes(event.type) && plantOf(event) > 0);
    return areOurs ? events : [];
  } catch {
    return []; // no list of events
  }
}
