import { alternativesTo, type DialectName, dialects } from '../dialects/registry.ts';
import { GatewayError } from '../errors.ts';
import type { Route, Target } from '../providers/route.ts';
import type { ModelEndpoint } from './endpoints.ts';
import type { ModelRequest } from './request.ts';

/** What a request of each dialect is translated to where the provider lacks it: the nearest first. */
const alternatives: ReadonlyMap<string, readonly DialectName[]> = new Map(
  Object.values(dialects).map((dialect) => [
    dialect.name,
    alternativesTo(dialect).map(({ name }) => name as DialectName), // they come from the registry
  ]),
);

/** The dialect in which a provider takes requests of an endpoint: its own, else another; undefined where none. */
export function dialectAt(
  { endpoints }: { readonly endpoints: ReadonlySet<string> },
  { name, dialectName }: Pick<ModelEndpoint, 'name' | 'dialectName'>,
): DialectName | undefined {
  if (endpoints.has(name)) return dialectName;
  if (name === 'count_tokens') return undefined;
  return alternatives.get(name)?.find((other) => endpoints.has(other));
}

/**
 * The targets of a model that can take this endpoint, in its own dialect or translated; none where tokens are to be
 * counted and no provider counts them. Throws model.unknown where no line of the model list matches,
 * provider.unavailable where its providers are not configured, request.unsupported where none can take it.
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
  const isUsable = ({ provider }: Target) => dialectAt(provider.options, endpoint) !== undefined;
  const usable = route.targets.every(isUsable) ? route.targets : route.targets.filter(isUsable);
  if (usable.length > 0 || endpoint.kind === 'count') return usable;
  const message = `the provider of ${model} does not serve ${endpoint.path}, and nothing that it could be translated to`;
  throw new GatewayError('request.unsupported', message, { param: '/model' });
}
