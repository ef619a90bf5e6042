import { eventTypes } from '../contract/asyncapi.ts';
import { Invalid, parseId } from '../plant/fields.ts';
import { type EventType, type PlantEvent, plantOf } from '../plant/plant-event.ts';

/** Which events a watcher wants; absent fields don't restrict it. */
export interface Filter {
  readonly eventTypes?: readonly EventType[];
  readonly plantId?: number;
}

export interface Choice {
  readonly action: 'subscribe' | 'unsubscribe';
  readonly filter: Filter;
}

/** Reads a watcher's message. Throws Invalid. */
export function parseChoice(text: string): Choice {
  const message = parseObject(text);
  const { action, eventTypes: types, plantId, ...rest } = message;
  const [unknown] = Object.keys(rest);
  if (unknown !== undefined) {
    throw new Invalid(unknown.slice(0, 40), 'is not known here; known are action, eventTypes, plantId');
  }
  if (action !== 'subscribe' && action !== 'unsubscribe') {
    throw new Invalid('action', 'must be subscribe or unsubscribe');
  }
  return {
    action,
    filter: {
      ...(types === undefined ? {} : { eventTypes: parseTypes(types) }),
      ...(plantId === undefined ? {} : { plantId: parseId('plantId', plantId) }),
    },
  };
}

export function passes(filter: Filter, event: PlantEvent): boolean {
  if (filter.eventTypes !== undefined && !filter.eventTypes.includes(event.type)) return false;
  return filter.plantId === undefined || filter.plantId === plantOf(event);
}

/** Equal for filters that select the same events. */
export function filterKey({ eventTypes: types, plantId }: Filter): string {
  const sorted = types === undefined ? '*' : [...new Set(types)].sort().join(' ');
  return `${sorted} ${plantId ?? '*'}`;
}

function parseObject(text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Invalid('message', 'must be JSON'); // the parser's own message quotes it
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Invalid('message', 'must be a JSON object');
  }
  return { ...value };
}

function parseTypes(value: unknown): readonly EventType[] {
  const known: readonly unknown[] = eventTypes;
  const isList = Array.isArray(value) && value.length > 0 && value.length <= eventTypes.length;
  if (!isList || !value.every((type) => known.includes(type))) {
    throw new Invalid('eventTypes', `must be a list of some of ${eventTypes.join(', ')}`);
  }
  return value;
}
