import { randomUUID } from 'node:crypto';
import { type IncomingMessage, type OutgoingHttpHeaders, type ServerResponse, STATUS_CODES } from 'node:http';
import type { GatewayError } from '../errors.ts';

export interface JsonOptions {
  readonly status?: number;
  readonly headers?: OutgoingHttpHeaders;
}

/** A fresh `req_…` id: 120 random bits, so ids of several gateways never meet. */
export function newRequestId(): string {
  // Node makes random UUIDs many at a time, which is four times as quick as asking for bytes. The two digits
  // that are left out are those that are not random.
  const uuid = randomUUID();
  return `req_${uuid.slice(0, 8)}${uuid.slice(9, 13)}${uuid.slice(15, 18)}${uuid.slice(20, 23)}${uuid.slice(24)}`;
}

/** The one error body of the product; both SDK families turn it into their own exception classes. */
export function errorBody(error: GatewayError, requestId: string): string {
  return JSON.stringify({
    type: 'error',
    error: {
      type: error.failure.type,
      reason: error.reason,
      message: error.message,
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

// How long a refused client that is still sending may go on, so that it reads the answer instead of a reset.
export const lingerMs = 2_000;

/**
 * Answers with the error's status and body. Must be called before any byte of the answer has gone out.
 * Where the request's body was not read to its end, the connection is closed after the answer. Gives how
 * many bytes of the body are sent: none where only the head was asked for.
 */
export function sendError(response: ServerResponse, error: GatewayError, requestId: string): number {
  if (hasUnreadBody(response.req)) {
    response.setHeader('connection', 'close');
    lingerAfter(response);
  }
  return sendBody(
    response,
    error.failure.status,
    errorBody(error, requestId),
    errorHeaders(error, requestId),
  );
}

/** A request without a body is not `complete` either while its own event is being handled. */
function hasUnreadBody({ complete, headers }: IncomingMessage): boolean {
  if (complete) return false;
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/**
 * Node destroys the socket with the answer's last byte, and the system then resets the connection under a
 * client that is still sending, which may lose it the answer. So only our half is closed at first.
 */
function lingerAfter({ req: request }: ServerResponse): void {
  const { socket } = request;
  socket.destroySoon = () => {
    socket.end();
    setTimeout(() => socket.destroy(), lingerMs).unref();
  };
  request.resume();
}

/** Answers with a JSON value; `content-length` is set, so the body is one write. Gives how many bytes of it are sent. */
export function sendJson(
  response: ServerResponse,
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
  const headers = { ...errorHeaders(error, requestId), ...jsonHeaders(body), connection: 'close' };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`;
}

function sendBody(
  response: ServerResponse,
  status: number,
  body: string,
  headers: OutgoingHttpHeaders,
): number {
  const own = jsonHeaders(body);
  response.writeHead(status, { ...headers, ...own });
  response.end(body);
  return response.req.method === 'HEAD' ? 0 : own['content-length'];
}

function jsonHeaders(body: string) {
  return { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
}

function errorHeaders(error: GatewayError, requestId: string): Record<string, string> {
  const headers: Record<string, string> = { ...commonHeaders(requestId), 'x-gateway-error': 'true' };
  if (!error.failure.retry) headers['x-should-retry'] = 'false';
  const waitS = error.retryAfterS ?? leastWaitS(error);
  if (waitS !== undefined) headers['retry-after'] = String(Math.ceil(waitS));
  if (error.failure.status === 401) headers['www-authenticate'] = 'Bearer';
  return { ...headers, ...error.headers };
}

/** Clients that are told to come back and not when come back at once. */
function leastWaitS({ failure }: GatewayError): number | undefined {
  return failure.retry && (failure.status === 429 || failure.status === 503) ? 1 : undefined;
}
