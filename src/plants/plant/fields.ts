import { statuses } from '../contract/schemas.ts';

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

const tagLimit = 50;

/** One line of text that is not blank, of at most `limit` Unicode characters. */
export function parseText(field: string, value: unknown, limit: number): string {
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

export function parseTags(value: unknown): readonly string[] {
  if (!Array.isArray(value)) throw new Invalid('tags', 'must be an array of texts');
  if (value.length > tagLimit) throw new Invalid('tags', `has more than ${tagLimit} entries`);
  return value.map((tag, i) => {
    const text = parseText(`tags[${i}]`, tag, 50);
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
