import type { eventTypes } from '../contract/asyncapi.ts';
import type { Status } from './fields.ts';
import type { Plant } from './plant.ts';

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
      readonly previousStatus: Status;
      readonly newStatus: Status;
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
export function updatedEvents(previousStatus: Status, data: Plant, now: number): readonly PlantEvent[] {
  const occurredAt = new Date(now).toISOString();
  const updated = { type: 'plant.updated', occurredAt, data } as const;
  if (previousStatus === data.status) return [updated];
  const { id: plantId, status: newStatus } = data;
  return [updated, { type: 'plant.status.changed', occurredAt, plantId, previousStatus, newStatus }];
}
