import * as z from 'zod';

/** A schema without one of what stands around it: whether it may be absent, and its default. */
export function unwrapped(schema: z.ZodType): z.ZodType | undefined {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) return schema.unwrap() as z.ZodType;
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault) return schema.unwrap() as z.ZodType;
  return undefined; // and zod's own types above are those of its core
}

/** Of a group by their names, `*` for any name, `[]` for any entry; undefined for a single value. */
export function partsOf(schema: z.ZodType): ReadonlyMap<string, z.ZodType> | undefined {
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
