import { GatewayError } from '../../errors.ts';
import { type BodyLimits, readBody } from '../../http/body.ts';
import type { HttpRequest } from '../../http/request.ts';
import type { HttpResponse } from '../../http/response.ts';

// The largest possible plant is under 40 KB, even with every character escaped.
const limits: BodyLimits = { bodyBytes: 64 * 1024, bodyIdleMs: 15_000, bodyTotalMs: 60_000 };

/** Reads a JSON body. Throws request.media_type, request.invalid_json and what readBody throws. */
export async function readJson(request: HttpRequest, response: HttpResponse): Promise<unknown> {
  const type = request.header('content-type')?.split(';', 1)[0]?.trim().toLowerCase();
  if (type !== 'application/json') {
    throw new GatewayError('request.media_type', 'the content-type must be application/json');
  }
  const body = await readBody(request, response, limits);
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch (cause) {
    throw new GatewayError('request.invalid_json', 'the body is not valid JSON in UTF-8', { cause });
  }
}

export type Query = ReadonlyMap<string, readonly string[]>;

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
  if (values !== undefined && values.length > 1) throw badParameter(name, 'is given more than once');
  return values?.[0];
}

export function badParameter(name: string, problem: string): GatewayError {
  return new GatewayError('request.field', `${name} ${problem}`, { param: name });
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
