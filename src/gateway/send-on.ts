import { readFields } from '../dialects/request-fields.ts';
import { parseStrictJson } from '../dialects/strict-json.ts';
import { GatewayError } from '../errors.ts';
import type { Decision } from '../policy/rule.ts';
import { type Forwarded, forward, type ProviderRequest, type Target } from '../providers/forward.ts';
import { requestHeaders } from '../providers/headers.ts';
import type { ModelEndpoint } from './endpoints.ts';
import type { Exchange } from './exchange.ts';
import { bodyFor, forwardedQuery, type ModelRequest } from './request.ts';

interface Outgoing {
  readonly request: ModelRequest;
  readonly endpoint: ModelEndpoint;
  readonly decision: Decision;
  readonly targets: readonly Target[];
  readonly query: string;
}

/** Sends the decided request to the first target that answers, and notes which it was. */
export async function sendOn(exchange: Exchange, outgoing: Outgoing): Promise<Forwarded> {
  const request = redacted(outgoing);
  const query = forwardedQuery(outgoing.query);
  const build = (target: Target): ProviderRequest => {
    const { body, fate } = bodyFor(request, target);
    exchange.draft.body = outgoing.decision.redactedBody === undefined ? fate : 'redacted';
    exchange.draft.provider = target.provider.options.name;
    exchange.draft.target_model = target.model;
    return {
      path: target.provider.pathFor(outgoing.endpoint.path) + query,
      headers: requestHeaders(exchange.request.rawHeaders, {
        isAnthropic: outgoing.endpoint.dialectName === 'messages',
        extraNames: target.provider.options.forwardHeaders,
        own: target.provider.ownHeaders,
      }),
      body,
    };
  };
  const forwarded = await forward({ targets: outgoing.targets, build, lifetime: exchange.lifetime });
  exchange.draft.attempts = forwarded.attempts;
  return forwarded;
}

/** The request with what a policy took out; its places are other ones now, so it is read again. */
function redacted({ request, endpoint, decision }: Outgoing): ModelRequest {
  if (decision.redactedBody === undefined) return request;
  const document = parseStrictJson(decision.redactedBody);
  return { document, ...readFields(document, endpoint.dialect) };
}

/**
 * The targets of a model that can take this endpoint. Throws model.unknown where no line of the model list
 * matches, provider.unavailable where its providers are not configured, request.unsupported where none has
 * the endpoint.
 */
export function usableTargets(
  route: { readonly targets: readonly Target[] } | undefined,
  { model }: ModelRequest,
  { name, path }: ModelEndpoint,
): readonly Target[] {
  if (route === undefined) {
    const message = `no provider serves the model ${model}; GET /v1/models lists those there are`;
    throw new GatewayError('model.unknown', message, { param: '/model' });
  }
  if (route.targets.length === 0) {
    throw new GatewayError('provider.unavailable', `the provider of ${model} is not configured`);
  }
  const usable = route.targets.filter((target) => target.provider.options.endpoints.has(name));
  if (usable.length > 0 || name === 'count_tokens') return usable;
  throw new GatewayError('request.unsupported', `the provider of ${model} does not serve ${path}`, {
    param: '/model',
  });
}
