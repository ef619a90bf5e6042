import { asyncapi, eventsPath } from './asyncapi.ts';
import { needsLogin, plantIdParameter, plantList, query, searchParameters, session } from './parts.ts';
import {
  errorSchema,
  loginSchema,
  maxima,
  newPlantSchema,
  plantChangeSchema,
  plantSchema,
  sessionSchema,
  userSchema,
} from './schemas.ts';

const messages = Object.values(asyncapi.components.messages).map((message) => `- **${message.title}**`);

const description = `Reading needs no login; changing does. Every failure has the same body, and every answer a request id.

To try what needs a login, execute \`POST /user/auth/login\` below: its token is used from then on.

Changes arrive as they happen on the WebSocket \`${eventsPath}\`, described in [asyncapi.json](asyncapi.json) with these messages:

${messages.join('\n')}`;

/** The contract of the HTTP service, OpenAPI 3.1. */
export const openapi = {
  openapi: '3.1.0',
  info: {
    title: 'Plant Store',
    version: '1.0.0',
    summary: 'A catalogue of plants with search by tags, logins and live events.',
    description,
    license: { name: 'MIT', identifier: 'MIT' },
  },
  servers: [{ url: '/v3' }],
  security: [],
  tags: [
    { name: 'plant', description: 'The catalogue' },
    { name: 'user', description: 'Logins and users' },
    { name: 'about', description: 'This service about itself' },
  ],
  paths: {
    '/plant': {
      post: {
        operationId: 'addPlant',
        tags: ['plant'],
        summary: 'Add a plant',
        security: needsLogin,
        requestBody: body('NewPlant'),
        responses: {
          '200': json('The plant as stored.', 'Plant'),
          ...errors(400, 401, 403, 405, 408, 413, 415),
        },
      },
      put: {
        operationId: 'updatePlant',
        tags: ['plant'],
        summary: 'Change a plant',
        security: needsLogin,
        requestBody: body('PlantChange'),
        responses: {
          '200': json('The plant as it is now.', 'Plant'),
          ...errors(400, 401, 403, 404, 408, 413, 415),
        },
      },
    },
    '/plant/{plantId}': {
      get: {
        operationId: 'getPlantById',
        tags: ['plant'],
        summary: 'One plant',
        parameters: [plantIdParameter],
        responses: { '200': json('The plant.', 'Plant'), ...errors(400, 404) },
      },
      delete: {
        operationId: 'deletePlant',
        tags: ['plant'],
        summary: 'Delete a plant',
        security: needsLogin,
        parameters: [plantIdParameter],
        responses: { '200': json('The plant as it was.', 'Plant'), ...errors(400, 401, 403, 404) },
      },
    },
    '/plant/search/status': {
      get: {
        operationId: 'searchPlantsByStatus',
        tags: ['plant'],
        summary: 'Plants of one status',
        parameters: searchParameters,
        responses: { '200': plantList, ...errors(400) },
      },
    },
    '/plant/search/tags': {
      get: {
        operationId: 'searchPlantsByTags',
        tags: ['plant'],
        summary: 'Plants with given tags',
        parameters: [
          {
            ...query(
              'tags',
              'Tags separated by commas; may also be repeated. Case does not matter. Absent: all plants.',
              {
                type: 'array',
                minItems: 1,
                maxItems: maxima.tags,
                items: { type: 'string', minLength: 1, maxLength: maxima.tag },
              },
            ),
            style: 'form',
            explode: false,
          },
          query('match', 'Whether one of the tags is enough or a plant must have all of them.', {
            type: 'string',
            enum: ['any', 'all'],
            default: 'any',
          }),
          ...searchParameters,
        ],
        responses: { '200': plantList, ...errors(400) },
      },
    },
    '/user/auth/login': {
      get: {
        operationId: 'loginUser',
        tags: ['user'],
        summary: 'Log in, with the password in the query',
        description:
          'Kept for clients that need it. Addresses end up in histories and logs: prefer the POST.',
        parameters: [
          { name: 'username', in: 'query', schema: { type: 'string' } },
          { name: 'password', in: 'query', schema: { type: 'string', format: 'password' } },
        ],
        responses: { '200': session, ...errors(400, 401, 403, 429) },
      },
      post: {
        operationId: 'loginUserWithBody',
        tags: ['user'],
        summary: 'Log in',
        requestBody: body('Login'),
        responses: { '200': session, ...errors(400, 401, 403, 408, 413, 415, 429) },
      },
    },
    '/user/auth/logout': {
      get: {
        operationId: 'logoutUser',
        tags: ['user'],
        summary: 'Log out',
        description:
          'Ends the session that the request carries. Without one, or with one that has ended, it does nothing.',
        security: [{}, ...needsLogin],
        responses: { '200': json('No session any more.', 'LoggedOut'), ...errors(403) },
      },
    },
    '/user/{username}': {
      get: {
        operationId: 'getUserByName',
        tags: ['user'],
        summary: 'The user who is logged in',
        description:
          'Users see themselves alone: any other name is unknown to them. "@me" stands for the own name.',
        security: needsLogin,
        parameters: [
          {
            name: 'username',
            in: 'path',
            required: true,
            schema: { type: 'string', minLength: 1 },
          },
        ],
        responses: { '200': json('The user.', 'User'), ...errors(400, 401, 404) },
      },
    },
    '/openapi.json': {
      get: {
        operationId: 'getOpenapi',
        tags: ['about'],
        summary: 'This contract',
        responses: { '200': anyJson('OpenAPI 3.1.'), ...errors() },
      },
    },
    '/asyncapi.json': {
      get: {
        operationId: 'getAsyncapi',
        tags: ['about'],
        summary: 'The contract of the events on /v3/ws/plants',
        responses: { '200': anyJson('AsyncAPI 3.0.'), ...errors() },
      },
    },
    '/docs': {
      get: {
        operationId: 'getDocs',
        tags: ['about'],
        summary: 'This page: the contract to read and to try',
        responses: {
          '200': { description: 'A page.', content: { 'text/html': { schema: { type: 'string' } } } },
          ...errors(),
        },
      },
    },
  },
  components: {
    securitySchemes: {
      bearer: { type: 'http', scheme: 'bearer', description: 'The token of a login.' },
      cookie: {
        type: 'apiKey',
        in: 'cookie',
        name: 'session',
        description:
          'Set by a login. Calls that change something must come from a page of this service, or from none.',
      },
    },
    schemas: {
      Plant: plantSchema,
      NewPlant: newPlantSchema,
      PlantChange: plantChangeSchema,
      Login: loginSchema,
      Session: sessionSchema,
      LoggedOut: {
        type: 'object',
        required: ['status'],
        additionalProperties: false,
        properties: { status: { const: 'logged out' } },
      },
      User: userSchema,
      Error: errorSchema,
    },
    responses: {
      Error: failure('Any other failure; its status and reason say which.'),
      Error400: failure('Something in the request is wrong or ambiguous.'),
      Error401: failure('No valid session, or a wrong name or password.'),
      Error403: failure('Web pages of that origin may not do this.'),
      Error404: failure('There is no such thing.'),
      Error405: failure('The plant is not valid.'),
      Error408: failure('The body did not arrive in time.'),
      Error413: failure('The body is too large.'),
      Error415: failure('The body is not application/json.'),
      Error429: failure('Too many failed logins; Retry-After says when to come back.'),
      Error503: failure('Too busy, or the database is away; Retry-After says when to come back.'),
    },
  },
} as const;

function reference<Name extends string>(name: Name) {
  return { 'application/json': { schema: { $ref: `#/components/schemas/${name}` as const } } };
}

function body<Name extends string>(name: Name) {
  return { required: true, content: reference(name) };
}

function json<Name extends string>(description: string, name: Name) {
  return { description, content: reference(name) };
}

function anyJson(description: string) {
  return { description, content: { 'application/json': { schema: { type: 'object' } } } };
}

/** The documented failures of an operation; any other has the same body. */
function errors(...numbers: readonly number[]): Record<string, { readonly $ref: string }> {
  const known = numbers.map((number) => [String(number), `Error${number}`] as const);
  const all = [...known, ['503', 'Error503'] as const, ['default', 'Error'] as const];
  return Object.fromEntries(
    all.map(([status, name]) => [status, { $ref: `#/components/responses/${name}` }]),
  );
}

function failure(description: string) {
  return { description, content: reference('Error') };
}
