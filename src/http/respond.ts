import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Failure, GatewayError } from '../errors.ts';
import { newRequestId } from './request.ts';
import type { HttpResponse } from './response.ts';

/** Headers by their names in lower case; several of one name as a list. */
export type HeaderFields = Readonly<Record<string, string | readonly string[]>>;

export interface JsonOptions {
  readonly status?: number;
  readonly headers?: HeaderFields;
}

/** Overrides the failure's own values. */
export interface ErrorOptions extends JsonOptions {
  readonly type?: Failure['type'];
  readonly message?: string;
  /** The body in another form. */
  readonly body?: string | undefined;
}

/** The one error body of the product; both SDK families turn it into their own exception classes. */
export function errorBody(
  error: GatewayError,
  requestId: string,
  { type = error.failure.type, message = error.message }: Pick<ErrorOptions, 'type' | 'message'> = {},
): string {
  return JSON.stringify({
    type: 'error',
    error: {
      type,
      reason: error.reason,
      message,
      code: error.reason,
      param: error.param ?? null,
      ...(error.errorCode === undefined ? {} : { details: { error_code: error.errorCode } }),
    },
    request_id: requestId,
  });
}

/** Headers that every answer carries: each SDK family reads its own name for the request id. */
export function commonHeaders(requestId: string): Record<string, string> {
  return { 'x-content-type-options': 'nosniff', 'x-request-id': requestId, 'request-id': requestId };
}

// How long, in milliseconds, a refused client may go on sending, so that it reads the answer instead of a reset.
export const lingerMs = 2_000;

/**
 * Answers with an error. Must be called before any byte of the answer has been sent. Returns how many bytes of the body
 * are sent: none for a HEAD request.
 */
export function sendError(
  response: HttpResponse,
  error: GatewayError,
  requestId: string,
  options: ErrorOptions = {},
): number {
  const { status = error.failure.status, headers } = options;
  const fields = { ...errorHeaders(error, requestId), ...headers };
  return sendBody(response, status, options.body ?? errorBody(error, requestId, options), fields);
}

/** Answers with a JSON value and a `content-length`, so the body is one write. Returns how many bytes of it are sent. */
export function sendJson(
  response: HttpResponse,
  value: unknown,
  requestId: string,
  options: JsonOptions = {},
): number {
  const headers = { ...commonHeaders(requestId), ...options.headers };
  return sendBody(response, options.status ?? 200, JSON.stringify(value), headers);
}

/** A complete HTTP/1.1 answer as text, for sockets whose request could not even be parsed. */
export function rawErrorAnswer(error: GatewayError, requestId: string): string {
  const { status } = error.failure;
  const body = errorBody(error, requestId);
  const headers = {
    ...errorHeaders(error, requestId),
    ...jsonHeaders(Buffer.byteLength(body)),
    connection: 'close',
  };
  const list = flattenHeaders(headers);
  const lines = list.flatMap((name, i) => (i % 2 === 0 ? [`${name}: ${list[i + 1]}\r\n`] : []));
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`;
}

/** Answers a request for another protocol with an error, and closes its socket even if the client doesn't. */
export function refuseUpgrade(socket: Duplex, error: GatewayError): void {
  socket.end(rawErrorAnswer(error, newRequestId()));
  socket.resume(); // or the client's end would not be noticed behind what it still sends
  setTimeout(() => socket.destroy(), lingerMs).unref();
}

function sendBody(response: HttpResponse, status: number, body: string, headers: HeaderFields): number {
  const bytes = Buffer.from(body);
  response.writeHead(status, flattenHeaders({ ...headers, ...jsonHeaders(bytes.length) }));
  response.end(bytes);
  return response.request.method === 'HEAD' ? 0 : bytes.length;
}

function jsonHeaders(bytes: number) {
  return { 'content-type': 'application/json', 'content-length': String(bytes) };
}

/** The same as an alternating list of names and values. */
export function flattenHeaders(headers: HeaderFields): string[] {
  return Object.entries(headers).flatMap(([name, value]) =>
    typeof value === 'string' ? [name, value] : value.flatMap((each) => [name, each]),
  );
}

function errorHeaders(error: GatewayError, requestId: string): Record<string, string> {
  const headers: Record<string, string> = { ...commonHeaders(requestId), 'x-gateway-error': 'true' };
  if (!error.failure.retry) headers['x-should-retry'] = 'false';
  const waitS = error.retryAfterS ?? minWaitS(error);
  if (waitS !== undefined) headers['retry-after'] = String(Math.ceil(waitS));
  if (error.failure.status === 401) headers['www-authenticate'] = 'Bearer';
  return { ...headers, ...error.headers };
}

/** Seconds; without a time, clients retry immediately. */
function minWaitS({ failure }: GatewayError): number | undefined {
  return failure.retry && (failure.status === 429 || failure.status === 503) ? 1 : undefined;
}
