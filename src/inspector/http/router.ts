import type { Config } from '../../config/config.ts';
import { GatewayError } from '../../errors.ts';
import { readJsonBody } from '../../http/body.ts';
import type { HttpRequest } from '../../http/request.ts';
import type { HttpResponse } from '../../http/response.ts';
import type { OwnerProof } from '../../lib/owner-proof.ts';
import type { PageSessions } from '../access/sessions.ts';
import type { InspectorBackend } from '../backend.ts';
import type { NowResponse } from '../contract/events.ts';
import type { EventStreams } from '../events/event-stream.ts';
import type { Ring } from '../ring/ring.ts';

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  // Untrusted texts can't become markup, even if the page's own code tried.
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

/**
 * On every answer below `/_/`: the page loads and runs nothing from elsewhere, connects to nothing else and can't be
 * framed, and the browser caches nothing, because answers contain prompts.
 */
export const securityHeaders: Readonly<Record<string, string>> = {
  'content-security-policy': policy,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'x-frame-options': 'DENY',
  'cache-control': 'no-store',
};

/** What the routes need for their answers. */
export interface RouteContext {
  readonly config: () => Config;
  readonly backend: InspectorBackend;
  readonly ownerProof: OwnerProof | undefined;
  readonly sessions: PageSessions;
  readonly ring: Ring;
  readonly events: EventStreams;
  readonly now: () => Promise<NowResponse>;
}

/** One request to the live page. */
export interface PageRequest {
  readonly request: HttpRequest;
  readonly response: HttpResponse;
  /** What every answer carries. */
  readonly headers: Readonly<Record<string, string>>;
  /** Answers with JSON, and these headers besides. */
  send(value: unknown, headers?: Readonly<Record<string, string>>): void;
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
export async function readPageJson(
  { request, response }: PageRequest,
  bodyBytes: number,
): Promise<Readonly<Record<string, unknown>>> {
  const limits = { bodyBytes, bodyIdleMs: bodyMs, bodyTotalMs: bodyMs };
  const value = await readJsonBody(request, response, limits);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  throw new GatewayError('request.field', 'the body must be a JSON object');
}

/** A string field, or undefined if it is missing. Throws request.field. */
export function textField(fields: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const value = fields[name];
  if (value === undefined || typeof value === 'string') return value;
  throw new GatewayError('request.field', `${name}: expected a text`, { param: `/${name}` });
}

/** What a route answers: the value to send as JSON; undefined if it has already answered. */
type PageResponse = (call: PageRequest) => unknown;

/** By method and path, `GET api/exchanges/:id`: below `/_/`, but for `/`; `:id` stands for one segment. */
export type Routes = Readonly<Record<string, PageResponse>>;

export interface Access {
  /** For anyone whose Host and Origin are allowed. */
  readonly open: Routes;
  /** Only with a session. */
  readonly session: Routes;
}

export interface Routed {
  readonly needsSession: boolean;
  readonly answer: PageResponse;
  readonly parameter: string;
}

/** Finds the route of a method and a path. Throws inspector.unknown and method.not_allowed. */
export function createPageRouter({ open, session }: Access): (method: string, path: string) => Routed {
  const routes = [open, session].flatMap((some) =>
    Object.entries(some).map(([name, answer]) => {
      const [method = '', path = ''] = name.split(' ');
      return { method, pattern: toPattern(path), answer, needsSession: some === session };
    }),
  );
  return (method, path) => {
    const found = routes.filter(({ pattern }) => pattern.test(path));
    const routedMethod = method === 'HEAD' ? 'GET' : method;
    const routed = found.find((route) => route.method === routedMethod);
    if (routed !== undefined) return { ...routed, parameter: routed.pattern.exec(path)?.[1] ?? '' };
    if (found.length === 0) throw new GatewayError('inspector.unknown', 'there is no such path below /_/');
    const allow = found.map((route) => route.method).join(', ');
    throw new GatewayError('method.not_allowed', `this path takes ${allow} only`, { headers: { allow } });
  };
}

function toPattern(path: string): RegExp {
  if (path === '/') return /^\/$/;
  return new RegExp(`^/_/${path.replace(':id', '([A-Za-z0-9._-]{1,100})')}$`);
}
