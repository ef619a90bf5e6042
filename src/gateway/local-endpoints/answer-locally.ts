import type { ListedModel } from '../../dialects/dialect.ts';
import { GatewayError } from '../../errors.ts';
import { kinds } from '../../json/json-document.ts';
import { version } from '../../version.ts';
import { authenticate, type GatewayKey } from '../authenticate.ts';
import { endpoints, type ModelEndpoint, modelListFor } from '../endpoints.ts';
import type { Exchange } from '../exchange.ts';
import type { Gateway } from '../gateway.ts';
import type { Received } from '../receive.ts';
import type { ModelRequest } from '../request.ts';
import { answerHealth, answerReady } from './health.ts';
import { contextWindowOf, describeModel, listEntry, mayUse, page, reachView } from './model-views.ts';
import type { ModelInfo } from './models.ts';

// English prose and code average about four bytes per token; good enough for a client's context gauge.
const bytesPerToken = 4;

/** Estimates tokens for providers that can't count them; marked as an estimate, so that nobody bills by it. */
export function sendEstimate(exchange: Exchange, { document }: ModelRequest, { call }: ModelEndpoint): void {
  let bytes = 0;
  for (let entry = 0; entry < document.count; entry += 1) {
    if (document.kind(entry) === kinds.string) bytes += document.end(entry) - document.start(entry);
  }
  const tokens = Math.max(1, Math.ceil(bytes / bytesPerToken));
  exchange.sendJson(call.countAnswer?.(tokens), { headers: { 'x-gateway-estimate': 'true' } });
}

/** Answers the requests that need no provider: health, what this is, and the models that a key may use. */
export async function answerLocally(exchange: Exchange, gateway: Gateway, target: Received): Promise<void> {
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
  { endpoint, pathModel = '', query }: Received,
): Promise<void> {
  const key = authenticate(exchange, gateway);
  exchange.draft.noteCaller(endpoint.kind, key);
  const list = modelListFor(endpoint, exchange.request);
  if (endpoint.kind === 'model') {
    const model = allowedModel(pathModel, gateway, key);
    return exchange.sendJson(
      list?.entry(toListed(model)) ?? { ...listEntry(model), ...reachView(gateway, model) },
    );
  }
  const models = (await gateway.catalogue.list()).filter((model) => mayUse(gateway, key, model));
  if (list !== undefined) {
    return exchange.sendJson(list.list(models.map((model) => list.entry(toListed(model)))));
  }
  const value =
    endpoint.kind === 'models'
      ? page(models.map(listEntry), new URLSearchParams(query))
      : { object: 'list', data: models.map((model) => describeModel(gateway, key, model)) };
  exchange.sendJson(value);
}

function toListed(model: ModelInfo): ListedModel {
  return {
    id: model.id,
    contextWindow: contextWindowOf(model),
    maxOutputTokens: model.entry.maxOutputTokens,
  };
}

function allowedModel(name: string, gateway: Gateway, key: GatewayKey): ModelInfo {
  const model = gateway.catalogue.find(name);
  if (model !== undefined && mayUse(gateway, key, model)) return model;
  throw new GatewayError(
    'model.unknown',
    'there is no such model for this key; GET /v1/models lists the available ones',
  );
}
