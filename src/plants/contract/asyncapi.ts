import { errorSchema, plantId, plantSchema, statuses } from './schemas.ts';

const occurredAt = { type: 'string', format: 'date-time' } as const;
const status = { type: 'string', enum: statuses } as const;

export const eventTypes = [
  'plant.created',
  'plant.updated',
  'plant.status.changed',
  'plant.deleted',
] as const;

export const eventsPath = '/v3/ws/plants';

/** By the names of their schemas. */
const messages = {
  subscribe: { title: 'Subscribe', summary: 'Adds a filter; events that pass any filter are sent, once.' },
  unsubscribe: {
    title: 'Unsubscribe',
    summary: 'Removes the filter with the same eventTypes and plantId; with neither, all filters.',
  },
  plantCreated: { name: 'plant.created', title: 'Plant created' },
  plantUpdated: { name: 'plant.updated', title: 'Plant updated' },
  plantStatusChanged: {
    name: 'plant.status.changed',
    title: 'Status changed',
    summary: 'Follows plant.updated where the status is another one.',
  },
  plantDeleted: { name: 'plant.deleted', title: 'Plant deleted', summary: 'The plant as it was.' },
  refused: { title: 'Refused', summary: 'The answer to a message that could not be understood.' },
} as const;

const filter = {
  eventTypes: {
    type: 'array',
    minItems: 1,
    maxItems: eventTypes.length,
    items: { type: 'string', enum: eventTypes },
    description: 'Only events of these types. Absent: all.',
  },
  plantId: { ...plantId, description: 'Only events of this plant. Absent: all.' },
} as const;

const channel = { $ref: '#/channels/plantEvents' };

/** The contract of the events, AsyncAPI 3.0. */
export const asyncapi = {
  asyncapi: '3.0.0',
  info: {
    title: 'Plant Store',
    version: '1.0.0',
    description:
      'Changes of the catalogue as they happen, over one WebSocket. Nothing is sent before the first subscription.',
    license: { name: 'MIT' },
  },
  defaultContentType: 'application/json',
  channels: {
    plantEvents: {
      address: eventsPath,
      description:
        'Opened with the token of a login (bearer or cookie). A client is disconnected when it reads too slowly, floods, or its session ends. Code 1012 means that events were missed: connect again and search anew.',
      bindings: { ws: { method: 'GET' } },
      messages: eachMessage((name) => ({ $ref: `#/components/messages/${name}` })),
    },
  },
  operations: {
    chooseEvents: {
      action: 'receive',
      summary: 'The client chooses which events it wants.',
      channel,
      messages: ofChannel('subscribe', 'unsubscribe'),
    },
    sendEvents: {
      action: 'send',
      summary: 'The service sends what happened, after it is stored for good.',
      channel,
      messages: ofChannel('plantCreated', 'plantUpdated', 'plantStatusChanged', 'plantDeleted', 'refused'),
    },
  },
  components: {
    securitySchemes: {
      bearer: { type: 'http', scheme: 'bearer' },
      cookie: { type: 'httpApiKey', in: 'cookie', name: 'session' },
    },
    messages: eachMessage((name, message) => ({
      ...message,
      payload: { $ref: `#/components/schemas/${name}` },
    })),
    schemas: {
      plant: plantSchema,
      subscribe: object({ action: { const: 'subscribe' } }, filter),
      unsubscribe: object({ action: { const: 'unsubscribe' } }, filter),
      plantCreated: happened('plant.created'),
      plantUpdated: happened('plant.updated'),
      plantDeleted: happened('plant.deleted'),
      plantStatusChanged: object({
        type: { const: 'plant.status.changed' },
        occurredAt,
        plantId,
        previousStatus: status,
        newStatus: status,
      }),
      refused: errorSchema,
    },
  },
};

function eachMessage<Value>(build: (name: string, message: { readonly title: string }) => Value) {
  return Object.fromEntries(Object.entries(messages).map(([name, each]) => [name, build(name, each)]));
}

function ofChannel(...names: readonly (keyof typeof messages)[]) {
  return names.map((name) => ({ $ref: `${channel.$ref}/messages/${name}` }));
}

function object(required: object, optional: object = {}) {
  return {
    type: 'object',
    required: Object.keys(required),
    additionalProperties: false,
    properties: { ...required, ...optional },
  };
}

function happened(type: (typeof eventTypes)[number]) {
  return object({ type: { const: type }, occurredAt, data: { $ref: '#/components/schemas/plant' } });
}
