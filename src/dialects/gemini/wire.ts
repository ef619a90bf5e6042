import type { Method, ModelList } from '../dialect.ts';
import { both, type Fields, isFields } from '../fields.ts';

// What generating and embedding have in common.

/** The paths of a field, each of its members in both spellings. */
export function pathsOf(...members: readonly string[]): readonly string[] {
  return members.reduce<readonly string[]>(
    (paths, member) =>
      both(member).flatMap((name) => (paths.length === 0 ? [name] : paths.map((path) => `${path}.${name}`))),
    [],
  );
}

/** Members that hold the client's own data, in which names are only names. */
const free = new Set([
  'args',
  'response',
  'parameters',
  'parametersJsonSchema',
  'responseSchema',
  'responseJsonSchema',
]);

/** A request with its top-level fields in camelCase: those of no known name cost no more than that. */
export function withCamelCaseFields(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [camelCaseOf(name), value]));
}

/** A request with all members of the format in camelCase. */
export function toCamelCase(fields: Fields): Fields {
  const entries = Object.entries(fields).map(([name, value]) => {
    const own = camelCaseOf(name);
    return [own, free.has(own) ? value : camelCased(value)];
  });
  return Object.fromEntries(entries);
}

function camelCaseOf(name: string): string {
  return name.replace(/_([a-z])/g, (_whole, letter: string) => letter.toUpperCase());
}

function camelCased(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(camelCased);
  return isFields(value) ? toCamelCase(value) : value;
}

export function pathOf(method: string): `/v1${string}` {
  return `/v1beta/models/{model}:${method}`;
}

export const generate: Method = { path: pathOf('generateContent'), stream: false };
export const streamGenerate: Method = {
  path: pathOf('streamGenerateContent'),
  query: 'alt=sse',
  stream: true,
};

/** Google's SDK asks at `/v1` since its version 3. */
export function atBothVersions(...methods: readonly [Method, ...Method[]]): readonly [Method, ...Method[]] {
  const [first, ...others] = methods;
  const stable = methods.map(
    (method): Method => ({ ...method, path: method.path.replace('/v1beta/', '/v1/') as '/v1' }),
  );
  return [first, ...others, ...stable];
}

export const ownHeaders = { prefix: 'x-goog-' } as const;

export const geminiModels: ModelList = {
  path: '/v1beta/models',
  header: 'x-goog-api-key',
  entry: ({ id, contextWindow, maxOutputTokens }) => ({
    name: `models/${id}`,
    baseModelId: id,
    displayName: id,
    ...(contextWindow === undefined ? {} : { inputTokenLimit: contextWindow }),
    ...(maxOutputTokens === undefined ? {} : { outputTokenLimit: maxOutputTokens }),
    supportedGenerationMethods: ['generateContent', 'streamGenerateContent', 'countTokens'],
  }),
  list: (models) => ({ models }),
};
