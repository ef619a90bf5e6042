import * as z from 'zod';
import { settingsSchema } from './schema.ts';

/** The parts of JSON Schema (2020-12) that zod writes and the checks here read. */
export interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly pattern?: string;
  readonly const?: unknown;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly propertyNames?: JsonSchema;
  readonly additionalProperties?: JsonSchema | boolean;
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
}

/** The JSON Schema of a configuration whose variables have been replaced. */
export function buildJsonSchema(): JsonSchema {
  const schema = z.toJSONSchema(settingsSchema, {
    io: 'input',
    unrepresentable: 'any',
    reused: 'inline',
    override: ({ jsonSchema }) => admitList(jsonSchema),
  });
  return { ...schema, title: 'Configuration of the gateway' } as JsonSchema; // zod's type is wider than what it writes
}

/** A map of names that a file may write as a list: names are given to it before the schema sees it. */
function admitList(schema: Record<string, unknown>): void {
  const { isListToo, description, ...map } = schema;
  if (isListToo !== true) return;
  for (const key of Object.keys(map)) delete schema[key];
  delete schema.isListToo;
  schema.anyOf = [map, { type: 'array', items: map.additionalProperties }];
}

/** The JSON Schema of a file as it is written, for editors: every value may also be, or hold, a `${NAME}`. */
export function buildEditorSchema(): JsonSchema {
  return admitVariables(buildJsonSchema());
}

const variable: JsonSchema = { type: 'string', pattern: '\\$\\{[A-Za-z_][A-Za-z0-9_]*\\}' };

function admitVariables(schema: JsonSchema): JsonSchema {
  const { properties, additionalProperties, items, anyOf, oneOf } = schema;
  const isNarrow = schema.pattern !== undefined || schema.enum !== undefined;
  if (isNarrow || ['integer', 'number', 'boolean'].includes(String(schema.type))) {
    const { description, default: fallback, ...rest } = schema;
    return {
      ...(description !== undefined && { description }),
      ...(fallback !== undefined && { default: fallback }),
      anyOf: [rest, variable],
    };
  }
  return {
    ...schema,
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([key, inner]) => [key, admitVariables(inner)]),
      ),
    }),
    ...(typeof additionalProperties === 'object' && {
      additionalProperties: admitVariables(additionalProperties),
    }),
    ...(items && { items: admitVariables(items) }),
    ...(anyOf && { anyOf: anyOf.map(admitVariables) }),
    ...(oneOf && { oneOf: oneOf.map(admitVariables) }),
  };
}

/** The keys that may stand in the object at a path; none if there is no object or any name is free. */
export function keysAt(schema: JsonSchema, path: readonly PropertyKey[]): string[] {
  return schemasAt(schema, path).flatMap((at) =>
    branches(at).flatMap((branch) => [
      ...Object.keys(branch.properties ?? {}),
      ...(branch.propertyNames?.enum ?? []).map(String),
    ]),
  );
}

function schemasAt(schema: JsonSchema, path: readonly PropertyKey[]): JsonSchema[] {
  const [head, ...rest] = path;
  if (head === undefined) return [schema];
  return branches(schema)
    .map((branch) => child(branch, head))
    .filter((next) => next !== undefined)
    .flatMap((next) => schemasAt(next, rest));
}

function child(schema: JsonSchema, key: PropertyKey): JsonSchema | undefined {
  if (typeof key === 'number') return schema.items;
  const own = schema.properties?.[String(key)];
  if (own !== undefined) return own;
  return typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined;
}

function branches(schema: JsonSchema): readonly JsonSchema[] {
  return [schema, ...(schema.anyOf ?? []), ...(schema.oneOf ?? [])];
}
