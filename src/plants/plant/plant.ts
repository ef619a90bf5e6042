import { GatewayError } from '../../errors.ts';
import { maxima, statuses } from '../contract/schemas.ts';

export type Status = (typeof statuses)[number];

/** A field that violates the contract; its message follows the field's name. */
export class Invalid extends Error {
  readonly field: string;

  constructor(field: string, message: string) {
    super(message);
    this.field = field;
  }
}

// Control characters have no business in a name: they break terminals and logs, and PostgreSQL stores no NUL.
const unprintable = /[\p{Cc}\p{Surrogate}\u2028\u2029]/u;

/** One line of text that is not blank, of at most `limit` Unicode characters. */
function parseText(field: string, value: unknown, limit: number): string {
  if (typeof value !== 'string') throw new Invalid(field, 'must be text');
  if (value.trim() === '') throw new Invalid(field, 'is empty');
  if (value.length > limit && (value.length > 2 * limit || [...value].length > limit)) {
    throw new Invalid(field, `is longer than ${limit} characters`);
  }
  if (unprintable.test(value)) {
    throw new Invalid(field, 'has a control character or half a surrogate pair; it must be one line of text');
  }
  return value;
}

function parseTags(value: unknown): readonly string[] {
  if (!Array.isArray(value)) throw new Invalid('tags', 'must be an array of texts');
  if (value.length > maxima.tags) throw new Invalid('tags', `has more than ${maxima.tags} entries`);
  return value.map((tag, i) => {
    const text = parseText(`tags[${i}]`, tag, maxima.tag);
    if (text.includes(',')) throw new Invalid(`tags[${i}]`, 'has a comma, which separates tags in a search');
    return text;
  });
}

export function parseId(field: string, value: unknown): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 1) return value;
  throw new Invalid(field, `must be a whole number from 1 to ${Number.MAX_SAFE_INTEGER}`);
}

export function isStatus(value: unknown): value is Status {
  const known: readonly unknown[] = statuses;
  return known.includes(value);
}

export interface Plant {
  readonly id: number;
  readonly name: string;
  readonly category?: string;
  readonly status: Status;
  readonly tags: readonly string[];
}

export type NewPlant = Omit<Plant, 'id'>;

/** Absent fields stay unchanged; a category of null is removed. */
export interface PlantChange {
  readonly target: { readonly id: number } | { readonly name: string };
  readonly name?: string;
  readonly category?: string | null;
  readonly status?: Status;
  readonly tags?: readonly string[];
}

/** Reads the body of addPlant. Throws plant.invalid, whose 405 is the published contract's. */
export function parseNewPlant(value: unknown): NewPlant {
  return orFail('plant.invalid', () => {
    const fields = parseFields(value, ['name', 'category', 'status', 'tags']);
    if (fields.name === undefined) throw new Invalid('name', 'is missing: a plant needs a name');
    const category = fields.category;
    return {
      name: parseText('name', fields.name, maxima.name),
      ...(category === undefined ? {} : { category: parseText('category', category, maxima.category) }),
      status: fields.status === undefined ? 'available' : parseStatus(fields.status),
      tags: fields.tags === undefined ? [] : parseTags(fields.tags),
    };
  });
}

/** Reads the body of updatePlant. Throws request.field. */
export function parsePlantChange(value: unknown): PlantChange {
  return orFail('request.field', () => {
    const { id, name, category, status, tags } = parseFields(value, [
      'id',
      'name',
      'category',
      'status',
      'tags',
    ]);
    if (id === undefined && name === undefined) {
      throw new Invalid('id', 'is missing: name the plant by id or by exact name');
    }
    const parsedName = name === undefined ? undefined : parseText('name', name, maxima.name);
    const target = id === undefined ? { name: parsedName ?? '' } : { id: parseId('id', id) };
    return {
      target,
      ...(parsedName === undefined ? {} : { name: parsedName }),
      ...(category === undefined
        ? {}
        : { category: category === null ? null : parseText('category', category, maxima.category) }),
      ...(status === undefined ? {} : { status: parseStatus(status) }),
      ...(tags === undefined ? {} : { tags: parseTags(tags) }),
    };
  });
}

function parseFields<Name extends string>(
  value: unknown,
  names: readonly Name[],
): { readonly [Key in Name]?: unknown } {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Invalid('body', 'must be a JSON object');
  }
  const known: readonly string[] = names;
  const unknown = Object.keys(value).find((name) => !known.includes(name));
  if (unknown !== undefined) {
    throw new Invalid(unknown.slice(0, 40), `is not known here; known are ${names.join(', ')}`);
  }
  return value;
}

function parseStatus(value: unknown): Status {
  if (!isStatus(value)) throw new Invalid('status', 'must be available, pending or sold');
  return value;
}

function orFail<Value>(code: 'plant.invalid' | 'request.field', parse: () => Value): Value {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof Invalid)) throw error;
    // A 405 must list the methods that the path accepts (RFC 9110, section 15.5.6).
    const headers = code === 'plant.invalid' ? { allow: 'POST, PUT' } : {};
    throw new GatewayError(code, `${error.field} ${error.message}`, { param: error.field, headers });
  }
}

/** A text as searches compare it: lower case, normalized, without surrounding white space. */
export function searchKey(text: string): string {
  return text.normalize('NFC').trim().toLowerCase();
}
