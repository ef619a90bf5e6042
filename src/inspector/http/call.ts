import { GatewayError } from '../../errors.ts';
import { readBody } from '../../http/body.ts';
import type { HttpRequest } from '../../http/request.ts';
import type { HttpResponse } from '../../http/response.ts';

/** One request to the live page. */
export interface Call {
  readonly request: HttpRequest;
  readonly response: HttpResponse;
  readonly query: URLSearchParams;
  /** The value of `:id` in the path. */
  readonly parameter: string;
}

const bodyMs = 10_000;
/** For calls that don't contain a request; all that callers without a session may send. */
export const smallBodyBytes = 4 * 1024;
/** Room for a request of the largest size, escaped once more as a JSON string. */
export const requestBodyBytes = 40 * 1024 * 1024;

/**
 * The JSON object in a call's body. Throws request.media_type, request.too_large, request.invalid_json and
 * request.field.
 */
export async function readJson(
  { request, response }: Call,
  bodyBytes: number,
): Promise<Readonly<Record<string, unknown>>> {
  // Other sites can send forms and plain text without a CORS preflight, but not JSON.
  if (!/^application\/json\s*(?:;|$)/i.test(request.header('content-type') ?? '')) {
    throw new GatewayError('request.media_type', 'content-type must be application/json');
  }
  const bytes = await readBody(request, response, { bodyBytes, bodyIdleMs: bodyMs, bodyTotalMs: bodyMs });
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString());
  } catch (cause) {
    throw new GatewayError('request.invalid_json', 'the body is not JSON', { cause });
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  throw new GatewayError('request.field', 'the body must be a JSON object');
}

/** A string field, or undefined if it is missing. Throws request.field. */
export function textField(fields: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const value = fields[name];
  if (value === undefined || typeof value === 'string') return value;
  throw new GatewayError('request.field', `${name}: expected a text`, { param: `/${name}` });
}
