import { GatewayError } from '../errors.ts';
import type { Decision } from '../policy/rule.ts';
import type { Forwarded } from '../providers/attempt.ts';
import { forward } from '../providers/forward.ts';
import type { Route, Target } from '../providers/route.ts';
import { dialectAt } from './dialect-at.ts';
import type { ModelEndpoint } from './endpoints.ts';
import type { Exchange } from './exchange.ts';
import type { ModelRequest } from './request.ts';
import {
  createUpstreamRequests,
  type UpstreamRequest,
  type UpstreamRequestOptions,
} from './upstream-request.ts';

interface Outgoing extends UpstreamRequestOptions {
  readonly decision: Decision;
}

/** Sends the decided request to the first target that answers, and notes which it was. */
export function sendOn(exchange: Exchange, outgoing: Outgoing): Promise<Forwarded<UpstreamRequest>> {
  const isRedacted = outgoing.decision.action === 'redact';
  return forward({
    targets: outgoing.targets,
    build: createUpstreamRequests(exchange, outgoing),
    onAttempt: ({ provider, model }, { fate, dropped = [] }) =>
      exchange.draft.noteAttempt({
        provider: provider.options.name,
        model,
        form: isRedacted ? 'redacted' : fate,
        dropped,
      }),
    lifetime: exchange.lifetime,
  });
}

/**
 * The targets of a model that can take this endpoint, in its own dialect or translated. Throws model.unknown
 * where no line of the model list matches, provider.unavailable where its providers are not configured,
 * request.unsupported where none can take it.
 */
export function usableTargets(
  route: Route | undefined,
  { model }: ModelRequest,
  endpoint: ModelEndpoint,
): readonly Target[] {
  if (route === undefined) {
    const message = `no provider serves the model ${model}; GET /v1/models lists those there are`;
    throw new GatewayError('model.unknown', message, { param: '/model' });
  }
  if (route.targets.length === 0) {
    throw new GatewayError('provider.unavailable', `the provider of ${model} is not configured`);
  }
  const usable = route.targets.filter((target) => dialectAt(target.provider, endpoint) !== undefined);
  if (usable.length > 0 || endpoint.kind === 'count') return usable;
  const message = `the provider of ${model} does not serve ${endpoint.path}, and nothing that it could be translated to`;
  throw new GatewayError('request.unsupported', message, { param: '/model' });
}
