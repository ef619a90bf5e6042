import type { HttpRequest } from '../../http/request.ts';
import { commonHeaders, flattenHeaders, type HeaderFields } from '../../http/respond.ts';
import type { HttpResponse } from '../../http/response.ts';
import { openapi } from '../contract/openapi.ts';

/** What an operation answers with; always 200, as everything else is a thrown error. */
export interface OperationResponse {
  readonly type: string;
  readonly body: string | Buffer;
  readonly headers?: HeaderFields;
}

// No caching: answers may be about a login, and the URL of a login may contain a password.
export const privacyHeaders = { 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' } as const;

export function jsonAnswer(value: unknown, headers: HeaderFields = {}): OperationResponse {
  return { type: 'application/json', body: JSON.stringify(value), headers };
}

export function sendPlantResponse(
  response: HttpResponse,
  { type, body, headers }: OperationResponse,
  requestId: string,
): void {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  const fields = {
    ...commonHeaders(requestId),
    ...privacyHeaders,
    ...headers,
    'content-type': type,
    'content-length': String(bytes.length),
  };
  response.writeHead(200, flattenHeaders(fields));
  response.end(bytes);
}

/** One request to an operation. */
export interface OperationRequest {
  readonly request: HttpRequest;
  /** Only for reading the body (100-continue); the router answers. */
  readonly response: HttpResponse;
  /** The query string, undecoded, without its question mark. */
  readonly query: string;
  /** The last part of the path, undecoded: the variable one, where there is one. */
  readonly parameter: string;
}

/** What an operation does with a request. */
type Handle = (call: OperationRequest) => OperationResponse | Promise<OperationResponse>;

/** By the operationIds of the OpenAPI document. */
export type Handlers<Id extends OperationId = OperationId> = { readonly [Each in Id]: Handle };

type Methods<Path = (typeof openapi.paths)[keyof typeof openapi.paths]> = Path extends object
  ? Path[keyof Path]
  : never;
export type OperationId = Methods['operationId'];

/** Something that is served. */
export interface Operation {
  readonly id: string;
  readonly method: string;
  /** At most one variable part, the last: `/v3/plant/{plantId}`. */
  readonly path: string;
  readonly handle: Handle;
}

/** The operations of the OpenAPI document. */
export function operationsOf(handlers: Handlers): readonly Operation[] {
  return Object.entries(openapi.paths).flatMap(([path, methods]) =>
    Object.entries<{ readonly operationId: OperationId }>(methods).map(([method, { operationId: id }]) => ({
      id,
      method: method.toUpperCase(),
      path: `/v3${path}`,
      handle: handlers[id],
    })),
  );
}
