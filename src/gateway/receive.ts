import { hasModel } from '../dialects/model-path.ts';
import { GatewayError } from '../errors.ts';
import { type AllowedOrigins, checkOrigin, checkOriginAlone } from '../http/check-origin.ts';
import type { HttpRequest } from '../http/request.ts';
import { decodeEachPercent } from '../lib/decode-percent.ts';
import { type FoundEndpoint, findEndpoint } from './endpoints.ts';
import type { Exchange } from './exchange.ts';
import type { Scrubber } from './scrub.ts';

export interface Received extends FoundEndpoint {
  readonly query: string;
}

/**
 * Finds the endpoint by the raw request target alone: nothing is decoded, merged or trimmed, so that no spelling of a
 * path can mean one thing here and another upstream. Throws endpoint.unknown, method.not_allowed, request.upgrade,
 * host.not_allowed and origin.not_allowed.
 */
export function receive({ request, events, scrubber }: Exchange, access: AllowedOrigins): Received {
  const { method, target } = request;
  const mark = target.indexOf('?');
  const path = mark < 0 ? target : target.slice(0, mark);
  const found = findEndpoint(path);
  // A record has the model beside the path, and not where a rule objects to it.
  // A key in any other path is scrubbed while it is whole.
  const recorded = found?.endpoint.method === 'POST' ? found.endpoint.path : scrubbedPath(path, scrubber);
  events.received(recorded.slice(0, 200));
  // Load balancers check health by address or without Host; whether a gateway is well is no secret, nor where to ask.
  const kind = (found ?? findEndpoint(withoutSlashes(path)))?.endpoint.kind;
  if (kind === 'health' || kind === 'ready') checkOriginAlone(request, access);
  else checkOrigin(request, access);

  if (found === undefined) throw new GatewayError('endpoint.unknown', hintFor(path));
  const { endpoint } = found;
  const isAllowed = method === endpoint.method || (method === 'HEAD' && endpoint.method === 'GET');
  if (!isAllowed && isWebSocket(request)) {
    throw new GatewayError('request.upgrade', `${path} is served over HTTP only, not by WebSocket`, {
      headers: { upgrade: 'HTTP/1.1' },
    });
  }
  if (!isAllowed) {
    const allow = endpoint.method === 'GET' ? 'GET, HEAD' : endpoint.method;
    throw new GatewayError('method.not_allowed', `${path} takes ${allow} only`, { headers: { allow } });
  }
  const query = mark < 0 ? '' : target.slice(mark + 1);
  const isGoogles = path.startsWith('/v1beta/') || (endpoint.method === 'POST' && hasModel(endpoint));
  if (isGoogles && new URLSearchParams(query).has('key')) throw keyInQuery();
  return { query, ...found };
}

/** A path without secrets, also where codes hide one. */
function scrubbedPath(path: string, { text }: Pick<Scrubber, 'text'>): string {
  const plain = decodeEachPercent(path);
  const clean = text(plain);
  return clean === plain ? text(path) : clean;
}

/** Codex tries one first; on status 426 it falls back to HTTP immediately, otherwise only after six attempts. */
function isWebSocket(request: HttpRequest): boolean {
  return request.method === 'GET' && request.header('upgrade')?.toLowerCase() === 'websocket';
}

/** Addresses end up in logs, and a key in one of them. */
function keyInQuery(): GatewayError {
  return new GatewayError(
    'key.missing',
    'a key in the address (?key=) is not read; send it as the header x-goog-api-key, as the SDKs do',
  );
}

function hintFor(path: string): string {
  const isServed = (other: string) => findEndpoint(other) !== undefined;
  const baseUrl = 'the base URL that your client is given';
  if (isServed(`/v1${path}`)) return `the path lacks its /v1: add /v1 to ${baseUrl}`;
  const plain = withoutSlashes(path);
  if (isServed(plain) || isServed(`/v1${plain}`))
    return `the path has a slash too many: take the one at the end off ${baseUrl}`;
  const isServedInLowerCase = (other: string) => inLowerCase(other).some(isServed);
  if (isServedInLowerCase(plain) || isServedInLowerCase(`/v1${plain}`))
    return `the path has capitals where there are none: write ${baseUrl} in lower case`;
  const tooMuch = partBefore(plain, (other) => isServed(other) || isServedInLowerCase(other));
  if (tooMuch !== undefined) return `the path has ${tooMuch} too much: take that off ${baseUrl}`;
  if (plain.endsWith('/completions')) return 'this API is not served; use /v1/chat/completions';
  if (path === '/_') return 'the live page is at /_/, if there is one';
  // Where there is one, its requests don't come here.
  if (path.startsWith('/_/'))
    return 'this gateway serves no live page: it is switched off (inspector.enabled), or there are several workers (server.workers), or others can reach the address and there is no inspector.password_file';
  return 'there is no such path; GET / lists all paths';
}

function withoutSlashes(path: string): string {
  return path.replace(/\/{2,}/g, '/').replace(/(.)\/$/, '$1');
}

/** Its beginning, or all of it: behind that some paths have capitals. */
function inLowerCase(path: string): readonly string[] {
  return [path.replace(/^\/[^/]*/, (start) => start.toLowerCase()), path.toLowerCase()];
}

/**
 * What stands before a path that is served: /v1 in /v1/v1/messages, or /openai of another program. A base URL that ends
 * with the path of an API already has that too much, so that its /v1 stays.
 */
function partBefore(path: string, isServed: (path: string) => boolean): string | undefined {
  for (let at = path.indexOf('/', 1); at > 0; at = path.indexOf('/', at + 1)) {
    const [before, rest] = [path.slice(0, at), path.slice(at)];
    if (isServed(rest)) return before;
    if (isServed(`/v1${rest}`)) return before.replace(/^\/v1(?=\/)/i, '');
  }
  return undefined;
}

const mediaType = /^application\/json(?:\s*;\s*charset="?utf-8"?)?\s*$/i;

/** Throws request.media_type unless a single content-type says that the body is JSON in UTF-8. */
export function checkMediaType(request: Pick<HttpRequest, 'header'>): void {
  const type = request.header('content-type');
  if (type !== undefined && mediaType.test(type)) return;
  throw new GatewayError(
    'request.media_type',
    'content-type must be application/json (charset utf-8 or none), once',
  );
}

/** How long a browser may keep the answer to a preflight: ten minutes. */
const keptS = 600;

/**
 * Lets a page of an allowed origin read what the gateway answers. Returns whether the request was a browser's question
 * whether it may send another (a preflight), which is answered here. Throws host.not_allowed.
 */
export function allowPage(exchange: Exchange, access: AllowedOrigins): boolean {
  const { request, response } = exchange;
  const origin = request.header('origin');
  if (origin === undefined || !access.allowedOrigins.has(origin)) return false;
  const cors = ['access-control-allow-origin', origin, 'vary', 'origin'];
  response.always = [...cors, 'access-control-expose-headers', '*'];
  if (request.method !== 'OPTIONS' || request.header('access-control-request-method') === undefined)
    return false;
  checkOrigin(request, access);
  exchange.record.isKept = false; // it asks for nothing; the request that follows is recorded
  const fields = request.header('access-control-request-headers');
  response.writeHead(204, [
    ...['access-control-allow-methods', 'GET, HEAD, POST'],
    ...(fields === undefined ? [] : ['access-control-allow-headers', fields]),
    // A public page that calls this machine is asked for once more.
    ...(request.header('access-control-request-private-network') === 'true'
      ? ['access-control-allow-private-network', 'true']
      : []),
    ...['access-control-max-age', String(keptS)],
  ]);
  response.end();
  return true;
}
