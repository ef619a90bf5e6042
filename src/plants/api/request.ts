import { GatewayError } from '../../errors.ts';
import { type BodyLimits, readJsonBody } from '../../http/body.ts';
import type { HttpRequest } from '../../http/request.ts';
import type { HttpResponse } from '../../http/response.ts';
import type { PlantQuery } from '../catalogue/search.ts';
import { maxima, plantPage } from '../contract/schemas.ts';
import { badField, parseStatus, parseText } from '../plant/plant.ts';

/** Reads the parameters that both searches share. Throws request.field with the parameter's name. */
export function parseSearch(query: Query): PlantQuery {
  const status = single(query, 'status');
  return {
    tags: [],
    match: 'any',
    status: status === undefined ? undefined : parseStatus(status),
    name: text(query, 'name', maxima.name),
    category: text(query, 'category', maxima.category),
    limit: wholeNumber(query, 'limit', { least: 1, most: plantPage.most, otherwise: plantPage.default }),
    after: wholeNumber(query, 'after', { least: 0, most: Number.MAX_SAFE_INTEGER, otherwise: 0 }),
  };
}

export function parseTagSearch(query: Query): PlantQuery {
  const match = single(query, 'match') ?? 'any';
  if (match !== 'any' && match !== 'all') throw badField('match', 'must be any or all');
  return { ...parseSearch(query), match, tags: parseTagList(query.get('tags')) };
}

function text(query: Query, name: string, limit: number): string | undefined {
  const value = single(query, name);
  if (value?.trim() === '') throw badField(name, 'is empty: leave it out to search without it');
  return value === undefined ? undefined : parseText(name, value, limit);
}

function parseTagList(lists: readonly string[] | undefined): readonly string[] {
  if (lists === undefined) return [];
  const tags = lists.flatMap((list) => list.split(',')).map((tag) => tag.trim());
  if (tags.includes(''))
    throw badField('tags', 'has an empty entry: write one or more tags with single commas between them');
  if (tags.length > maxima.tags) throw badField('tags', `has more than ${maxima.tags} entries`);
  if (tags.some((tag) => [...tag].length > maxima.tag))
    throw badField('tags', `has an entry longer than ${maxima.tag} characters`);
  return tags.map((tag) => parseText('tags', tag, maxima.tag));
}

interface Bounds {
  readonly least: number;
  readonly most: number;
  readonly otherwise: number;
}

function wholeNumber(query: Query, name: string, { least, most, otherwise }: Bounds): number {
  const digits = single(query, name);
  if (digits === undefined) return otherwise;
  const value = Number(digits);
  if (!/^\d{1,16}$/.test(digits) || !Number.isSafeInteger(value) || value < least || value > most) {
    throw badField(name, `must be a whole number from ${least} to ${most}`);
  }
  return value;
}

// The largest possible plant is under 40 KB, even with every character escaped.
const limits: BodyLimits = { bodyBytes: 64 * 1024, bodyIdleMs: 15_000, bodyTotalMs: 60_000 };

/** Reads a JSON body. Throws what readJsonBody throws. */
export function readPlantJson(request: HttpRequest, response: HttpResponse): Promise<unknown> {
  return readJsonBody(request, response, limits);
}

type Query = ReadonlyMap<string, readonly string[]>;

/** The parameters of a query string, strictly: a broken escape is an error, not a guess. */
export function parseQuery(text: string): Query {
  const query = new Map<string, string[]>();
  if (text === '') return query;
  for (const part of text.split('&')) {
    if (part === '') continue;
    const at = part.indexOf('=');
    const name = decode(at < 0 ? part : part.slice(0, at));
    const value = decode(at < 0 ? '' : part.slice(at + 1));
    const values = query.get(name);
    if (values === undefined) query.set(name, [value]);
    else values.push(value);
  }
  return query;
}

/** The one value of a parameter, or undefined. Throws request.field if it occurs twice. */
export function single(query: Query, name: string): string | undefined {
  const values = query.get(name);
  if (values !== undefined && values.length > 1) throw badField(name, 'is given more than once');
  return values?.[0];
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch (cause) {
    throw new GatewayError('request.field', 'the query has a broken %-escape; a % itself is written %25', {
      cause,
    });
  }
}
