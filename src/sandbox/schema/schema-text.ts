import { invalidField, type Path } from '../refusal.ts';
import { buildMatching } from './schema-pattern.ts';

type Schema = Readonly<Record<string, unknown>>;

const plainText = 'sandbox';
const maxCharacters = 10_000;

const formats: Readonly<Record<string, string>> = {
  'date-time': '2025-01-01T12:00:00Z',
  date: '2025-01-01',
  time: '12:00:00Z',
  duration: 'PT1H',
  email: 'sandbox@example.com',
  hostname: 'sandbox.example.com',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  uri: 'https://example.com/sandbox',
  url: 'https://example.com/sandbox',
  'uri-reference': '/sandbox',
  uuid: '123e4567-e89b-42d3-a456-426614174000',
  'json-pointer': '/sandbox',
  regex: '^sandbox$',
  base64: 'c2FuZGJveA==',
};

/**
 * A text that satisfies the schema's format, pattern or length, in this order of precedence. A pattern with uncommon
 * constructs is not satisfied: the text is then an ordinary word of the required length.
 */
export function buildText(schema: Schema, path: Path, variant: number): string {
  const fewest = typeof schema.minLength === 'number' ? schema.minLength : 0;
  const most = typeof schema.maxLength === 'number' ? schema.maxLength : Number.POSITIVE_INFINITY;
  if (fewest > maxCharacters) {
    throw invalidField(path, `the schema asks for a text of more than ${maxCharacters} characters`);
  }
  const formatted = typeof schema.format === 'string' ? formats[schema.format] : undefined;
  if (formatted !== undefined) return formatted;
  const { pattern } = schema;
  const matching =
    typeof pattern === 'string' ? buildMatching(pattern, { fewest, most, variant }) : undefined;
  return matching ?? word(fewest, most, variant);
}

/** The variant's number is at the end, so that it is the last to be cut off. */
function word(fewest: number, most: number, variant: number): string {
  const suffix = variant === 0 ? '' : String(variant + 1);
  const length = Math.min(most, Math.max(fewest, plainText.length + suffix.length));
  const stem = plainText
    .repeat(Math.ceil(length / plainText.length))
    .slice(0, Math.max(0, length - suffix.length));
  return stem + suffix.slice(0, length);
}
