import type { KeyLimits, KeyRecord } from '../../config/build/keys.ts';
import type { ModelEntry, ModelTarget } from '../../config/build/models.ts';
import type { ListedModel } from '../../dialects/dialect.ts';
import { dialects } from '../../dialects/registry.ts';
import { GatewayError } from '../../errors.ts';
import { kinds } from '../../json/json-document.ts';
import { parseStrictJson } from '../../json/strict-json.ts';
import { type LimitName, limitNames, limitTable } from '../../limits/limit-table.ts';
import { nanoUsdPerUsd, type Price } from '../../limits/price.ts';
import type { Target } from '../../providers/route.ts';
import { version } from '../../version.ts';
import { identify } from '../authenticate.ts';
import type { DecidedRequest } from '../decision/decide-request.ts';
import {
  dialectAtTarget,
  endpoints,
  isModelEndpoint,
  type ModelEndpoint,
  modelListFor,
} from '../endpoints.ts';
import type { Exchange } from '../exchange.ts';
import type { Gateway } from '../gateway.ts';
import type { Received } from '../receive.ts';
import { answerHealth, answerReady, isOwners } from './health.ts';
import type { ModelInfo } from './models.ts';

// English prose and code average about four bytes per token; good enough for a client's context gauge.
const bytesPerToken = 4;

/** Estimates tokens for providers that can't count them; marked as an estimate, so that it is not used for billing. */
export function sendEstimate(exchange: Exchange, { request, endpoint }: DecidedRequest): void {
  const { document } = request;
  let bytes = 0;
  for (let entry = 0; entry < document.count; entry += 1) {
    if (document.kind(entry) === kinds.string) bytes += document.end(entry) - document.start(entry);
  }
  const tokens = Math.max(1, Math.ceil(bytes / bytesPerToken));
  exchange.sendJson(endpoint.call.countAnswer?.(tokens), { headers: { 'x-gateway-estimate': 'true' } });
}

/** A request that no provider sees. */
type LocalRequest = Received & Pick<DecidedRequest, 'login'>;

/** Answers the requests that need no provider: health, what this is, and the models that a key may use. */
export async function answerLocally(
  exchange: Exchange,
  gateway: Gateway,
  target: LocalRequest,
): Promise<void> {
  switch (target.endpoint.kind) {
    case 'health':
      return answerHealth(exchange, gateway.health);
    case 'ready':
      return answerReady(exchange, gateway.readiness);
    case 'about':
      return exchange.sendJson(about());
    default:
      return answerModels(exchange, gateway, target);
  }
}

function about() {
  return { name: 'gateway', version, endpoints: [...endpoints.keys()] };
}

async function answerModels(
  exchange: Exchange,
  gateway: Gateway,
  { endpoint, pathModel = '', query, login }: LocalRequest,
): Promise<void> {
  isOwners(exchange, gateway.health.ownerProof);
  const { key } = identify(exchange, gateway, { endpoint: endpoint.kind, login });
  const list = modelListFor(endpoint, exchange.request);
  if (endpoint.kind === 'model') {
    const model = allowedModel(pathModel, gateway, key);
    return exchange.sendJson(
      list?.entry(toListed(gateway, model)) ?? { ...listEntry(model), ...reachView(gateway, model) },
    );
  }
  const models = (await gateway.catalogue.list()).filter((model) => mayUse(gateway, key, model));
  if (list !== undefined) {
    return exchange.sendJson(list.list(models.map((model) => list.entry(toListed(gateway, model)))));
  }
  const value =
    endpoint.kind === 'models'
      ? page(models.map(listEntry), new URLSearchParams(query))
      : {
          object: 'list',
          default_model: defaultModel(gateway, key),
          data: models.map((model) => describeModel(gateway, key, model)),
        };
  exchange.sendJson(value);
}

/** What the configuration names for clients that don't care, if this key may use it. */
function defaultModel(gateway: Gateway, key: KeyRecord): string | null {
  const model = gateway.defaultModel === undefined ? undefined : gateway.catalogue.find(gateway.defaultModel);
  return model !== undefined && mayUse(gateway, key, model) ? model.id : null;
}

