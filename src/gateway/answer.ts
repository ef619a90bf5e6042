import { GatewayError } from '../errors.ts';
import { commonHeaders } from '../http/respond.ts';
import { decodedAnswer } from '../providers/decode.ts';
import type { Forwarded } from '../providers/forward.ts';
import { answerHeaders } from '../providers/headers.ts';
import { readWhole } from '../providers/read-whole.ts';
import type { ProviderAnswer } from '../providers/upstream.ts';
import type { ModelEndpoint } from './endpoints.ts';
import type { Exchange } from './exchange.ts';
import type { Gateway } from './gateway.ts';
import { relayStream } from './relay.ts';

/** Longest JSON answer that is read whole before it goes on. */
const answerLimitBytes = 32 * 1024 * 1024;
const errorLimitBytes = 256 * 1024;

interface AnswerOptions {
  readonly endpoint: ModelEndpoint;
  readonly isStream: boolean;
  readonly gateway: Gateway;
}

/**
 * Gives the client the provider's answer: a stream as it comes, JSON when it is whole, an error with its own
 * words less our secrets. Throws provider.broken_response and provider.credentials_rejected.
 */
export async function giveAnswer(
  exchange: Exchange,
  forwarded: Forwarded,
  options: AnswerOptions,
): Promise<void> {
  const { status } = forwarded.answer;
  if (status === 401 || status === 403) {
    forwarded.answer.abort();
    // The client would take it for its own key.
    const name = forwarded.target.provider.options.name;
    throw new GatewayError(
      'provider.credentials_rejected',
      `provider ${name} rejected the gateway's credentials`,
    );
  }
  if (status >= 400) return giveError(exchange, forwarded, options.gateway);
  if (status >= 300) {
    forwarded.answer.abort();
    throw new GatewayError(
      'provider.broken_response',
      'the provider answered with a redirect, which is never followed',
    );
  }
  const answer = decodedAnswer(forwarded.answer);
  const type = answer.headers.get('content-type') ?? '';
  if (options.isStream && /^text\/event-stream\b/i.test(type)) {
    const headers = headersFor(exchange, forwarded);
    await relayStream(exchange, { answer, dialect: options.endpoint.dialect, headers });
    return;
  }
  if (/^application\/(?:[\w.-]+\+)?json\b/i.test(type)) return giveJson(exchange, answer, forwarded, options);
  forwarded.answer.abort();
  throw new GatewayError(
    'provider.broken_response',
    'the provider answered with neither JSON nor an event stream',
  );
}

async function giveJson(
  exchange: Exchange,
  answer: ProviderAnswer,
  forwarded: Forwarded,
  { endpoint }: AnswerOptions,
): Promise<void> {
  const body = await readWhole(answer, answerLimitBytes, exchange.lifetime);
  exchange.noteFirstByte();
  const value = parseAnswer(body);
  exchange.noteUsage(endpoint.dialect.answerUsage(value));
  send(exchange, forwarded, body);
}

/** Truncated or broken JSON must not become a clean-looking 200. */
function parseAnswer(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch (cause) {
    throw new GatewayError('provider.broken_response', "the provider's answer is not complete JSON", {
      cause,
    });
  }
}

async function giveError(exchange: Exchange, forwarded: Forwarded, gateway: Gateway): Promise<void> {
  const answer = decodedAnswer(forwarded.answer);
  const body = await readWhole(answer, errorLimitBytes, exchange.lifetime);
  exchange.noteFirstByte();
  send(exchange, forwarded, gateway.scrub(body));
}

function send(exchange: Exchange, forwarded: Forwarded, body: Buffer): void {
  exchange.draft.bytes_out = body.length;
  const headers = [...headersFor(exchange, forwarded), 'content-length', String(body.length)];
  exchange.response.writeHead(forwarded.answer.status, headers);
  exchange.response.end(body);
}

function headersFor(exchange: Exchange, { answer, target, attempts }: Forwarded): string[] {
  const passed = answerHeaders(answer.headers);
  const hasRequestId = answer.headers.has('request-id');
  const own = Object.entries(commonHeaders(exchange.id))
    .filter(([name]) => !(name === 'request-id' && hasRequestId))
    .flat();
  const { body, rules } = exchange.draft;
  const headers = [
    ...passed,
    ...own,
    'x-gateway-body',
    body ?? 'exact',
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
