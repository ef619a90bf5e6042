import { GatewayError } from '../../errors.ts';
import { maxima, statuses } from '../contract/schemas.ts';

export type PlantStatus = (typeof statuses)[number];

/** A field or parameter that violates the contract: request.field, whose message begins with its name. */
export function badField(field: string, problem: string): GatewayError {
  return new GatewayError('request.field', `${field} ${problem}`, { param: field });
}

// Control characters have no business in a name: they break terminals and logs, and PostgreSQL stores no NUL.
const unprintable = /[\p{Cc}\p{Surrogate}\u2028\u2029]/u;

/** One line of text that is not blank, of at most `limit` Unicode characters. */
export function parseText(field: string, value: unknown, limit: number): string {
  if (typeof value !== 'string') throw badField(field, 'must be text');
  if (value.trim() === '') throw badField(field, 'is empty');
  if (value.length > limit && (value.length > 2 * limit || [...value].length > limit)) {
    throw badField(field, `is longer than ${limit} characters`);
  }
  if (unprintable.test(value)) {
    throw badField(field, 'has a control character or half a surrogate pair; it must be one line of text');
  }
  return value;
}

function parseTags(value: unknown): readonly string[] {
  if (!Array.isArray(value)) throw badField('tags', 'must be an array of texts');
  if (value.length > maxima.tags) throw badField('tags', `has more than ${maxima.tags} entries`);
  return value.map((tag, i) => {
    const text = parseText(`tags[${i}]`, tag, maxima.tag);
    if (text.includes(',')) throw badField(`tags[${i}]`, 'has a comma, which separates tags in a search');
    return text;
  });
}

export function parseId(field: string, value: unknown): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 1) return value;
  throw badField(field, `must be a whole number from 1 to ${Number.MAX_SAFE_INTEGER}`);
}

export interface Plant {
  readonly id: number;
  readonly name: string;
  readonly category?: string;
  readonly status: PlantStatus;
  readonly tags: readonly string[];
}

export type NewPlant = Omit<Plant, 'id'>;

/** Absent fields stay unchanged; a category of null is removed. */
export interface PlantChange {
  readonly target: { readonly id: number } | { readonly name: string };
  readonly name: string | undefined;
  readonly category: string | null | undefined;
  readonly status: PlantStatus | undefined;
  readonly tags: readonly string[] | undefined;
}

/** Reads the body of addPlant. Throws plant.invalid, whose 405 is the published contract's. */
export function parseNewPlant(value: unknown): NewPlant {
  try {
    const { name, category, status, tags } = parseFields(value, ['name', 'category', 'status', 'tags']);
    if (name === undefined) throw badField('name', 'is missing: a plant needs a name');
    return {
      name: parseText('name', name, maxima.name),
      ...(category === undefined ? {} : { category: parseText('category', category, maxima.category) }),
      status: status === undefined ? 'available' : parseStatus(status),
      tags: tags === undefined ? [] : parseTags(tags),
    };
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    // A 405 must list the methods that the path accepts (RFC 9110, section 15.5.6).
    const details = { param: error.param ?? 'body', headers: { allow: 'POST, PUT' } };
    throw new GatewayError('plant.invalid', error.message, details);
  }
}

/** Reads the body of updatePlant. Throws request.field. */
export function parsePlantChange(value: unknown): PlantChange {
  const fields = parseFields(value, ['id', 'name', 'category', 'status', 'tags']);
  const { id, category, status, tags } = fields;
  if (id === undefined && fields.name === undefined) {
    throw badField('id', 'is missing: name the plant by id or by exact name');
  }
  const name = fields.name === undefined ? undefined : parseText('name', fields.name, maxima.name);
  return {
    target: id === undefined ? { name: name ?? '' } : { id: parseId('id', id) },
    name,
    category:
      category === undefined || category === null
        ? category
        : parseText('category', category, maxima.category),
    status: status === undefined ? undefined : parseStatus(status),
    tags: tags === undefined ? undefined : parseTags(tags),
  };
}

/** The members of an object that has no others. Throws request.field; `what` names the object. */
export function parseFields<Name extends string>(
  value: unknown,
  names: readonly Name[],
  what = 'body',
): { readonly [Key in Name]?: unknown } {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw badField(what, 'must be a JSON object');
  }
  const known: readonly string[] = names;
  const unknown = Object.keys(value).find((name) => !known.includes(name));
  if (unknown !== undefined) {
    throw badField(unknown.slice(0, 40), `is not known here; known are ${names.join(', ')}`);
  }
  return value;
}

export function parseStatus(value: unknown): PlantStatus {
  const status = statuses.find((each) => each === value);
  if (status === undefined) throw badField('status', 'must be available, pending or sold');
  return status;
}

/** A text as searches compare it: lower case, normalized, without surrounding white space. */
export function searchKey(text: string): string {
  return text.normalize('NFC').trim().toLowerCase();
}