function toListed(gateway: Gateway, model: ModelInfo): ListedModel {
  return {
    id: model.id,
    contextWindow: contextWindowOf(gateway, model),
    maxOutputTokens: model.entry.maxOutputTokens,
  };
}

function allowedModel(name: string, gateway: Gateway, key: KeyRecord): ModelInfo {
  const model = gateway.catalogue.find(name);
  if (model !== undefined && mayUse(gateway, key, model)) return model;
  throw new GatewayError(
    'model.unknown',
    'there is no such model for this key; GET /v1/models lists the available ones',
  );
}

// A request with nothing in it that a rule about tools or caps could object to.
const emptyRequest = parseStrictJson(Buffer.from('{"model":"","messages":[],"max_tokens":1}'));

/** Whether the key's policies would let an unremarkable request for the model through. */
function mayUse(gateway: Gateway, key: KeyRecord, { id }: ModelInfo): boolean {
  const targets = gateway.router.resolve(id)?.targets ?? [];
  const decision = key.policies.decide({
    document: emptyRequest,
    dialect: dialects.chat,
    endpoint: 'chat',
    model: id,
    targetModels: targets.map((target) => target.model),
    providers: targets.map(({ provider }) => provider.options.name),
    stream: false,
    project: key.project,
    key: key.id,
    nowMs: Date.now(),
    standsForAny: true,
  });
  return decision.action !== 'block';
}

/** One entry that both SDK families can read. */
export function listEntry({ id, entry, createdS }: ModelInfo) {
  return {
    id,
    object: 'model',
    type: 'model',
    created: createdS,
    created_at: new Date(createdS * 1_000).toISOString().replace('.000Z', 'Z'),
    owned_by: entry.targets[0].provider,
    display_name: id,
  };
}

/** Whose credentials requests for the model carry, if they are the client's own; whether nothing configured serves it. */
function reachView({ router }: Pick<Gateway, 'router'>, { id }: ModelInfo) {
  const first = router.resolve(id)?.targets[0];
  if (first === undefined) return { status: 'unconfigured' };
  return first?.provider.takesLogin === true ? { credentials: 'client' } : {};
}

/** A list that both SDK families can read, paged the way Anthropic's clients ask (`limit`, `after_id`, `before_id`). */
export function page<Entry extends { readonly id: string }>(
  entries: readonly Entry[],
  query: URLSearchParams,
) {
  const after = entries.findIndex((entry) => entry.id === query.get('after_id'));
  const before = entries.findIndex((entry) => entry.id === query.get('before_id'));
  const limit = pageLimit(query.get('limit'));
  const range = entries.slice(after + 1, before < 0 ? undefined : before);
  const data = before >= 0 && after < 0 ? range.slice(-limit) : range.slice(0, limit);
  return {
    object: 'list',
    data,
    has_more: data.length < range.length,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
  };
}

function pageLimit(text: string | null): number {
  if (text === null) return Number.MAX_SAFE_INTEGER;
  const limit = Number(text);
  if (Number.isSafeInteger(limit) && limit >= 1) return limit;
  throw new GatewayError('request.field', 'limit must be a whole number above 0', { param: 'limit' });
}

/** What a client needs to choose a model. */
function describeModel(gateway: Gateway, key: KeyRecord, model: ModelInfo) {
  const { entry } = model;
  const [main, ...others] = entry.targets;
  const spread = spreadTargets(entry);
  const fallbacks = others.filter(({ weight }) => weight === undefined);
  const targets = gateway.router.resolve(model.id)?.targets ?? [];
  const usable = [...endpoints.values()].filter(isModelEndpoint).flatMap((endpoint) => {
    const form = bodyFormAt(targets, model.id, endpoint);
    return form === undefined ? [] : [{ path: endpoint.path, form }];
  });
  return {
    ...listEntry(model),
    ...reachView(gateway, model),
    provider: main.provider,
    endpoints: usable.map(({ path }) => path),
    body: Object.fromEntries(
      usable.filter(({ form }) => form !== 'estimated').map(({ path, form }) => [path, form]),
    ),
    aliases: aliasesOf(gateway, model),
    ...(spread.length > 1 && {
      targets: spread.map(({ weight, ...target }) => ({
        ...{ provider: target.provider, model: target.model ?? model.id, weight },
      })),
    }),
    fallbacks: fallbacks.map((target) => ({ provider: target.provider, model: target.model ?? model.id })),
    context_window: contextWindowOf(gateway, model) ?? null,
    max_output_tokens: entry.maxOutputTokens ?? null,
    pricing: entry.pricing === undefined ? null : pricingView(entry.pricing),
    status: statusOf(targets),
    limits: limitsView(key),
    policies: key.policies.names,
  };
}

