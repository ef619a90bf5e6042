import { GatewayError } from '../../errors.ts';
import { Invalid, isStatus, parseId, parseTags, parseText, type Status } from './fields.ts';

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
      name: parseText('name', fields.name, 200),
      ...(category === undefined ? {} : { category: parseText('category', category, 100) }),
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
    const parsedName = name === undefined ? undefined : parseText('name', name, 200);
    const target = id === undefined ? { name: parsedName ?? '' } : { id: parseId('id', id) };
    return {
      target,
      ...(parsedName === undefined ? {} : { name: parsedName }),
      ...(category === undefined
        ? {}
        : { category: category === null ? null : parseText('category', category, 100) }),
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
