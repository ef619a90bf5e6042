// One line of non-blank text: no control characters, no lone surrogates.
const line = '^(?=.*\\S)[^\\p{Cc}\\p{Cs}\\u2028\\u2029]*$';
const lineWithoutComma = '^(?=.*\\S)[^,\\p{Cc}\\p{Cs}\\u2028\\u2029]*$';

/**
 * Longest texts in characters (code points; of a login in UTF-16 units), and the most tags of a plant or a search. What
 * documents say and what requests are checked by.
 */
export const maxima = { name: 200, category: 100, tag: 50, tags: 50, login: 1024 } as const;

/** How many plants one answer of a search has. */
export const plantPage = { default: 100, most: 1_000 } as const;

const name = {
  type: 'string',
  minLength: 1,
  maxLength: maxima.name,
  pattern: line,
  description: 'One line of text, not blank.',
  examples: ['Maidenhair Fern'],
} as const;

const category = {
  type: 'string',
  minLength: 1,
  maxLength: maxima.category,
  pattern: line,
  description: 'A free word for the kind of plant; missing where none was given.',
  examples: ['houseplant'],
} as const;

export const statuses = ['available', 'pending', 'sold'] as const;

const status = { type: 'string', enum: statuses } as const;

const tags = {
  type: 'array',
  maxItems: maxima.tags,
  items: { type: 'string', minLength: 1, maxLength: maxima.tag, pattern: lineWithoutComma },
  description: 'Kept in the given order and spelling; compared without case. A tag has no comma.',
  examples: [['green', 'shade']],
} as const;

export const plantId = {
  type: 'integer',
  minimum: 1,
  maximum: Number.MAX_SAFE_INTEGER,
  examples: [17],
} as const;

/** The data shapes that the OpenAPI and the AsyncAPI document share, as JSON Schema 2020-12. */
export const plantSchema = {
  type: 'object',
  required: ['id', 'name', 'status', 'tags'],
  additionalProperties: false,
  properties: { id: plantId, name, category, status, tags },
} as const;

export const newPlantSchema = {
  type: 'object',
  required: ['name'],
  additionalProperties: false,
  properties: { name, category, status: { ...status, default: 'available' }, tags },
} as const;

export const plantChangeSchema = {
  type: 'object',
  description:
    'What is left out stays as it is. With an id, the plant with that id is changed and a name renames it; without, the name must be that of exactly one plant. A category of null removes it.',
  anyOf: [{ required: ['id'] }, { required: ['name'] }],
  additionalProperties: false,
  properties: { id: plantId, name, category: { ...category, type: ['string', 'null'] }, status, tags },
} as const;

export const loginSchema = {
  type: 'object',
  required: ['username', 'password'],
  additionalProperties: false,
  properties: {
    username: { type: 'string', minLength: 1, maxLength: maxima.login, examples: ['demo'] },
    password: {
      type: 'string',
      minLength: 1,
      maxLength: maxima.login,
      writeOnly: true,
      examples: ['correct horse battery'],
    },
  },
} as const;

export const sessionSchema = {
  type: 'object',
  required: ['token', 'expiresIn'],
  additionalProperties: false,
  properties: {
    token: {
      type: 'string',
      pattern: '^[A-Za-z0-9_-]{43}$',
      description: 'Opaque; send it as a bearer token.',
      examples: ['q3Xv0bJm7wYc5tRk2nLs8dPz4gHf6eAu1iOxV9yTjKE'],
    },
    expiresIn: {
      type: 'integer',
      minimum: 1,
      description: 'Seconds for which the token is valid.',
      examples: [3600],
    },
  },
} as const;

export const userSchema = {
  type: 'object',
  required: ['id', 'username', 'email'],
  additionalProperties: false,
  properties: {
    id: { type: 'integer', minimum: 1 },
    username: { type: 'string', pattern: '^[A-Za-z0-9._-]{1,64}$', examples: ['demo'] },
    email: { type: 'string', description: 'Empty where none was given.', examples: ['demo@example.org'] },
  },
} as const;

export const errorSchema = {
  type: 'object',
  required: ['type', 'error', 'request_id'],
  additionalProperties: false,
  properties: {
    type: { const: 'error' },
    error: {
      type: 'object',
      required: ['type', 'reason', 'message', 'code', 'param'],
      additionalProperties: false,
      properties: {
        type: {
          type: 'string',
          description: 'The kind of failure.',
          examples: ['not_found_error'],
        },
        reason: {
          type: 'string',
          description: 'The failure itself. Programs decide by this.',
          examples: ['plant.unknown'],
        },
        message: {
          type: 'string',
          description: 'What was wrong, where, and what would be right.',
          examples: ['no plant has the id 17'],
        },
        code: { type: 'string', description: 'The same as reason.', examples: ['plant.unknown'] },
        param: {
          type: ['string', 'null'],
          description: 'The field or parameter that was wrong.',
          examples: [null],
        },
      },
    },
    request_id: {
      type: 'string',
      pattern: '^req_[0-9a-f]{30}$',
      examples: ['req_17a7e2da053a1d07c0eea69c6fb0ea'],
    },
  },
} as const;
