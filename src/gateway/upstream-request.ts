import { randomBytes } from 'node:crypto';
import type { TextDialect } from '../dialects/dialect.ts';
import { type DialectName, dialects } from '../dialects/registry.ts';
import { createTranslation, type Translation } from '../dialects/translate.ts';
import { GatewayError } from '../errors.ts';
import type { ProviderRequest } from '../providers/attempt.ts';
import { requestHeaders } from '../providers/headers.ts';
import type { Route, Target } from '../providers/route.ts';
import { dialectAt } from './dialect-at.ts';
import type { ModelEndpoint } from './endpoints.ts';
import type { Exchange } from './exchange.ts';
import { bodyFor, forwardedQuery, type ModelRequest } from './request.ts';

/** One request as one target gets it, and what its answer needs on the way back. */
export interface UpstreamRequest extends ProviderRequest {
  readonly fate: 'exact' | 'spliced' | 'translated';
  /** Absent where the provider speaks the client's dialect, so that its answer passes as it is. */
  readonly translation?: Translation;
  /** Fields that the translation left out. */
  readonly dropped?: readonly string[];
}

export interface UpstreamRequestOptions {
  readonly request: ModelRequest;
  readonly endpoint: ModelEndpoint;
  readonly targets: readonly Target[];
  readonly query: string;
  readonly route: Route | undefined;
}

/**
 * A function that makes the request for each target: the client's bytes for one that speaks its dialect, else
 * a translation. It throws request.unsupported where a target can't take it, and request.thread_unsupported.
 */
export function createUpstreamRequests(
  exchange: Exchange,
  options: UpstreamRequestOptions,
): (target: Target) => UpstreamRequest {
  const { request, endpoint, targets } = options;
  const query = forwardedQuery(options.query);
  let parsed: unknown;

  return (target) => {
    const { provider } = target;
    const dialect = dialectAt(provider, endpoint) ?? endpoint.dialectName;
    const isSame = dialect === endpoint.dialectName;
    if (!isSame || target !== targets[0]) refuseThread(request, endpoint);
    const headers = requestHeaders(exchange.request.rawHeaders, {
      isAnthropic: dialect === 'messages',
      extraNames: provider.options.forwardHeaders,
      own: provider.ownHeaders,
    });
    if (isSame) {
      const { body, fate } = bodyFor(request, target);
      return { path: provider.pathFor(endpoint.path) + query, headers, body, fate };
    }
    parsed ??= JSON.parse(request.document.bytes.toString());
    const translation = translationTo(dialect, target, { exchange, options });
    const { body, dropped } = translation.request(parsed);
    return {
      path: provider.pathFor(dialects[dialect].path),
      headers,
      body: Buffer.from(JSON.stringify(body)),
      fate: 'translated',
      translation,
      dropped,
    };
  };
}

function translationTo(
  dialect: DialectName,
  { provider, model }: Target,
  { exchange, options }: { readonly exchange: Exchange; readonly options: UpstreamRequestOptions },
): Translation {
  const { request, endpoint, route } = options;
  const maxOutputTokens = route?.entry.maxOutputTokens;
  // dialectAt gives another dialect only where both are of texts.
  return createTranslation(endpoint.dialect as TextDialect, dialects[dialect] as TextDialect, {
    requestedModel: request.model,
    targetModel: model,
    host: provider.host,
    newId: (prefix) => prefix + randomBytes(12).toString('hex'),
    createdS: Math.floor(exchange.startedMs / 1_000),
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
  });
}

/**
 * A conversation that the provider keeps is nowhere else. Clients know this error code and send the turn
 * again, whole.
 */
function refuseThread({ document }: ModelRequest, { dialectName }: ModelEndpoint): void {
  if (dialectName !== 'messages') return;
  const thread = document.member(document.root, 'thread');
  if (thread === undefined || document.value(thread) === null) return;
  throw new GatewayError(
    'request.thread_unsupported',
    'thread: the conversation is kept by another provider; send all messages',
    { param: 'thread', errorCode: 'thread_unsupported_request' },
  );
}
