import type { eventTypes } from '../contract/asyncapi.ts';
import type { Queries } from '../database/open.ts';
import type { Plant, PlantStatus } from '../plant/plant.ts';

interface FeedResult<Value> {
  readonly value: Value;
  readonly events: readonly PlantEvent[];
}

/** Writes with their events: no event is sent for a write that was not committed. */
export interface Feed {
  /** False while the database with the events is unreachable: no watcher is accepted then. */
  readonly isLive: boolean;
  /** Runs the work in a transaction; its events are sent after the commit. */
  write<Value>(work: (transaction: Queries) => Promise<FeedResult<Value>>): Promise<Value>;
  close(): Promise<void>;
}

export interface FeedListener {
  readonly onEvent: (event: PlantEvent) => void;
  /** The database became unreachable, so that events may be missed, or reachable again. */
  readonly onState: (state: 'lost' | 'back') => void;
}

export type EventType = (typeof eventTypes)[number];

export type PlantEvent =
  | {
      readonly type: 'plant.created' | 'plant.updated' | 'plant.deleted';
      readonly occurredAt: string;
      readonly data: Plant;
    }
  | {
      readonly type: 'plant.status.changed';
      readonly occurredAt: string;
      readonly plantId: number;
      readonly previousStatus: PlantStatus;
      readonly newStatus: PlantStatus;
    };

export function plantOf(event: PlantEvent): number {
  return event.type === 'plant.status.changed' ? event.plantId : event.data.id;
}

export function createdEvents(data: Plant, now: number): readonly PlantEvent[] {
  return [{ type: 'plant.created', occurredAt: new Date(now).toISOString(), data }];
}

/** The plant as it was. */
export function deletedEvents(data: Plant, now: number): readonly PlantEvent[] {
  return [{ type: 'plant.deleted', occurredAt: new Date(now).toISOString(), data }];
}

/** An update, followed by the change of status if there was one. */
export function updatedEvents(previousStatus: PlantStatus, data: Plant, now: number): readonly PlantEvent[] {
  const occurredAt = new Date(now).toISOString();
  const updated = { type: 'plant.updated', occurredAt, data } as const;
  if (previousStatus === data.status) return [updated];
  const { id: plantId, status: newStatus } = data;
  return [updated, { type: 'plant.status.changed', occurredAt, plantId, previousStatus, newStatus }];
}
