import { alternativesTo, type DialectName, dialects } from '../dialects/registry.ts';
import type { RequestFields } from '../dialects/request-fields.ts';
import { GatewayError } from '../errors.ts';
import type { ProviderOptions } from '../providers/provider.ts';
import type { Route, Target } from '../providers/route.ts';
import type { ModelEndpoint } from './endpoints.ts';

/** The dialects that each dialect's requests can be translated to, the closest first. */
const alternatives: ReadonlyMap<string, readonly DialectName[]> = new Map(
  Object.values(dialects).map((dialect) => [
    dialect.name,
    alternativesTo(dialect).map(({ name }) => name as DialectName), // they come from the registry
  ]),
);

/**
 * The dialect in which a provider takes an endpoint's requests: the endpoint's own, else another; undefined if none. A
 * provider that takes the client's own login gets no translations: the login of a client that speaks another dialect is
 * for another provider.
 */
export function dialectAt(
  { endpoints, credentials }: Pick<ProviderOptions, 'endpoints' | 'credentials'>,
  { name, dialectName }: Pick<ModelEndpoint, 'name' | 'dialectName'>,
): DialectName | undefined {
  // Which requests a host counts depends on its dialect.
  if (endpoints.has(name) && (name !== 'count_tokens' || endpoints.has(dialectName))) return dialectName;
  if (name === 'count_tokens' || credentials === 'client') return undefined;
  return alternatives.get(name)?.find((other) => endpoints.has(other));
}

/**
 * The targets of a model that can take this endpoint, in its own dialect or translated; none for a token count that no
 * provider supports. Without the client's own login those that take it are left out. Throws model.unknown if no entry of
 * the model list matches, provider.unavailable if its providers are not configured, request.unsupported if none can take
 * the request, and key.missing if the first of them takes a login that the client has not sent.
 */
export function usableTargets(
  route: Route | undefined,
  { model }: Pick<RequestFields, 'model'>,
  { endpoint, hasLogin }: { readonly endpoint: ModelEndpoint; readonly hasLogin: boolean },
): readonly Target[] {
  if (route === undefined) {
    const message = `no provider serves the model ${model}; GET /v1/models lists the available ones`;
    throw new GatewayError('model.unknown', message, { param: '/model' });
  }
  if (route.targets.length === 0) {
    const { provider } = route.entry.targets[0];
    const message = `provider ${provider}, which serves ${model}, is not configured: it lacks its key or another variable; "gateway doctor" names it`;
    throw new GatewayError('provider.unavailable', message, { retry: false });
  }
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
  const message = `the provider of ${model} does not serve ${endpoint.path}, and nothing that it could be translated to`;
  throw new GatewayError('request.unsupported', message, { param: '/model' });
}

function withoutLogin(provider: string): GatewayError {
  const message = `provider ${provider} takes your own login, not a key of the gateway: send it as authorization (or x-api-key) and the project key as x-gateway-key; gateway run does so for Claude Code and Codex`;
  return new GatewayError('key.missing', message);
}
