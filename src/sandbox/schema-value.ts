import { type Fields, isFields, toFields, toList, wrongField } from '../dialects/fields.ts';

/** How much of a schema is unfolded, in names and characters: one that refers to itself has no end of its own. */
const maxWork = 200_000;
/** What each visit of a schema counts for beside its names. */
const visitWork = 40;
const maxDepth = 30;
/** Below this depth only what is required is generated. */
const fullDepth = 4;
const maxItems = 100;
const maxCharacters = 10_000;

const formats: Readonly<Record<string, string>> = {
  'date-time': '2025-01-01T12:00:00Z',
  date: '2025-01-01',
  time: '12:00:00Z',
  email: 'sandbox@example.com',
  uri: 'https://example.com/sandbox',
  uuid: '123e4567-e89b-42d3-a456-426614174000',
};

/**
 * A value for a JSON schema, from const, enum, type, properties, required, items, the bounds of numbers, texts and
 * arrays, six formats, `$ref` within the document, allOf, and the first branch of anyOf and oneOf. Everything else,
 * patterns among it, is ignored. Throws request.field for a schema without end.
 */
export function buildValue(root: unknown): unknown {
  let left = maxWork;
  const spend: Spend = (work) => {
    left -= work;
    if (left < 0) throw wrongField('schema', 'a schema with an end');
  };
  const build = (schema: unknown, depth: number): unknown => {
    if (depth > maxDepth) spend(maxWork);
    const flat = flatten(schema, { root, depth, spend });
    if ('const' in flat) return flat.const;
    if (Array.isArray(flat.enum) && flat.enum.length > 0) return flat.enum[0];
    switch (typeOf(flat)) {
      case 'object':
        return buildObject(flat, depth > fullDepth, (each) => build(each, depth + 1));
      case 'array':
        return buildArray(flat, depth > fullDepth, (each) => build(each, depth + 1));
      case 'number':
      case 'integer':
        return buildNumber(flat);
      case 'boolean':
        return true;
      case 'null':
        return null;
      default:
        return buildText(flat, spend);
    }
  };
  return build(root, 0);
}

/** Counts work before it is done. Throws request.field when it has become too much. */
type Spend = (work: number) => void;

interface Unfolding {
  readonly root: unknown;
  readonly depth: number;
  readonly spend: Spend;
}

/** One schema without `$ref`, allOf, anyOf and oneOf. */
function flatten(schema: unknown, unfolding: Unfolding, steps = 0): Fields {
  const { root, depth, spend } = unfolding;
  spend(visitWork);
  if (!isFields(schema) || steps > maxDepth) return {};
  spend(sizeOf(schema));
  const { $ref, allOf, anyOf, oneOf, ...own } = schema;
  const parts = [
    ...(typeof $ref === 'string' ? [lookUp($ref, root)] : []),
    ...(Array.isArray(allOf) ? allOf : []),
    ...[anyOf, oneOf].flatMap((branches) => (Array.isArray(branches) ? [firstOf(branches, depth)] : [])),
  ];
  let merged: Fields = own;
  for (const part of parts) {
    const { properties, required = [], ...rest } = flatten(part, unfolding, steps + 1);
    merged = {
      ...merged,
      ...rest,
      ...(properties !== undefined && {
        properties: { ...toFields(merged.properties), ...toFields(properties) },
      }),
      required: [merged.required ?? [], required].flat(),
    };
    spend(sizeOf(merged));
  }
  return merged;
}

/** Names, entries of lists and characters of the reference: what unfolding goes through. */
function sizeOf(schema: Fields): number {
  const { $ref, properties, required, allOf, anyOf, oneOf } = schema;
  const lists = [required, allOf, anyOf, oneOf].map((list) => toList(list).length);
  const names = Object.keys(schema).length + Object.keys(toFields(properties)).length;
  return lists.reduce((sum, length) => sum + length, names + (typeof $ref === 'string' ? $ref.length : 0));
}

