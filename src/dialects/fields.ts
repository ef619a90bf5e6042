import { GatewayError } from '../errors.ts';

/** Gathers the names of what a translation leaves out, each once, for the record of the exchange. */
export type Dropped = Set<string>;

// Names come from the client, so their number and length are bounded.
const countLimit = 100;
const lengthLimit = 100;

/** `messages[3].content[0].thinking` and its neighbours are one kind of loss, not many. */
export function noteDropped(dropped: Dropped, path: string): void {
  if (dropped.size < countLimit) dropped.add(path.slice(0, lengthLimit).replace(/\[\d+\]/g, '[]'));
}

export type Fields = Readonly<Record<string, unknown>>;

const noFields: Fields = {};

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The object, or an empty one: for providers' answers, where a missing part is not a failure. */
export function toFields(value: unknown): Fields {
  return isFields(value) ? value : noFields;
}

export function toList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function toText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** A provider's token count; 0 for anything that isn't one, such as 1e30. */
export function toCount(value: unknown): number {
  return toKnownCount(value) ?? 0;
}

/** A provider's token count; undefined for anything that isn't one, where "none" and "unknown" differ. */
export function toKnownCount(value: unknown): number | undefined {
  const isCount = typeof value === 'number' && value >= 0 && value <= Number.MAX_SAFE_INTEGER;
  return isCount ? value : undefined;
}

export function parseFields(value: unknown, path: string): Fields {
  if (!isFields(value)) throw wrongField(path, 'an object');
  return value;
}

export function parseList(value: unknown, path: string): readonly unknown[] {
  if (!Array.isArray(value)) throw wrongField(path, 'an array');
  return value;
}

/** What `parse` makes of each object of a list. */
export function parseEach<Part>(
  value: unknown,
  path: string,
  parse: (fields: Fields, path: string) => Part,
): Part[] {
  return parseList(value, path).map((entry, index) => {
    const place = `${path}[${index}]`;
    return parse(parseFields(entry, place), place);
  });
}

export function parseTexts(value: unknown, path: string): string[] {
  return parseList(value, path).map((text, index) => parseText(text, `${path}[${index}]`));
}

export function parseText(value: unknown, path: string): string {
  if (typeof value !== 'string') throw wrongField(path, 'a string');
  return value;
}

// `null` counts as absent: SDKs of the OpenAI family write it for every option that is not set.
export function parseOptionalText(value: unknown, path: string): string | undefined {
  return value === undefined || value === null ? undefined : parseText(value, path);
}

export function parseOptionalNumber(value: unknown, path: string): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'number') throw wrongField(path, 'a number');
  return value;
}

/** A cap on output; -1 says "no limit". */
export function parseCap(value: unknown, path: string): number | undefined {
  return value === -1 ? undefined : parseOptionalCount(value, path);
}

export function parseOptionalCount(value: unknown, path: string): number | undefined {
  const number = parseOptionalNumber(value, path);
  if (number === undefined) return undefined;
  if (!Number.isSafeInteger(number) || number < 0) throw wrongField(path, 'a whole number from 0');
  return number;
}

export function parseOptionalFlag(value: unknown, path: string): boolean | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'boolean') throw wrongField(path, 'true or false');
  return value;
}

export function wrongField(path: string, expected: string): GatewayError {
  return new GatewayError('request.field', `${path}: expected ${expected}`, { param: path });
}

export function unsupported(path: string, why: string): GatewayError {
  return new GatewayError('request.unsupported', `${path}: ${why}`, { param: path });
}

export function brokenAnswer(what: string): GatewayError {
  return new GatewayError('provider.broken_response', `the provider's answer ${what}`);
}

/** The JSON text of something that a provider sent. Throws provider.broken_response if it is nested too deeply. */
export function stringifyAnswer(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch (cause) {
    // Parsing has no limit on depth, but writing does: the stack.
    throw new GatewayError('provider.broken_response', "the provider's answer is nested too deeply", {
      cause,
    });
  }
}

/** The object without its `undefined` members, which must not be serialized. */
export function withoutAbsent(fields: Fields): Record<string, unknown> {
  const kept: Record<string, unknown> = {};
  for (const key of Object.keys(fields)) {
    if (fields[key] !== undefined) kept[key] = fields[key];
  }
  return kept;
}

/** What JSON says; undefined for what is none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** One event's data as an object; anything else breaks the stream. */
export function parseEventData(data: string): Fields {
  let value: unknown;
  try {
    value = JSON.parse(data);
  } catch (cause) {
    throw new GatewayError('provider.broken_response', 'an event of the provider is not valid JSON', {
      cause,
    });
  }
  if (!isFields(value)) throw brokenAnswer('has an event that is not an object');
  return value;
}

/** Fields in both spellings that Google's JSON parser takes: camelCase and snake_case. */
export function both(...names: readonly string[]): readonly string[] {
  return [...new Set(names.flatMap((name) => [name, toSnakeCase(name)]))];
}

function toSnakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
