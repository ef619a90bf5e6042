import type { KeyRecord } from '../config/build/keys.ts';
import { GatewayError } from '../errors.ts';
import { type Router, spread, type Target } from '../providers/route.ts';
import type { DecidedRequest } from './decision/decide-request.ts';
import { dialectAtTarget, type ModelEndpoint } from './endpoints.ts';
import type { Sender } from './sender.ts';

/** Where a decided request goes: to a provider, or to the gateway's own estimate of a token count. */
export type RouteTaken = RoutedRequest | { readonly kind: 'estimate' };

export interface RoutedRequest {
  readonly kind: 'provider';
  readonly decided: DecidedRequest;
  /** Those that can take it, in the order in which they are tried. */
  readonly targets: Targets;
}

type Targets = readonly [Target, ...Target[]];

/**
 * Finds the targets of a decided request that can take it, in its own dialect or translated. A token count that no
 * provider of the model supports is estimated. Without the client's own login those that take it are left out. Throws
 * model.unknown if no entry of the model list matches with conditions that hold, provider.unavailable if its providers
 * are not configured, request.unsupported if none can take the request, and key.missing if the first of them takes a
 * login that the client has not sent.
 */
export function route(
  decided: DecidedRequest,
  { router, hasLogin }: { readonly router: Router; readonly hasLogin: boolean },
): RouteTaken {
  const { endpoint, request } = decided;
  const { model } = request;
  const found = router.follow(decided.route);
  if (found === undefined) {
    const isListed = router.resolve(model) !== undefined;
    const message = isListed
      ? `no entry of the model list takes this request for ${model}: the conditions of none hold`
      : `no provider serves the model ${model}; GET /v1/models lists the available ones`;
    throw new GatewayError('model.unknown', message, { param: '/model' });
  }
  if (found.targets.length === 0) {
    const { provider } = found.entry.targets[0];
    const message = `provider ${provider}, which serves ${model}, is not configured: it lacks its key or another variable; "gateway doctor" names it`;
    throw new GatewayError('provider.unavailable', message, { retry: false });
  }
  const usable = spread(usableAmong(found.targets, endpoint), spreadBy(decided.key, decided.meta.sender));
  if (hasFirst(usable)) {
    const targets = hasLogin ? usable : withoutLogins(usable);
    return { kind: 'provider', decided, targets };
  }
  if (endpoint.kind === 'count') return { kind: 'estimate' };
  const message = `the provider of ${model} does not serve ${endpoint.path}, and nothing that it could be translated to`;
  throw new GatewayError('request.unsupported', message, { param: '/model' });
}

/** Those that can take the endpoint's requests: as a rule all. */
function usableAmong(targets: readonly Target[], endpoint: ModelEndpoint): readonly Target[] {
  let usable = targets;
  for (const target of targets)
    if (dialectAtTarget(target, endpoint) === undefined) usable = without(usable, target);
  return usable;
}

function without(targets: readonly Target[], left: Target): readonly Target[] {
  return targets.filter((target) => target !== left);
}

/** What requests are spread by: the same session of another key is another one. Undefined without one. */
export function spreadBy(
  { id }: Pick<KeyRecord, 'id'>,
  { session }: Pick<Sender, 'session'> = {},
): string | undefined {
  return session === undefined ? undefined : `${id}\n${session}`;
}

function hasFirst(targets: readonly Target[]): targets is Targets {
  return targets.length > 0;
}

function withoutLogins(targets: Targets): Targets {
  const [first, ...fallbacks] = targets;
  if (first.provider.takesLogin) throw withoutLogin(first.provider.options.name);
  if (!fallbacks.some(({ provider }) => provider.takesLogin)) return targets;
  return [first, ...fallbacks.filter(({ provider }) => !provider.takesLogin)];
}

function withoutLogin(provider: string): GatewayError {
  const message = `provider ${provider} takes your own login, not a key of the gateway: send it as authorization (or x-api-key) and the project key as x-gateway-key; gateway run does so for Claude Code and Codex`;
  return new GatewayError('key.missing', message);
}