/** As configured, else the smallest that is known of the models that may be asked first. */
function contextWindowOf({ findKnown }: Gateway, { id, entry }: ModelInfo): number | undefined {
  const known = spreadTargets(entry).flatMap(({ model = id }) => findKnown(model)?.contextWindow ?? []);
  return entry.contextWindow ?? (known.length === 0 ? undefined : Math.min(...known));
}

/** The targets among which sessions are spread; one, if there is only one. */
function spreadTargets({ targets }: ModelEntry): readonly ModelTarget[] {
  const shared = targets.filter(({ weight }) => weight !== undefined);
  return shared.length > 0 ? shared : targets.slice(0, 1);
}

/** In the configuration's words: US$ per million tokens. */
function pricingView({ input, output, cacheRead, cacheWrite, longCacheWrite }: Price) {
  return {
    input,
    output,
    cache_read: cacheRead,
    cache_write: cacheWrite,
    cache_write_1h: longCacheWrite ?? cacheWrite,
  };
}

/** What the project and the key may use, in the configuration's words; limits that are only recorded are left out. */
function limitsView({ limits = [] }: KeyRecord) {
  const enforced = limits.filter(({ settings }) => settings.mode === 'enforce');
  return Object.fromEntries(enforced.map(({ kind, settings }) => [kind, amountsOf(settings)]));
}

function amountsOf(settings: KeyLimits['settings']): Partial<Record<LimitName, number>> {
  const set = limitNames.flatMap((name) => {
    const amount = settings[name];
    if (amount === undefined) return [];
    return [[name, limitTable[name].unit === 'nanoUsd' ? amount / nanoUsdPerUsd : amount] as const];
  });
  return Object.fromEntries(set);
}

type BodyForm = 'exact' | 'spliced' | 'translated' | 'estimated';

/** The form of the body at the first target that takes the request; undefined if none does. */
function bodyFormAt(
  targets: readonly Target[],
  model: string,
  endpoint: ModelEndpoint,
): BodyForm | undefined {
  const target = targets.find((each) => dialectAtTarget(each, endpoint) !== undefined);
  if (target === undefined) {
    // If a model can be sent requests of the dialect, the gateway can estimate tokens itself.
    const isCountable = endpoint.kind === 'count' && targets.some((each) => generates(each, endpoint));
    return isCountable ? 'estimated' : undefined;
  }
  if (dialectAtTarget(target, endpoint) !== endpoint.dialectName) return 'translated';
  return target.model === model ? 'exact' : 'spliced';
}

function generates(target: Target, { dialectName, call }: ModelEndpoint): boolean {
  return dialectAtTarget(target, { name: dialectName, dialectName, call }) !== undefined;
}

/** Other configured names of the same model. */
function aliasesOf(gateway: Gateway, { id, entry }: ModelInfo): readonly string[] {
  const placesOf = (one: ModelEntry, name: string) =>
    JSON.stringify(spreadTargets(one).map(({ provider, model = name }) => [provider, model]));
  const own = placesOf(entry, id);
  return gateway.catalogue.entries
    .filter((other) => !other.isPattern && other.match !== id && placesOf(other, other.match) === own)
    .map((other) => other.match);
}

/** Of the targets among which requests are spread, one that is asked is enough. */
function statusOf(targets: readonly Target[]): 'ready' | 'unconfigured' | 'unhealthy' {
  const [first] = targets;
  if (first === undefined) return 'unconfigured';
  const shared = first.share && targets.filter(({ share }) => share?.group === first.share?.group);
  const isOpen = ({ provider, model }: Target) => provider.health.isOpen(model);
  return (shared ?? [first]).every(isOpen) ? 'unhealthy' : 'ready';
}
