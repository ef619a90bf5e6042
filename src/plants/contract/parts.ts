import { maxima, plantId, plantPage, statuses } from './schemas.ts';

export const needsLogin = [{ bearer: [] }, { cookie: [] }];

/** A parameter of a query. */
export function query(name: string, description: string, schema: object) {
  return { name, in: 'query', description, schema };
}

export const plantIdParameter = { name: 'plantId', in: 'path', required: true, schema: plantId, example: 1 };

/** What both searches share. */
export const searchParameters = [
  query('status', 'Only plants with this status. Absent: all.', { type: 'string', enum: statuses }),
  query('name', 'Only plants with this text in their name; case does not matter.', {
    type: 'string',
    minLength: 1,
    maxLength: maxima.name,
  }),
  query('category', 'Only plants of this category; case does not matter.', {
    type: 'string',
    minLength: 1,
    maxLength: maxima.category,
  }),
  query('limit', 'Most plants of one answer.', {
    type: 'integer',
    minimum: 1,
    maximum: plantPage.most,
    default: plantPage.default,
  }),
  query('after', 'Only plants with a greater id: the last id of the page before.', {
    type: 'integer',
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    default: 0,
  }),
];

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
};

export const session = {
  description: 'A session.',
  headers: {
    'Set-Cookie': {
      description: 'The same token as the cookie "session": HttpOnly, SameSite=Strict, Path=/v3.',
      schema: { type: 'string' },
    },
  },
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Session' } } },
};
