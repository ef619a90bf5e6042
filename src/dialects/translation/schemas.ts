import { type Fields, isFields, toFields, toList, toText, withoutAbsent } from '../fields.ts';
import { paragraphs } from './media.ts';
import { referred } from './references.ts';

// JSON schemas as vendors take them. Each function returns what it was given where nothing has to change.

const unions = ['anyOf', 'oneOf', 'allOf'] as const;
const bounds = [
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
  ...['minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties'],
];
const unboundedMembers = [...bounds, 'uniqueItems'];
/** Members that hold schemas by name, and that are a schema or a list of them. */
const maps = ['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'];
const nested = [
  ...unions,
  'items',
  'prefixItems',
  'additionalProperties',
  'not',
  'if',
  'then',
  'else',
  'contains',
];

/**
 * The schema of a tool's arguments with an object at its root, numbers as bounds and lists of something. No host takes a
 * union there (CLIProxyAPI#4428, OmniRoute#13552, 2026-09), so its variants become one: what each requires stays required,
 * of choices what all require. A reference there is resolved.
 */
export function toArgumentsSchema(schema: Fields): Fields {
  const root = mapSchema(schema, withItems);
  const isPlain = root.$ref === undefined && unions.every((union) => !Array.isArray(root[union]));
  if (isPlain && (root.type === 'object' || root.type === undefined)) return root;
  return withoutAbsent({ ...argumentsOf(root, root, { left: maxVariants }), type: 'object' });
}

/** Variants of variants, and references, that are followed at the root: they can lead to themselves and multiply. */
const maxVariants = 1_000;

/** A schema at the root with its reference and unions as properties of its own. */
function argumentsOf(root: Fields, found: Fields, count: { left: number }): Fields {
  const { $ref, ...beside } = found;
  const name = toText($ref);
  const schema = name === '' ? found : { ...referred(root, name), ...beside };
  if (count.left <= 0) return {};
  count.left -= 1;
  if (schema.$ref !== undefined) return argumentsOf(root, schema, count);
  const { anyOf, oneOf, allOf, ...own } = schema;
  const inner = (variant: unknown) => argumentsOf(root, toFields(variant), count);
  const choices = [anyOf, oneOf].filter(Array.isArray).map((variants) => variants.map(inner));
  const parts = toList(allOf).map(inner);
  const merged = mergedSchema([...choices.flat(), ...parts, own]);
  const required = [
    ...[...parts, own].flatMap((part) => toList(part.required)),
    ...choices.flatMap(requiredByAll),
  ];
  return withoutAbsent({
    ...own,
    properties: merged.properties,
    required: required.length > 0 ? [...new Set(required)] : undefined,
    $defs: mergedDefinitions('$defs', own, [...choices.flat(), ...parts]),
    definitions: mergedDefinitions('definitions', own, [...choices.flat(), ...parts]),
  });
}

function requiredByAll([first = {}, ...others]: readonly Fields[]): readonly unknown[] {
  const sets = others.map(({ required }) => new Set(toList(required)));
  return toList(first.required).filter((name) => sets.every((names) => names.has(name)));
}

/** Schemas of which all hold, as one; of what several say, the last counts. */
export function mergedSchema(all: readonly Fields[]): Fields {
  const properties = all.map((schema) => schema.properties).filter(isFields);
  const required = all.flatMap((schema) => toList(schema.required));
  return {
    ...Object.assign({}, ...all),
    ...(properties.length > 0 && { properties: Object.assign({}, ...properties) }),
    ...(required.length > 0 && { required: [...new Set(required)] }),
  };
}

function mergedDefinitions(name: string, own: Fields, all: readonly Fields[]): Fields | undefined {
  const found = [...all, own].map((schema) => schema[name]).filter(isFields);
  return found.length === 0 ? undefined : Object.assign({}, ...found);
}

/** OpenAI refuses a list whose items are not described (digitalocean-labs/mcp-digitalocean#265, 2026-02). */
function withItems(schema: Fields): Fields {
  const bounded = withNumericBounds(schema);
  const { type, items } = bounded;
  const isList = type === 'array' || (Array.isArray(type) && type.includes('array'));
  return isList && items === undefined ? { ...bounded, items: {} } : bounded;
}

/** Some clients write bounds as texts, which hosts refuse. */
function withNumericBounds(schema: Fields): Fields {
  const texts = bounds.filter(
    (name) => typeof schema[name] === 'string' && Number.isFinite(Number(schema[name])),
  );
  if (texts.length === 0) return schema;
  return { ...schema, ...Object.fromEntries(texts.map((name) => [name, Number(schema[name])])) };
}

/**
 * The schema as Anthropic takes it where it is enforced: every object closed, bounds as words of the description
 * (litellm#35811, future-agi#412, veryfront-code#3921, 2026-08).
 */
export function toClosedSchema(schema: unknown): unknown {
  if (!isFields(schema)) return schema;
  return mapSchema(schema, (each) => {
    const found = unboundedMembers.filter((name) => each[name] !== undefined);
    const isObject = each.type === 'object' || isFields(each.properties);
    if (found.length === 0 && (!isObject || each.additionalProperties === false)) return each;
    return withoutAbsent({
      ...inWords(each, found),
      additionalProperties: isObject ? false : each.additionalProperties,
    });
  });
}

/** The schema with some members as words of its description. */
export function inWords(schema: Fields, members: readonly string[]): Fields {
  const kept = Object.fromEntries(Object.entries(schema).filter(([name]) => !members.includes(name)));
  const words = members.map((name) => `${name}: ${JSON.stringify(schema[name])}`).join(', ');
  return withoutAbsent({
    ...kept,
    description: paragraphs([toText(schema.description), words]) || undefined,
  });
}

/** Applies a change to a schema and all that it holds, from the inside. */
export function mapSchema(schema: Fields, change: (schema: Fields) => Fields): Fields {
  const map = (value: unknown): unknown => {
    if (Array.isArray(value)) return mapped(value, map);
    return isFields(value) ? mapSchema(value, change) : value;
  };
  let changed: Record<string, unknown> | undefined;
  const set = (name: string, value: unknown) => {
    if (value === schema[name]) return;
    changed ??= { ...schema };
    changed[name] = value;
  };
  for (const name of nested) if (typeof schema[name] === 'object') set(name, map(schema[name]));
  for (const name of maps) {
    const held = schema[name];
    if (!isFields(held)) continue;
    const entries = Object.entries(held).map(([key, value]) => [key, map(value)] as const);
    if (entries.some(([key, value]) => value !== held[key])) set(name, Object.fromEntries(entries));
  }
  return change(changed ?? schema);
}

function mapped(values: readonly unknown[], map: (value: unknown) => unknown): readonly unknown[] {
  const all = values.map(map);
  return all.some((value, index) => value !== values[index]) ? all : values;
}
