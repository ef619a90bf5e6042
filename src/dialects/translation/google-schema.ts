import { type Fields, isFields, toFields, toList, toText, withoutAbsent } from '../fields.ts';
import { type FollowReference, referred } from './references.ts';
import { inWords, mergedSchema } from './schemas.ts';

// Google's own form of schemas, a part of OpenAPI's: a keyword that it doesn't know is refused.

const keywords = [
  ...['type', 'description', 'nullable', 'enum', 'format', 'items', 'properties', 'required', 'anyOf'],
  ...['minItems', 'maxItems', 'minimum', 'maximum', 'minLength', 'maxLength', 'pattern'],
];
const formats = ['enum', 'date-time', 'int32', 'int64', 'float', 'double'];
/** What is worth a word to the model where it can't be a keyword. */
const told = ['enum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'format', 'not', 'uniqueItems'];
/**
 * The schema in Google's keywords; what these can't express is written into its description. References are resolved
 * inline. Throws request.unsupported where they make it too large.
 */
export function toGoogleSchema(root: Fields, follow: FollowReference): Fields {
  return convert(root, []);

  /** `names`: the references that lead to this schema. */
  function convert(found: unknown, names: readonly string[]): Fields {
    const resolved = resolve(toFields(found), names);
    if (!isFields(found) || resolved === undefined) return { type: 'object' };
    const { schema, inside } = resolved;
    const { types, isNullable } = typesOf(schema);
    const variants = variantsOf(schema, types).map((variant) => convert(variant, inside));
    const type = variants.length > 0 ? undefined : types[0];
    const properties = isFields(schema.properties)
      ? Object.fromEntries(
          Object.entries(schema.properties).map(([key, held]) => [key, convert(held, inside)]),
        )
      : undefined;
    const written: Fields = {
      ...schema,
      type,
      nullable: isNullable ? true : undefined,
      enum: enumOf(schema, type),
      anyOf: variants.length > 0 ? variants : undefined,
      items: type === 'array' ? convert(itemsOf(schema), inside) : undefined,
      properties,
      required: requiredOf(schema, properties),
      format: formats.includes(toText(schema.format)) ? schema.format : undefined,
    };
    const lost = told.filter((key) => schema[key] !== undefined && !(key in withoutAbsent(pick(written))));
    return withoutAbsent({ ...pick(written), description: inWords(schema, lost).description });
  }

  /** What a schema is without a reference or parts at its top; undefined if it leads to itself. */
  function resolve(found: Fields, names: readonly string[]): Resolved | undefined {
    const { $ref, allOf, ...own } = found;
    const name = toText($ref);
    if (name !== '') {
      if (names.includes(name)) return undefined;
      const definition = referred(root, name);
      follow(definition, names.length);
      const beside = allOf === undefined ? own : { ...own, allOf };
      return resolve({ ...definition, ...beside }, [...names, name]);
    }
    const parts = toList(allOf).flatMap((part) => resolve(toFields(part), names) ?? []);
    if (parts.length === 0) return { schema: own, inside: names };
    return {
      schema: mergedSchema([...parts.map(({ schema }) => schema), own]),
      inside: [...new Set(parts.flatMap(({ inside }) => inside))],
    };
  }
}

interface Resolved {
  readonly schema: Fields;
  /** The references that led to what is in it. */
  readonly inside: readonly string[];
}

function pick(schema: Fields): Fields {
  return Object.fromEntries(keywords.map((name) => [name, schema[name]]));
}

function typesOf({ type, nullable, properties, anyOf, oneOf, const: value }: Fields) {
  const written = Array.isArray(type) ? type : type === undefined ? [] : [type];
  const types = written.filter((each) => each !== 'null');
  const hasNull = toList(anyOf ?? oneOf).some((each) => toFields(each).type === 'null');
  const known =
    types.length > 0 ? types : isFields(properties) ? ['object'] : value === undefined ? [] : ['string'];
  return { types: known, isNullable: nullable === true || hasNull || types.length < written.length };
}

/** A union's variants without null; those of a list of types. */
function variantsOf(schema: Fields, types: readonly unknown[]): readonly unknown[] {
  const union = toList(schema.anyOf ?? schema.oneOf).filter((each) => toFields(each).type !== 'null');
  if (union.length > 0 || types.length < 2) return union;
  return types.map((type) => ({ type }));
}

/** Google wants a type for them. */
function itemsOf({ items }: Fields): unknown {
  return isFields(items) && Object.keys(items).length > 0 ? items : { type: 'string' };
}

/** Only texts may be listed. */
function enumOf({ enum: values, const: value }: Fields, type: unknown): unknown {
  const all = Array.isArray(values) ? values : value === undefined ? [] : [value];
  const texts = all.filter((each) => typeof each === 'string' && each !== '');
  return type === 'string' && texts.length > 0 ? texts : undefined;
}

function requiredOf({ required }: Fields, properties: Fields | undefined): unknown {
  const names = toList(required).filter(
    (name) => properties !== undefined && Object.hasOwn(properties, String(name)),
  );
  return names.length > 0 ? names : undefined;
}
