import { alternativesTo, type DialectName, dialects } from '../dialects/registry.ts';
import { GatewayError } from '../errors.ts';
import type { Route, Target } from '../providers/route.ts';
import type { ModelEndpoint } from './endpoints.ts';
import type { ModelRequest } from './request.ts';

/** The dialects that each dialect's requests can be translated to, the closest first. */
const alternatives: ReadonlyMap<string, readonly DialectName[]> = new Map(
  Object.values(dialects).map((dialect) => [
    dialect.name,
    alternativesTo(dialect).map(({ name }) => name as DialectName), // they come from the registry
  ]),
);

/** The dialect in which a provider takes an endpoint's requests: the endpoint's own, else another; undefined if none. */
export function dialectAt(
  { endpoints }: { readonly endpoints: ReadonlySet<string> },
  { name, dialectName }: Pick<ModelEndpoint, 'name' | 'dialectName'>,
): DialectName | undefined {
  if (endpoints.has(name)) return dialectName;
  if (name === 'count_tokens') return undefined;
  return alternatives.get(name)?.find((other) => endpoints.has(other));
}

/**
 * The targets of a model that can take this endpoint, in its own dialect or translated; none for a token count that no
 * provider supports. Throws model.unknown if no entry of the model list matches, provider.unavailable if its providers
 * are not configured, request.unsupported if none can take the request.
 */
export function usableTargets(
  route: Route | undefined,
  { model }: ModelRequest,
  endpoint: ModelEndpoint,
): readonly Target[] {
  if (route === undefined) {
    const message = `no provider serves the model ${model}; GET /v1/models lists the available ones`;
    throw new GatewayError('model.unknown', message, { param: '/model' });
  }
  if (route.targets.length === 0) {
    throw new GatewayError('provider.unavailable', `the provider of ${model} is not configured`);
  }
  const isUsable = ({ provider }: Target) => dialectAt(provider.options, endpoint) !== undefined;
  const usable = route.targets.every(isUsable) ? route.targets : route.targets.filter(isUsable);
  if (usable.length > 0 || endpoint.kind === 'count') return usable;
  const message = `the provider of ${model} does not serve ${endpoint.path}, and nothing that it could be translated to`;
  throw new GatewayError('request.unsupported', message, { param: '/model' });
}
