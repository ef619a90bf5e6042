import { errorSchema, plantId, plantSchema, statuses } from './schemas.ts';

const occurredAt = { type: 'string', format: 'date-time' } as const;
const status = { type: 'string', enum: statuses } as const;

export const eventTypes = [
  'plant.created',
  'plant.updated',
  'plant.status.changed',
  'plant.deleted',
] as const;

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
      address: '/v3/ws/plants',
      description:
        'Opened with the token of a login (bearer or cookie). A client is disconnected when it reads too slowly, floods, or its session ends. Code 1012 means that events were missed: connect again and search anew.',
      bindings: { ws: { method: 'GET' } },
      messages: {
        subscribe: { $ref: '#/components/messages/subscribe' },
        unsubscribe: { $ref: '#/components/messages/unsubscribe' },
        plantCreated: { $ref: '#/components/messages/plantCreated' },
        plantUpdated: { $ref: '#/components/messages/plantUpdated' },
        plantStatusChanged: { $ref: '#/components/messages/plantStatusChanged' },
        plantDeleted: { $ref: '#/components/messages/plantDeleted' },
        refused: { $ref: '#/components/messages/refused' },
      },
    },
  },
  operations: {
    chooseEvents: {
      action: 'receive',
      summary: 'The client chooses which events it wants.',
      channel: { $ref: '#/channels/plantEvents' },
      messages: [
        { $ref: '#/channels/plantEvents/messages/subscribe' },
        { $ref: '#/channels/plantEvents/messages/unsubscribe' },
      ],
    },
    sendEvents: {
      action: 'send',
      summary: 'The service sends what happened, after it is stored for good.',
      channel: { $ref: '#/channels/plantEvents' },
      messages: [
        { $ref: '#/channels/plantEvents/messages/plantCreated' },
        { $ref: '#/channels/plantEvents/messages/plantUpdated' },
        { $ref: '#/channels/plantEvents/messages/plantStatusChanged' },
        { $ref: '#/channels/plantEvents/messages/plantDeleted' },
        { $ref: '#/channels/plantEvents/messages/refused' },
      ],
    },
  },
  components: {
    securitySchemes: {
      bearer: { type: 'http', scheme: 'bearer' },
      cookie: { type: 'httpApiKey', in: 'cookie', name: 'session' },
    },
    messages: {
      subscribe: {
        title: 'Subscribe',
        summary: 'Adds a filter; events that pass any filter are sent, once.',
        payload: { $ref: '#/components/schemas/subscribe' },
      },
      unsubscribe: {
        title: 'Unsubscribe',
        summary: 'Removes the filter with the same eventTypes and plantId; with neither, all filters.',
        payload: { $ref: '#/components/schemas/unsubscribe' },
      },
      plantCreated: {
        name: 'plant.created',
        title: 'Plant created',
        payload: { $ref: '#/components/schemas/plantCreated' },
      },
      plantUpdated: {
        name: 'plant.updated',
        title: 'Plant updated',
        payload: { $ref: '#/components/schemas/plantUpdated' },
      },
      plantStatusChanged: {
        name: 'plant.status.changed',
        title: 'Status changed',
        summary: 'Follows plant.updated where the status is another one.',
        payload: { $ref: '#/components/schemas/plantStatusChanged' },
      },
      plantDeleted: {
        name: 'plant.deleted',
        title: 'Plant deleted',
        summary: 'The plant as it was.',
        payload: { $ref: '#/components/schemas/plantDeleted' },
      },
      refused: {
        title: 'Refused',
        summary: 'The answer to a message that could not be understood.',
        payload: { $ref: '#/components/schemas/refused' },
      },
    },
    schemas: {
      plant: plantSchema,
      subscribe: choice('subscribe'),
      unsubscribe: choice('unsubscribe'),
      plantCreated: happened('plant.created'),
      plantUpdated: happened('plant.updated'),
      plantDeleted: happened('plant.deleted'),
      plantStatusChanged: {
        type: 'object',
        required: ['type', 'occurredAt', 'plantId', 'previousStatus', 'newStatus'],
        additionalProperties: false,
        properties: {
          type: { const: 'plant.status.changed' },
          occurredAt,
          plantId,
          previousStatus: status,
          newStatus: status,
        },
      },
      refused: errorSchema,
    },
  },
} as const;

function choice<Action extends string>(action: Action) {
  return {
    type: 'object',
    required: ['action'],
    additionalProperties: false,
    properties: { action: { const: action }, ...filter },
  } as const;
}

function happened<Type extends string>(type: Type) {
  return {
    type: 'object',
    required: ['type', 'occurredAt', 'data'],
    additionalProperties: false,
    properties: { type: { const: type }, occurredAt, data: { $ref: '#/components/schemas/plant' } },
  } as const;
}
