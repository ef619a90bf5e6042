import { type CompiledQuery, sql } from 'kysely';
import type { Queries } from '../database/open.ts';
import type { PlantEvent } from '../plant/plant-event.ts';

export const channel = 'plant_events';
/** Longer than the outages that watchers should survive. */
const keptMs = 60 * 60 * 1_000;
export const pageSize = 500;

/**
 * Adds events inside their transaction and wakes every instance at its commit. The counter's row is locked until
 * then, so ids have no gaps and become visible in order: a reader that has read one has read all before it.
 */
export async function appendEvents(
  transaction: Queries,
  events: readonly PlantEvent[],
  now: number,
): Promise<void> {
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

export interface EventRow {
  readonly id: number;
  readonly event: string;
}

export function eventsAfter(queries: Queries, id: number): CompiledQuery<EventRow> {
  return queries
    .selectFrom('plant_events')
    .select(['id', 'event'])
    .where('id', '>', id)
    .orderBy('id')
    .limit(pageSize)
    .compile();
}

export function lastEventId(queries: Queries): CompiledQuery<{ readonly last_id: number }> {
  return queries.selectFrom('plant_event_counter').select('last_id').compile();
}

/** The newest event stays, however old: its id shows a reader that it missed the ones before. */
export async function deleteOldEvents(queries: Queries, now: number): Promise<void> {
  await queries
    .deleteFrom('plant_events')
    .where('created_at', '<', now - keptMs)
    .where('id', '<', ({ selectFrom }) => selectFrom('plant_event_counter').select('last_id'))
    .execute();
}
