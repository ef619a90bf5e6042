import { commonHeaders } from '../http/respond.ts';
import type { Forwarded } from '../providers/attempt.ts';
import { answerHeaders } from '../providers/headers.ts';
import type { Exchange } from './exchange.ts';
import type { Passage } from './passage.ts';

/** The head of an answer: what of the provider's goes on, then ours; a flat list of names and values. */
export function headersFor(
  exchange: Exchange,
  { answer, target, request, attempts }: Forwarded<Passage>,
): string[] {
  const passed = answerHeaders(answer.headers);
  const hasRequestId = answer.headers.has('request-id');
  const own = Object.entries(commonHeaders(exchange.id))
    .filter(([name]) => !(name === 'request-id' && hasRequestId))
    .flat();
  const { body, rules } = exchange.draft;
  const headers = [
    ...(request.translation === undefined ? passed : withJsonType(passed)),
    ...own,
    'x-gateway-body',
    body ?? request.fate,
    'x-gateway-attempts',
    String(attempts),
  ];
  if (answer.status < 400) {
    headers.push('x-gateway-provider', target.provider.options.name, 'x-gateway-model', target.model);
  }
  for (const rule of rules ?? []) {
    if (rule.action === 'warn' && rule.mode === 'enforce') headers.push('x-gateway-warning', rule.id);
  }
  return headers;
}

/** A translated answer is JSON, or a stream, whatever the provider's error page was. */
function withJsonType(headers: readonly string[]): string[] {
  const at = headers.indexOf('content-type');
  const type = at < 0 ? '' : (headers[at + 1] ?? '');
  if (/^text\/event-stream\b/i.test(type)) return [...headers];
  const others = at < 0 ? headers : [...headers.slice(0, at), ...headers.slice(at + 2)];
  return ['content-type', 'application/json', ...others];
}
