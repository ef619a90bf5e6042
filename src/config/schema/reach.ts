import * as z from 'zod';

/**
 * What a setting can reach outside of its own file: the one place where each setting says so. `nothing` is for those
 * that the gateway only computes with. A group may be marked as a whole; the nearest mark counts.
 */
export type Reach =
  | 'nothing'
  | 'provider'
  | 'credential'
  | 'login'
  | 'proxy'
  | 'authorities'
  | 'key file'
  | 'mask secret'
  | 'records'
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
export interface MarkedSetting {
  /** `*` stands for any name, `[]` for any entry. */
  readonly path: readonly string[];
  readonly reach: Reach | undefined;
}

/** Every setting of a schema, with its mark. */
export function markedSettings(schema: z.ZodType, path: readonly string[] = []): readonly MarkedSetting[] {
  const { reach, kind } = inspected(schema);
  if (reach !== undefined || kind.type === 'leaf') return [{ path, reach }];
  return partsOf(kind).flatMap(([step, part]) => markedSettings(part, [...path, step]));
}

/** A value that a file sets, with the mark of its setting. */
export interface MarkedValue {
  /** Where it stands in the file. */
  readonly path: readonly PropertyKey[];
  /** The setting, whatever its entries and its neighbours are called. */
  readonly setting: string;
  readonly value: unknown;
  /** The group of settings that it stands in. */
  readonly group: unknown;
  readonly reach: Reach;
}

/** The values of a file, as they are written; what the schema doesn't know is left out. */
export function markedValues(schema: z.ZodType, value: unknown): readonly MarkedValue[] {
  return visit(schema, { path: [], setting: '', value, group: undefined });
}

function visit(schema: z.ZodType, at: Omit<MarkedValue, 'reach'>): readonly MarkedValue[] {
  const { reach, kind } = inspected(schema);
  const { value, path, setting } = at;
  if (typeof value !== 'object' || value === null) return reach === undefined ? [] : [{ ...at, reach }];
  if (reach !== undefined) {
    // Of a group that is marked as a whole every text has the mark.
    return Object.entries(value).flatMap(([key, inner]) => {
      const step = Array.isArray(value) ? Number(key) : key;
      const name = `${setting}${Array.isArray(value) ? '[]' : `.${key}`}`;
      return visit(schema, { path: [...path, step], setting: name, value: inner, group: value });
    });
  }
  const parts = new Map(partsOf(kind));
  return Object.entries(value).flatMap(([key, inner]) => {
    const step = Array.isArray(value) ? '[]' : parts.has(key) ? key : '*';
    const part = parts.get(step);
    if (part === undefined) return [];
    const below = {
      path: [...path, Array.isArray(value) ? Number(key) : key],
      setting: step === '[]' ? `${setting}[]` : `${setting}.${step}`,
      value: inner,
      group: value,
    };
    return visit(part, below);
  });
}

type Kind =
  | { readonly type: 'group'; readonly shape: Readonly<Record<string, z.ZodType>> }
  | { readonly type: 'names' | 'list'; readonly part: z.ZodType }
  | { readonly type: 'leaf' };

/** A schema without what stands around it: whether it may be absent, and its default. */
function inspected(schema: z.ZodType): { readonly reach: Reach | undefined; readonly kind: Kind } {
  let at = schema;
  for (;;) {
    const reach = marks.get(at)?.reach;
    const inner = reach === undefined ? unwrapped(at) : undefined;
    if (inner === undefined) return { reach, kind: kindOf(at) };
    at = inner;
  }
}

function unwrapped(schema: z.ZodType): z.ZodType | undefined {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) return schema.unwrap() as z.ZodType;
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault) return schema.unwrap() as z.ZodType;
  return undefined; // and zod's own types above are those of its core
}

function kindOf(schema: z.ZodType): Kind {
  if (schema instanceof z.ZodObject) return { type: 'group', shape: schema.shape };
  if (schema instanceof z.ZodRecord) return { type: 'names', part: schema.valueType as z.ZodType }; // as above
  if (schema instanceof z.ZodArray) return { type: 'list', part: schema.element as z.ZodType }; // as above
  return { type: 'leaf' };
}

function partsOf(kind: Kind): readonly (readonly [string, z.ZodType])[] {
  switch (kind.type) {
    case 'group':
      return Object.entries(kind.shape);
    case 'names':
      return [['*', kind.part]];
    case 'list':
      return [['[]', kind.part]];
    case 'leaf':
      return [];
  }
}
