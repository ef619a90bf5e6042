import { maxima, page, plantId, statuses } from './schemas.ts';

export const needsLogin = [{ bearer: [] }, { cookie: [] }];

export const plantIdParameter = {
  name: 'plantId',
  in: 'path',
  required: true,
  schema: plantId,
  example: 1,
} as const;

export const limit = {
  name: 'limit',
  in: 'query',
  description: 'Most plants of one answer.',
  schema: { type: 'integer', minimum: 1, maximum: page.most, default: page.default },
} as const;

export const after = {
  name: 'after',
  in: 'query',
  description: 'Only plants with a greater id: the last id of the page before.',
  schema: { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER, default: 0 },
} as const;

export const status = {
  name: 'status',
  in: 'query',
  description: 'Only plants with this status. Absent: all.',
  schema: { type: 'string', enum: statuses },
} as const;

export const plantList = {
  description: 'Matching plants by id; an empty array where there are none.',
  headers: {
    Link: {
      description: 'Where there is more: the next page, as rel="next".',
      schema: { type: 'string' },
    },
  },
  content: {
    'application/json': { schema: { type: 'array', items: { $ref: '#/components/schemas/Plant' } } },
  },
} as const;

export const session = {
  description: 'A session.',
  headers: {
    'Set-Cookie': {
      description: 'The same token as the cookie "session": HttpOnly, SameSite=Strict, Path=/v3.',
      schema: { type: 'string' },
    },
  },
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Session' } } },
} as const;

export const name = {
  name: 'name',
  in: 'query',
  description: 'Only plants with this text in their name; case does not matter.',
  schema: { type: 'string', minLength: 1, maxLength: maxima.name },
} as const;

export const category = {
  name: 'category',
  in: 'query',
  description: 'Only plants of this category; case does not matter.',
  schema: { type: 'string', minLength: 1, maxLength: maxima.category },
} as const;
