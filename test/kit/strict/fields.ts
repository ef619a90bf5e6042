import { invalidField, type Path } from './refusal.ts';

/** A JSON object of a request together with its path. */
export interface Owner {
  readonly fields: Readonly<Record<string, unknown>>;
  readonly path: Path;
}

/** Turns a value of unknown form into a typed one, or refuses it by its path. */
export type Parse<T> = (value: unknown, path: Path) => T;

/** A field that must be present and not null. */
export function required<T>(owner: Owner, name: string, parse: Parse<T>): T {
  const value = owner.fields[name];
  const path = [...owner.path, name];
  if (value === undefined) throw invalidField(path, 'this field is required', 'missing_required_parameter');
  return parse(value, path);
}

/** A field that may be missing; null counts as missing, as it does for the real hosts. */
export function optional<T>(owner: Owner, name: string, parse: Parse<T>): T | undefined {
  const value = owner.fields[name];
  return value === undefined || value === null ? undefined : parse(value, [...owner.path, name]);
}

/** Refuses fields that belong to another dialect: a careless translation leaves them behind. */
export function refuseFields(owner: Owner, names: readonly string[]): void {
  for (const name of names) {
    if (owner.fields[name] === undefined) continue;
    throw invalidField([...owner.path, name], 'this endpoint has no such field', 'unknown_parameter');
  }
}

export const object: Parse<Owner> = (value, path) => {
  if (!isObject(value)) throw wrongType(path, 'an object');
  return { fields: value, path };
};

export const text: Parse<string> = (value, path) => {
  if (typeof value !== 'string') throw wrongType(path, 'a string');
  return value;
};

export const nonEmptyText: Parse<string> = (value, path) => {
  if (text(value, path) === '') throw invalidField(path, 'must not be empty');
  return text(value, path);
};

export const flag: Parse<boolean> = (value, path) => {
  if (typeof value !== 'boolean') throw wrongType(path, 'true or false');
  return value;
};

/** Any value at all; for what the sandbox accepts without looking into it. */
export const anything: Parse<unknown> = (value) => value;

interface Range {
  readonly minimum?: number;
  readonly maximum?: number;
}

export function number(range: Range): Parse<number> {
  return (value, path) => {
    if (typeof value !== 'number') throw wrongType(path, 'a number');
    return checkRange(value, range, path);
  };
}

export function integer(range: Range): Parse<number> {
  return (value, path) => {
    if (!Number.isInteger(value) || typeof value !== 'number') throw wrongType(path, 'an integer');
    return checkRange(value, range, path);
  };
}

export function oneOf<const Value extends string>(values: readonly Value[]): Parse<Value> {
  return (value, path) => {
    const known = values.find((candidate) => candidate === value);
    if (known === undefined) throw invalidField(path, `must be one of ${values.join(', ')}`);
    return known;
  };
}

export function list<T>(parse: Parse<T>, lengths: Range = {}): Parse<readonly T[]> {
  return (value, path) => {
    if (!Array.isArray(value)) throw wrongType(path, 'an array');
    const { minimum = 0, maximum = Number.POSITIVE_INFINITY } = lengths;
    if (value.length < minimum)
      throw invalidField(path, `needs at least ${minimum} element(s)`, 'empty_array');
    if (value.length > maximum) throw invalidField(path, `takes at most ${maximum} elements`);
    return value.map((element: unknown, index) => parse(element, [...path, index]));
  };
}

export function matching(pattern: RegExp): Parse<string> {
  return (value, path) => {
    if (!pattern.test(text(value, path))) throw invalidField(path, `must match ${pattern.source}`);
    return text(value, path);
  };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function checkRange(value: number, { minimum, maximum }: Range, path: Path): number {
  if (minimum !== undefined && value < minimum) throw invalidField(path, `must be at least ${minimum}`);
  if (maximum !== undefined && value > maximum) throw invalidField(path, `must be at most ${maximum}`);
  return value;
}

function wrongType(path: Path, wanted: string) {
  return invalidField(path, `must be ${wanted}`, 'invalid_type');
}
