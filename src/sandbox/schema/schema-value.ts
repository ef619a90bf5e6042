import type { PlacedSchema } from '../ask.ts';
import { isObject } from '../fields.ts';
import { invalidField } from '../refusal.ts';
import { flatten, type SchemaWork, spend } from './schema-flatten.ts';
import { buildNumber } from './schema-number.ts';
import { buildText } from './schema-text.ts';

// Below this depth only what the schema requires is generated, so that recursive schemas terminate.
const fullDepth = 5;
const depthLimit = 60;
const mostNodes = 5_000;
const itemLimit = 1_000;

/**
 * A value that satisfies the JSON schema: const, enum, type, properties, required, items, prefixItems,
 * the limits of numbers, texts and arrays, format, pattern (as far as `schema-pattern.ts` supports it),
 * allOf, `$ref` within the document, and the first branch of anyOf and oneOf. Keywords that only forbid
 * (not, if, dependentSchemas, propertyNames) are ignored. Throws a 400 for a schema without a value.
 */
export function buildValue({ schema, path }: PlacedSchema): unknown {
  return build(schema, { root: schema, path, budget: { nodes: mostNodes }, depth: 0, isDeep: false }, 0);
}

/** `variant` distinguishes the elements of an array with uniqueItems. */
function build(schema: unknown, work: SchemaWork, variant: number): unknown {
  spend(work);
  if (work.depth > depthLimit)
    throw invalidField(work.path, 'the schema has no finite value', 'invalid_json_schema');
  const flat = flatten(schema, work);
  if ('const' in flat) return flat.const;
  if (Array.isArray(flat.enum)) {
    if (flat.enum.length > 0) return flat.enum[variant % flat.enum.length];
    throw invalidField(work.path, 'the schema has an enum without values', 'invalid_json_schema');
  }
  switch (typeOf(flat)) {
    case 'object':
      return buildObject(flat, work);
    case 'array':
      return buildArray(flat, work);
    case 'number':
    case 'integer':
      return buildNumber(flat, variant);
    case 'boolean':
      return variant % 2 === 0;
    case 'null':
      return null;
    default:
      return buildText(flat, work.path, variant);
  }
}

function typeOf(schema: Readonly<Record<string, unknown>>): unknown {
  if (Array.isArray(schema.type)) return schema.type.find((type) => type !== 'null') ?? 'null';
  if (schema.type !== undefined) return schema.type;
  if (isObject(schema.properties) || Array.isArray(schema.required)) return 'object';
  if (schema.items !== undefined || schema.prefixItems !== undefined) return 'array';
  const bounds = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'];
  return bounds.some((name) => schema[name] !== undefined) ? 'number' : 'string';
}

/** The required properties; all of them if none is required, so that a loose schema is not answered with `{}`. */
function buildObject(schema: Readonly<Record<string, unknown>>, work: SchemaWork): unknown {
  const properties = isObject(schema.properties) ? schema.properties : {};
  const required = Array.isArray(schema.required) ? schema.required.map(String) : [];
  const declared = Object.keys(properties);
  const names = new Set(required.length === 0 && work.depth < fullDepth ? declared : required);
  const fewest = typeof schema.minProperties === 'number' ? Math.min(schema.minProperties, itemLimit) : 0;
  for (const name of declared) if (names.size < fewest) names.add(name);
  for (let i = 1; names.size < fewest; i += 1) names.add(`property${i}`);
  const other = schema.additionalProperties === false ? true : (schema.additionalProperties ?? true);
  // fromEntries defines a property named __proto__ where an assignment would change the prototype.
  return Object.fromEntries(
    [...names].map((name) => [
      name,
      build(Object.hasOwn(properties, name) ? properties[name] : other, below(work), 0),
    ]),
  );
}

function buildArray(schema: Readonly<Record<string, unknown>>, work: SchemaWork): unknown {
  const { prefixItems, items, contains, minItems, maxItems } = schema;
  const tuple: readonly unknown[] = Array.isArray(prefixItems)
    ? prefixItems
    : Array.isArray(items)
      ? items
      : [];
  const rest = Array.isArray(items) ? schema.additionalItems : items;
  const fewest = typeof minItems === 'number' ? minItems : 0;
  const most = typeof maxItems === 'number' ? maxItems : Number.POSITIVE_INFINITY;
  const wanted = work.depth < fullDepth || contains !== undefined ? Math.max(tuple.length, 1) : 0;
  const length = rest === false ? tuple.length : Math.max(fewest, Math.min(wanted, most));
  if (length > itemLimit) throw invalidField(work.path, `the schema asks for more than ${itemLimit} items`);
  return Array.from({ length }, (_, i) => {
    const schemaOfItem = i < tuple.length ? tuple[i] : (contains ?? rest ?? true);
    return build(schemaOfItem, below(work), schema.uniqueItems === true ? i : 0);
  });
}

function below(work: SchemaWork): SchemaWork {
  const depth = work.depth + 1;
  return { ...work, depth, isDeep: depth >= fullDepth };
}
