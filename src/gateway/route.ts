import { GatewayError } from '../errors.ts';
import type { Route, Router, Target } from '../providers/route.ts';
import type { DecidedRequest } from './decision/decide-request.ts';
import { dialectAt } from './endpoints.ts';

/** A decided request, and where it may go. */
export interface RoutedRequest {
  readonly decided: DecidedRequest;
  readonly route: Route;
  /** Those that can take it, in the order in which they are tried. */
  readonly targets: readonly Target[];
}

/**
 * Finds the targets of the model that can take a request, in its own dialect or translated; none for a token count that
 * no provider supports. Without the client's own login those that take it are left out. Throws model.unknown if no entry
 * of the model list matches, provider.unavailable if its providers are not configured, request.unsupported if none can
 * take the request, and key.missing if the first of them takes a login that the client has not sent.
 */
export function route(
  decided: DecidedRequest,
  { router, hasLogin }: { readonly router: Router; readonly hasLogin: boolean },
): RoutedRequest {
  const { model } = decided.request;
  const found = router.resolve(model);
  if (found === undefined) {
    const message = `no provider serves the model ${model}; GET /v1/models lists the available ones`;
    throw new GatewayError('model.unknown', message, { param: '/model' });
  }
  if (found.targets.length === 0) {
    const { provider } = found.entry.targets[0];
    const message = `provider ${provider}, which serves ${model}, is not configured: it lacks its key or another variable; "gateway doctor" names it`;
    throw new GatewayError('provider.unavailable', message, { retry: false });
  }
  return { decided, route: found, targets: usableTargets(found, decided, hasLogin) };
}

function usableTargets(
  route: Route,
  { endpoint, request }: DecidedRequest,
  hasLogin: boolean,
): readonly Target[] {
  const isUsable = ({ provider }: Target) => dialectAt(provider.options, endpoint) !== undefined;
  const usable = route.targets.every(isUsable) ? route.targets : route.targets.filter(isUsable);
  const first = usable[0]?.provider;
  if (first !== undefined && !hasLogin) {
    if (first.takesLogin) throw withoutLogin(first.options.name);
    return usable.some(({ provider }) => provider.takesLogin)
      ? usable.filter(({ provider }) => !provider.takesLogin)
      : usable;
  }
  if (first !== undefined || endpoint.kind === 'count') return usable;
  const message = `the provider of ${request.model} does not serve ${endpoint.path}, and nothing that it could be translated to`;
  throw new GatewayError('request.unsupported', message, { param: '/model' });
}

function withoutLogin(provider: string): GatewayError {
  const message = `provider ${provider} takes your own login, not a key of the gateway: send it as authorization (or x-api-key) and the project key as x-gateway-key; gateway run does so for Claude Code and Codex`;
  return new GatewayError('key.missing', message);
}
