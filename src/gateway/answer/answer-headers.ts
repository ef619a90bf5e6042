import type { Forwarded } from '../../providers/attempt.ts';
import type { ModelEndpoint } from '../endpoints.ts';
import type { Exchange } from '../exchange.ts';
import type { UpstreamRequest } from '../outgoing/build-upstream-request.ts';
import { limitHeadersOf } from '../rate-limit-headers.ts';

interface HeadOptions {
  /** The body is not the provider's own: the gateway rewrote it. */
  readonly isOwn: boolean;
}

/**
 * The headers of an answer, as a flat list of names and values: the provider's that are passed on, without configured
 * secrets, then the gateway's.
 */
export function headersFor(
  exchange: Exchange,
  { answer, target, request }: Forwarded<UpstreamRequest>,
  { isOwn }: HeadOptions,
): string[] {
  const { id, record } = exchange;
  // The provider's limits on a client's own login are the client's own to act on. Otherwise they apply to the gateway, and
  // a client under the gateway's limits must not act on them.
  const hasOwnLimits = target.provider.takesLogin && answer.headers.hasRateLimits;
  const limits = hasOwnLimits ? [] : limitHeadersOf(exchange);
  const passed: string[] = [...limits];
  answer.headers.passOn(passed, exchange.scrubber, { rateLimits: limits.length === 0 });
  const headers = isOwn ? withJsonType(passed) : passed;
  headers.push('x-content-type-options', 'nosniff', 'x-request-id', id);
  if (answer.headers.get('request-id') === undefined) headers.push('request-id', id);
  headers.push('x-gateway-body', request.form, 'x-gateway-attempts', String(record.soFar.attempts));
  if (answer.status < 400) {
    headers.push('x-gateway-provider', target.provider.options.name, 'x-gateway-model', target.model);
  }
  for (const rule of record.warnings) headers.push('x-gateway-warning', rule);
  return headers;
}

/** The gateway's own bodies are JSON, even if the provider's answer was not. */
function withJsonType(headers: readonly string[]): string[] {
  const at = headers.indexOf('content-type');
  const others = at < 0 ? headers : [...headers.slice(0, at), ...headers.slice(at + 2)];
  return ['content-type', 'application/json', ...others];
}

/** Of a dialect whose streams are events only if the client asks for them. `query`: without its question mark. */
export function wantsArray({ call }: ModelEndpoint, query: string): boolean {
  return call.query !== undefined && new URLSearchParams(query).get('alt') !== 'sse';
}
