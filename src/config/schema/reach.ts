import * as z from 'zod';
import type { Reference } from '../source/substitute.ts';

/**
 * What a setting can reach outside of its own file: the one place where each setting declares it. `nothing` is for those
 * that the gateway only computes with. A group may be marked as a whole; the nearest mark counts.
 */
export type Reach =
  | 'nothing'
  | 'provider'
  | 'checker'
  | 'credential'
  | 'login'
  | 'proxy'
  | 'parameter'
  | 'header'
  | 'authorities'
  | 'key file'
  | 'mask secret'
  | 'records'
  | 'retention'
  | 'bodies'
  | 'usage file'
  | 'usage database'
  | 'counters'
  | 'store'
  | 'store database'
  | 'listener'
  | 'host name'
  | 'origin';

const marks = z.registry<{ readonly reach: Reach }>();

/** Marks a setting; the mark stays on what is made from it by `describe` or further checks. */
export function reaching<Schema extends z.ZodType>(reach: Reach, schema: Schema): Schema {
  marks.add(schema, { reach });
  return schema;
}

/** A setting, or a group of them, that has a mark, or a part of the schema that lacks one. */
interface MarkedSetting {
  /** `*` stands for any name, `[]` for any entry. */
  readonly path: readonly string[];
  readonly reach: Reach | undefined;
}

/** Every setting of a schema, with its mark; of a group that is marked as a whole itself, and what has another. */
export function markedSettings(
  schema: z.ZodType,
  path: readonly string[] = [],
  inherited?: Reach,
): readonly MarkedSetting[] {
  const { reach = inherited, parts } = inspected(schema);
  if (parts === undefined) return [{ path, reach }];
  const hasReach = reach !== undefined;
  const inner = [...parts].filter(([, part]) => !hasReach || inspected(part).reaches);
  return [
    ...(hasReach ? [{ path, reach }] : []),
    ...inner.flatMap(([step, part]) => markedSettings(part, [...path, step], reach)),
  ];
}

/** A value that a file sets, with the mark of its setting. */
export interface MarkedValue {
  /** Where it stands in the file. */
  readonly path: readonly PropertyKey[];
  /** The setting, without the names of its entries and neighbours. */
  readonly setting: string;
  readonly value: unknown;
  /** The group of settings that it stands in. */
  readonly group: unknown;
  readonly reach: Reach;
  /** The variables that it takes from the environment. */
  readonly names: readonly string[];
}

/** The variables that a value takes from the environment, or those of its parts. */
interface Variables {
  names: readonly string[];
  readonly parts: Map<string, Variables>;
}

/**
 * The values of a file, as they are written, that can reach something: by the mark of their setting, or by a variable.
 * What the schema doesn't know is left out.
 */
export function markedValues(
  schema: z.ZodType,
  value: unknown,
  references: readonly Reference[],
): readonly MarkedValue[] {
  const variables: Variables = { names: [], parts: new Map() };
  for (const { path, names } of references) {
    let at = variables;
    for (const step of path) {
      const next = at.parts.get(String(step)) ?? { names: [], parts: new Map() };
      at.parts.set(String(step), next);
      at = next;
    }
    at.names = names;
  }
  const found: MarkedValue[] = [];
  visit(schema, { path: [], setting: '', value, group: undefined, variables }, found);
  return found;
}

interface Visited extends Pick<MarkedValue, 'setting' | 'value' | 'group'> {
  /** Changed on the way. */
  readonly path: PropertyKey[];
  readonly variables: Variables | undefined;
  /** The mark of the nearest group around it that has one. */
  readonly inherited?: Reach | undefined;
}

/** What stands in a marked group where its schema names no parts. */
const anyPart = z.unknown();

function visit(schema: z.ZodType, at: Visited, found: MarkedValue[]): void {
  const { value, path, setting, group, variables, inherited } = at;
  const { reach = inherited, parts } = inspected(schema);
  if (typeof value !== 'object' || value === null) {
    const names = variables?.names ?? [];
    if (reach !== undefined) found.push({ path: [...path], setting, value, group, reach, names });
    return;
  }
  const isList = Array.isArray(value);
  for (const [key, inner] of Object.entries(value)) {
    const step = isList ? '[]' : parts?.has(key) ? key : '*';
    // What is in a group that is marked has its mark, if it has none of its own.
    const part = parts?.get(step) ?? (reach === undefined ? undefined : anyPart);
    if (part === undefined) continue;
    const own = variables?.parts.get(key);
    // Most of a long file: keys, models and rules, with which the gateway only computes.
    if (own === undefined && !inspected(part).reaches && (reach ?? 'nothing') === 'nothing') continue;
    const name = isList ? `${setting}[]` : `${setting}.${reach === undefined ? step : key}`;
    path.push(isList ? Number(key) : key);
    visit(part, { path, setting: name, value: inner, group: value, variables: own, inherited: reach }, found);
    path.pop();
  }
}

interface Inspected {
  readonly reach: Reach | undefined;
  /** Of a group by their names, `*` for any name, `[]` for any entry; undefined for a single value. */
  readonly parts: ReadonlyMap<string, z.ZodType> | undefined;
  /** Whether the mark, or one of a part, is another than `nothing`. */
  readonly reaches: boolean;
}

const known = new WeakMap<z.ZodType, Inspected>();

function inspected(schema: z.ZodType): Inspected {
  const before = known.get(schema);
  if (before !== undefined) return before;
  const reach = marks.get(schema)?.reach;
  const inner = reach === undefined ? unwrapped(schema) : undefined;
  const result = inner === undefined ? inspect(schema, reach) : inspected(inner);
  known.set(schema, result);
  return result;
}

function inspect(schema: z.ZodType, reach: Reach | undefined): Inspected {
  const parts = partsOf(schema);
  const hasMarked = parts !== undefined && [...parts.values()].some((part) => inspected(part).reaches);
  const reaches = hasMarked || (reach !== undefined && reach !== 'nothing');
  return { reach, parts, reaches };
}

/** A schema without one of what stands around it: whether it may be absent, and its default. */
function unwrapped(schema: z.ZodType): z.ZodType | undefined {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) return schema.unwrap() as z.ZodType;
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault) return schema.unwrap() as z.ZodType;
  return undefined; // and zod's own types above are those of its core
}

/** Of a group by their names, `*` for any name, `[]` for any entry; undefined for a single value. */
function partsOf(schema: z.ZodType): ReadonlyMap<string, z.ZodType> | undefined {
  if (schema instanceof z.ZodObject) return new Map<string, z.ZodType>(Object.entries(schema.shape));
  if (schema instanceof z.ZodRecord) return new Map([['*', schema.valueType as z.ZodType]]); // as above
  if (schema instanceof z.ZodArray) return new Map([['[]', schema.element as z.ZodType]]); // as above
  return undefined;
}

/** Whether the schema knows the setting at exactly this path, and wants a number or a truth value there. */
export function wantsNumberOrBoolean(schema: z.ZodType, path: readonly PropertyKey[]): boolean {
  let at = bare(schema);
  for (const step of path) {
    const parts = partsOf(at);
    const part: z.ZodType | undefined = parts?.get(String(step)) ?? parts?.get('*') ?? parts?.get('[]');
    if (part === undefined) return false;
    at = bare(part);
  }
  return at instanceof z.ZodNumber || at instanceof z.ZodBoolean;
}

function bare(schema: z.ZodType): z.ZodType {
  const inner = unwrapped(schema);
  return inner === undefined ? schema : bare(inner);
}
