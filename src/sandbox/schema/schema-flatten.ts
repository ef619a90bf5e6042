import { isObject } from '../fields.ts';
import { invalidField, type Path } from '../refusal.ts';

type Schema = Readonly<Record<string, unknown>>;

/** One pass over a schema: its document, and how many more visits are allowed. */
export interface SchemaWork {
  readonly root: unknown;
  readonly path: Path;
  readonly budget: { nodes: number };
  readonly depth: number;
  /** True if branches that end should be preferred. */
  readonly isDeep: boolean;
}

const maxSteps = 60;

/** Counts one visit; throws a 400 if the schema expands into too many. */
export function spend(work: SchemaWork): void {
  work.budget.nodes -= 1;
  if (work.budget.nodes < 0) throw invalidSchema(work, 'the schema unfolds into too many parts');
}

/** One schema without `$ref`, allOf, anyOf and oneOf. Throws a 400 if that is impossible. */
export function flatten(schema: unknown, work: SchemaWork, steps = 0): Schema {
  spend(work);
  if (schema === true || schema === undefined) return {};
  if (!isObject(schema))
    throw invalidSchema(work, 'the schema allows no value, or a part of it is no schema');
  if (steps > maxSteps) throw invalidSchema(work, 'the schema refers to itself without end');
  const { $ref, allOf, anyOf, oneOf, ...own } = schema;
  const parts: unknown[] = [];
  if (typeof $ref === 'string') parts.push(lookUp($ref, work));
  if (Array.isArray(allOf)) parts.push(...allOf);
  for (const branches of [anyOf, oneOf]) {
    if (Array.isArray(branches) && branches.length > 0) parts.push(chooseBranch(branches, work));
  }
  return parts.reduce<Schema>((merged, part) => merge(merged, flatten(part, work, steps + 1)), own);
}

/** The first branch that allows a value; at greater depth, the first one that doesn't nest further. */
function chooseBranch(branches: readonly unknown[], { isDeep }: SchemaWork): unknown {
  const possible = branches.filter((branch) => branch !== false);
  const ending = possible.find((branch) => isObject(branch) && isScalar(branch));
  return (isDeep ? ending : undefined) ?? possible[0] ?? false;
}

function isScalar(schema: Schema): boolean {
  if ('const' in schema || 'enum' in schema) return true;
  return typeof schema.type === 'string' && schema.type !== 'object' && schema.type !== 'array';
}

/** Follows a JSON pointer inside the schema's own document: `#`, `#/$defs/name`. */
function lookUp(reference: string, work: SchemaWork): unknown {
  if (!reference.startsWith('#')) throw invalidSchema(work, 'the schema may only refer into itself');
  let target = work.root;
  for (const step of reference.slice(1).split('/').slice(1)) {
    const name = decodeStep(step);
    const isThere = typeof target === 'object' && target !== null && Object.hasOwn(target, name);
    if (!isThere) throw invalidSchema(work, 'the schema refers to a part that is not there');
    target = Reflect.get(target as object, name);
  }
  return target;
}

function decodeStep(step: string): string {
  const pointer = step.replaceAll('~1', '/').replaceAll('~0', '~');
  try {
    return decodeURIComponent(pointer);
  } catch {
    return pointer; // not percent-encoded after all: used as it is
  }
}

/** Both schemas at once. */
function merge(first: Schema, second: Schema): Schema {
  const merged: Record<string, unknown> = { ...first };
  for (const [name, value] of Object.entries(second)) {
    merged[name] = name in first ? mergeKeyword(name, first[name], value) : value;
  }
  return merged;
}

function mergeKeyword(name: string, first: unknown, second: unknown): unknown {
  if (typeof first === 'number' && typeof second === 'number') {
    return /^(?:min|exclusiveMin)/.test(name) ? Math.max(first, second) : Math.min(first, second);
  }
  if (name === 'required') return [first, second].flat();
  if (name === 'items') return { allOf: [first, second] };
  if (name === 'type') return commonType([first].flat(), [second].flat());
  if (name === 'properties' && isObject(first) && isObject(second)) return mergeProperties(first, second);
  if (name === 'enum' && Array.isArray(first) && Array.isArray(second)) {
    const allowed = new Set(second.map((value) => JSON.stringify(value)));
    return first.filter((value) => allowed.has(JSON.stringify(value)));
  }
  return second === false ? second : first;
}

function mergeProperties(first: Schema, second: Schema): Schema {
  const names = new Set([...Object.keys(first), ...Object.keys(second)]);
  return Object.fromEntries(
    [...names].map((name) => [name, { allOf: [first[name] ?? true, second[name] ?? true] }]),
  );
}

function commonType(first: readonly unknown[], second: readonly unknown[]): unknown {
  const common = first.filter((type) => second.includes(type));
  if (common.length > 0) return common;
  return [...first, ...second].includes('integer') ? 'integer' : first;
}

function invalidSchema(work: SchemaWork, problem: string) {
  return invalidField(work.path, problem, 'invalid_json_schema');
}