/** The first branch; at greater depth one that doesn't nest further, if there is one. */
function firstOf(branches: readonly unknown[], depth: number): unknown {
  const isScalar = (each: unknown) =>
    isFields(each) && !['object', 'array', undefined].includes(each.type as string);
  return (depth > fullDepth ? branches.find(isScalar) : undefined) ?? branches[0];
}

/** Follows a JSON pointer within the schema: `#`, `#/$defs/name`. */
function lookUp(reference: string, root: unknown): unknown {
  const steps = reference.replace(/^#/, '').split('/').slice(1);
  return steps.reduce<unknown>((target, step) => {
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~');
    return isFields(target) && Object.hasOwn(target, name) ? target[name] : undefined;
  }, root);
}

function typeOf({ type, properties, required, items, prefixItems, minimum, maximum }: Fields): unknown {
  if (Array.isArray(type)) return type.find((each) => each !== 'null') ?? 'null';
  if (type !== undefined) return type;
  if (properties !== undefined || (Array.isArray(required) && required.length > 0)) return 'object';
  if (items !== undefined || prefixItems !== undefined) return 'array';
  return minimum === undefined && maximum === undefined ? 'string' : 'number';
}

type Build = (schema: unknown) => unknown;

/** The required properties; all of them if none is, so that a loose schema is not answered with `{}`. */
function buildObject(
  { properties, required, additionalProperties }: Fields,
  isDeep: boolean,
  build: Build,
): unknown {
  const known = toFields(properties);
  const wanted = toList(required).map(String);
  const names = wanted.length > 0 || isDeep ? wanted : Object.keys(known);
  return Object.fromEntries(
    names.map((name) => [name, build(Object.hasOwn(known, name) ? known[name] : additionalProperties)]),
  );
}

function buildArray({ items, prefixItems, ...bounds }: Fields, isDeep: boolean, build: Build): unknown {
  const first = toList(prefixItems);
  const usual = items === undefined || isDeep ? 0 : 1;
  const fewest = Math.max(first.length, toNumber(bounds.minItems, 0));
  const length = Math.min(maxItems, Math.max(fewest, Math.min(usual, toNumber(bounds.maxItems, usual))));
  return Array.from({ length }, (_, index) => build(first[index] ?? items));
}

function buildNumber({ type, multipleOf, ...bounds }: Fields): number {
  const step = toNumber(multipleOf, type === 'integer' ? 1 : 0);
  const above = toNumber(bounds.exclusiveMinimum, Number.NEGATIVE_INFINITY);
  const below = toNumber(bounds.exclusiveMaximum, Number.POSITIVE_INFINITY);
  const lowest = Math.max(toNumber(bounds.minimum, Number.NEGATIVE_INFINITY), above);
  const highest = Math.min(toNumber(bounds.maximum, Number.POSITIVE_INFINITY), below);
  const unit = step || 1;
  const up = step === 0 ? lowest : Math.ceil(lowest / step) * step;
  const down = step === 0 ? highest : Math.floor(highest / step) * step;
  const fits = (value: number) =>
    Number.isFinite(value) && value >= lowest && value <= highest && value !== above && value !== below;
  return [unit, up, up + unit, down, down - unit, (lowest + highest) / 2].find(fits) ?? unit;
}

function buildText({ format, minLength, maxLength }: Fields, spend: Spend): string {
  const word = 'sandbox';
  const formatted = typeof format === 'string' ? formats[format] : undefined;
  const fewest = Math.max(0, Math.min(maxCharacters, toNumber(minLength, 0)));
  spend(fewest);
  return (
    formatted ??
    word
      .repeat(Math.max(1, Math.ceil(fewest / word.length)))
      .slice(0, Math.max(fewest, Math.min(word.length, toNumber(maxLength, word.length))))
  );
}

function toNumber(value: unknown, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise;
}
