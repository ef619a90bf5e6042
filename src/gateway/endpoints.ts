import type { Dialect } from '../dialects/dialect.ts';
import { type DialectName, dialects } from '../dialects/registry.ts';

/** What one path of the gateway is. */
export type Endpoint =
  | ModelEndpoint
  | { readonly kind: 'models' | 'model' | 'discovery'; readonly path: string; readonly method: 'GET' }
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
}

export const countTokensPath = '/v1/messages/count_tokens';

const exchanges = Object.entries(dialects).map(([name, dialect]): ModelEndpoint => {
  const dialectName = name as DialectName; // Object.entries widens the record's key type
  return { kind: 'exchange', path: dialect.path, method: 'POST', name: dialectName, dialectName, dialect };
});

const all: readonly Endpoint[] = [
  ...exchanges,
  {
    kind: 'count',
    path: countTokensPath,
    method: 'POST',
    name: 'count_tokens',
    dialectName: 'messages',
    dialect: dialects.messages,
  },
  { kind: 'models', path: '/v1/models', method: 'GET' },
  { kind: 'discovery', path: '/v1/gateway/models', method: 'GET' },
  { kind: 'health', path: '/healthz', method: 'GET' },
  { kind: 'ready', path: '/readyz', method: 'GET' },
  { kind: 'about', path: '/', method: 'GET' },
  // Claude Code opens its first connection with it.
  { kind: 'about', path: '/api/hello', method: 'GET' },
];

/** Endpoints by exact path; `/v1/models/{id}` is handled in receive.ts. */
export const endpoints: ReadonlyMap<string, Endpoint> = new Map(
  all.map((endpoint) => [endpoint.path, endpoint]),
);

export const modelPrefix = '/v1/models/';
export const modelEndpoint: Endpoint = { kind: 'model', path: modelPrefix, method: 'GET' };

export function isModelEndpoint(endpoint: Endpoint): endpoint is ModelEndpoint {
  return endpoint.method === 'POST';
}
