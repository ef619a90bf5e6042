import type { Dialect, Method, ModelList } from '../dialects/dialect.ts';
import { createPathFinder, modelMark } from '../dialects/model-path.ts';
import { alternativesTo, type DialectName, dialects } from '../dialects/registry.ts';
import type { HostTraits } from '../hosts/traits.ts';
import type { HttpRequest } from '../http/request.ts';
import { decodePercent } from '../lib/decode-percent.ts';
import type { ProviderOptions } from '../providers/provider.ts';
import type { Target } from '../providers/route.ts';

/** What one path of the gateway is. */
export type Endpoint =
  | ModelEndpoint
  | {
      readonly kind: 'models' | 'model' | 'discovery';
      readonly path: string;
      readonly method: 'GET';
      /** The form of the answer, if it is a dialect's own. */
      readonly list?: ModelList;
    }
  | { readonly kind: 'health' | 'ready' | 'about'; readonly path: string; readonly method: 'GET' };

/** A path whose requests go to a provider. */
export interface ModelEndpoint {
  readonly kind: 'exchange' | 'count';
  readonly path: string;
  readonly method: 'POST';
  /** The name that providers' `endpoints` and policies use. */
  readonly name: DialectName | 'count_tokens';
  readonly dialectName: DialectName;
  readonly dialect: Dialect;
  /** How the dialect is called there. */
  readonly call: Method;
}

const exchanges = Object.entries(dialects).flatMap(([name, dialect]: [string, Dialect]): ModelEndpoint[] => {
  const dialectName = name as DialectName; // Object.entries widens the record's key type
  return dialect.methods.map((call) => {
    const base = { path: call.path, method: 'POST', dialectName, dialect, call } as const;
    if (call.countAnswer !== undefined) return { ...base, kind: 'count', name: 'count_tokens' };
    return { ...base, kind: 'exchange', name: dialectName };
  });
});

const modelLists = Object.values<Dialect>(dialects).flatMap(({ modelList: list }): Endpoint[] =>
  list === undefined
    ? []
    : [
        { kind: 'models', path: list.path, method: 'GET', list },
        { kind: 'model', path: `${list.path}/${modelMark}`, method: 'GET', list },
      ],
);

const all: readonly Endpoint[] = [
  ...exchanges,
  { kind: 'models', path: '/v1/models', method: 'GET' },
  { kind: 'model', path: `/v1/models/${modelMark}`, method: 'GET' },
  ...modelLists,
  { kind: 'discovery', path: '/v1/gateway/models', method: 'GET' },
  { kind: 'health', path: '/healthz', method: 'GET' },
  { kind: 'ready', path: '/readyz', method: 'GET' },
  { kind: 'about', path: '/', method: 'GET' },
  // Claude Code opens its first connection with it.
  { kind: 'about', path: '/api/hello', method: 'GET' },
];

/** Endpoints by path, those with a model in it by their pattern. */
export const endpoints: ReadonlyMap<string, Endpoint> = new Map(
  all.map((endpoint) => [endpoint.path, endpoint]),
);

/** An endpoint, and the model's name if the path has it. */
export interface FoundEndpoint {
  readonly endpoint: Endpoint;
  readonly pathModel?: string;
}

const find = createPathFinder(all);

/** The endpoint of a request target without its query; undefined if there is none. */
export function findEndpoint(path: string): FoundEndpoint | undefined {
  const found = find(path);
  if (found === undefined) return undefined;
  const { item: endpoint, model: pathModel } = found;
  return pathModel === undefined ? { endpoint } : { endpoint, pathModel: decodePercent(pathModel) };
}

const withOwnErrors = Object.values<Dialect>(dialects).filter(({ hasOwnErrors }) => hasOwnErrors === true);

/** The dialect in whose form errors are answered at a request target; undefined if they have the gateway's. */
export function errorDialect(target: string): Dialect | undefined {
  const { item } = find(target.split('?', 1)[0] ?? '') ?? {};
  if (item !== undefined && 'dialect' in item)
    return withOwnErrors.find(({ name }) => name === item.dialect.name);
  return withOwnErrors.find(({ modelList }) => modelList !== undefined && target.startsWith(modelList.path));
}

export function isModelEndpoint(endpoint: Endpoint): endpoint is ModelEndpoint {
  return endpoint.method === 'POST';
}

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
 * for another provider. `traits` are those of its host for the model, which may reason in one dialect alone.
 */
export function dialectAt(
  { endpoints, credentials }: Pick<ProviderOptions, 'endpoints' | 'credentials'>,
  { name, dialectName, call }: Pick<ModelEndpoint, 'name' | 'dialectName' | 'call'>,
  traits?: Pick<HostTraits, 'reasonsIn'>,
): DialectName | undefined {
  // Which requests a host counts depends on its dialect.
  if (endpoints.has(name) && (name !== 'count_tokens' || endpoints.has(dialectName))) return dialectName;
  if (name === 'count_tokens' || credentials === 'client' || call.isUntranslatable) return undefined;
  const taken = alternatives.get(name)?.filter((other) => endpoints.has(other));
  return taken?.find((other) => other === traits?.reasonsIn) ?? taken?.[0];
}

/** The same at a target. */
export function dialectAtTarget(
  { provider, model }: Pick<Target, 'provider' | 'model'>,
  endpoint: Pick<ModelEndpoint, 'name' | 'dialectName' | 'call'>,
): DialectName | undefined {
  return dialectAt(provider.options, endpoint, provider.traitsFor(model));
}

/** The form of a list of models for a client that sent this request; undefined for the usual one. */
export function modelListFor(
  endpoint: Endpoint,
  request: Pick<HttpRequest, 'header'>,
): ModelList | undefined {
  if ('list' in endpoint) return endpoint.list;
  if (endpoint.kind === 'discovery') return undefined;
  const lists = Object.values<Dialect>(dialects).flatMap(({ modelList }) => modelList ?? []);
  return lists.find(({ header }) => request.header(header) !== undefined);
}
