import type { Forwarded } from '../../providers/attempt.ts';
import type { Exchange } from '../exchange.ts';
import type { Gateway } from '../gateway.ts';
import type { UpstreamRequest } from '../outgoing/build-upstream-request.ts';

interface HeadOptions extends Pick<Gateway, 'scrubText'> {
  /** The body is not the provider's own: the gateway rewrote it. */
  readonly isOwn: boolean;
}

/**
 * The headers of an answer, as a flat list of names and values: the provider's that are passed on, without configured
 * secrets, then the gateway's.
 */
export function headersFor(
  exchange: Exchange,
  { answer, target, request, attempts }: Forwarded<UpstreamRequest>,
  { scrubText, isOwn }: HeadOptions,
): string[] {
  const { id, draft } = exchange;
  const limits = exchange.limitHeaders();
  const passed: string[] = [...limits];
  // A client under the gateway's limits must not act on the provider's limits, which apply to the gateway.
  answer.headers.passOn(passed, scrubText, { rateLimits: limits.length === 0 });
  const headers = isOwn ? withJsonType(passed) : passed;
  headers.push('x-content-type-options', 'nosniff', 'x-request-id', id);
  if (answer.headers.get('request-id') === undefined) headers.push('request-id', id);
  headers.push('x-gateway-body', request.form, 'x-gateway-attempts', String(attempts));
  if (answer.status < 400) {
    headers.push('x-gateway-provider', target.provider.options.name, 'x-gateway-model', target.model);
  }
  for (const rule of draft.warnings) headers.push('x-gateway-warning', rule);
  return headers;
}

/** What the gateway writes itself is JSON, whatever the provider's answer was. */
function withJsonType(headers: readonly string[]): string[] {
  const at = headers.indexOf('content-type');
  const others = at < 0 ? headers : [...headers.slice(0, at), ...headers.slice(at + 2)];
  return ['content-type', 'application/json', ...others];
}
