import { isDeepStrictEqual } from 'node:util';
import type { ProviderConfig } from '../config/build/providers.ts';
import { sealOrigin } from '../dialects/translation/seals.ts';
import { isCloud, regionOf } from '../hosts/clouds.ts';
import { findHost, type Host, traitsOf } from '../hosts/find-host.ts';
import type { HostTraits } from '../hosts/traits.ts';
import { isLoopbackHost } from '../lib/loopback.ts';
import { memoize } from '../lib/memoize.ts';
import type { TickQueue } from '../lib/tick-queue.ts';
import { Admission } from './admission.ts';
import {
  azureDeployments,
  bedrock,
  type CloudApi,
  type CloudRequest,
  type Envelope,
  vertex,
} from './clouds/clouds.ts';
import type { Authorizer } from './credentials/authorizer.ts';
import { createAuthorizer } from './credentials/registry.ts';
import { type BreakerChannel, Health } from './health.ts';
import { RetryBudget } from './retry.ts';
import { Pool } from './transport/pool.ts';

/** A provider that has all that it needs, with one key at most, and the address of its host. */
export type ProviderOptions = Omit<
  ProviderConfig,
  'baseUrl' | 'keys' | 'isConfigured' | 'disabledBecause'
> & {
  readonly baseUrl: string;
};

interface ProviderSurroundings {
  /** Called when a breaker opens or closes here. */
  readonly onBreaker?: BreakerChannel['publish'] | undefined;
  /** Called when its host refuses its key, and it is left alone for a while. */
  readonly onRefusedKey?: ((provider: Provider) => void) | undefined;
  readonly ticks?: TickQueue;
  /** The provider of this name and key in the configuration before; if its options are the same, its health is still true. */
  readonly previous?: Provider | undefined;
}

/** Whether what it serves costs what its vendor says of all the world, of one region, or something else. */
type PriceScope = 'global' | 'regional' | 'unlisted';

/** A configured provider with its state: connections, queue, health. */
export class Provider {
  readonly options: ProviderOptions;
  readonly pool: Pool;
  readonly admission: Admission;
  readonly health: Health;
  readonly retryBudget: RetryBudget;
  /** Header names and values that every request to it gets. */
  readonly ownHeaders: readonly string[];
  /** Adds what authorizes each request, if that isn't a key. */
  readonly authorizer: Authorizer | undefined;
  readonly host: Host;
  /** What its host takes for a model: asked several times for each request. */
  readonly traitsFor: (model: string) => HostTraits;
  /** Names it in what is sealed of its answers. */
  readonly sealOrigin: string;
  readonly priceScope: PriceScope;
  /** Whether it is on this machine, where a model costs nothing that anybody bills. */
  readonly isLocal: boolean;
  readonly #onRefusedKey: ((provider: Provider) => void) | undefined;
  readonly #basePath: string;
  /** Undefined for hosts with the paths of their dialects. */
  readonly #cloud: CloudApi | undefined;

  constructor(
    options: ProviderOptions,
    { onBreaker, onRefusedKey, ticks, previous }: ProviderSurroundings = {},
  ) {
    const url = new URL(options.baseUrl);
    this.options = options;
    this.pool = new Pool(url.origin, { ...options, ...(ticks === undefined ? {} : { ticks }) });
    this.admission = new Admission(options.connections, options.timeouts.queueMs);
    // Different settings may be what makes it work again.
    const same = isDeepStrictEqual(options, previous?.options) ? previous : undefined;
    // The sandbox fails on request, which says nothing about its health.
    this.health =
      same?.health ??
      new Health(options.breaker, {
        trustsAnswers: options.dialect === 'sandbox',
        onChange: (change) => onBreaker?.({ ...change, provider: this.breakerName }),
      });
    this.retryBudget = new RetryBudget(options.retries);
    this.ownHeaders = keyHeaders(options);
    this.authorizer = same?.authorizer ?? authorizerFor(options, url);
    const host = findHost({ ...options, url });
    this.host = host;
    this.traitsFor = memoize((targetModel) => traitsOf({ host, targetModel }));
    this.#onRefusedKey = onRefusedKey;
    this.sealOrigin = sealOrigin(options);
    this.#basePath = basePath(url.pathname, options.dialect);
    this.#cloud = cloudFor(options);
    this.priceScope = priceScopeOf(options);
    this.isLocal = isLoopbackHost(url.hostname);
  }

  /** The request target at this host for a call. Throws request.field for a model that can't stand in its path. */
  pathFor(call: CloudRequest): string {
    if (this.options.dialect === 'sandbox') return this.#basePath + call.path;
    return this.#basePath + (this.#cloud?.pathFor(call) ?? withoutVersion(call.path));
  }

  /** What its bodies hold besides those of the dialect. */
  envelopeFor(call: Pick<CloudRequest, 'path'>): Envelope | undefined {
    const envelope = this.#cloud?.envelopeFor?.(call);
    if (envelope === undefined || !this.options.forwardHeaders.has('anthropic-beta')) return envelope;
    return { ...envelope, betas: undefined }; // whoever asks for the header to be forwarded knows what the host takes
  }

  /** Whether it has a list of models at the dialect's path. */
  get listsModels(): boolean {
    return this.#cloud?.envelopeFor === undefined;
  }

  /** Whether its requests carry the client's own login, on whose account they are. */
  get takesLogin(): boolean {
    return this.options.credentials === 'client';
  }

  get label(): string {
    return labelOf(this.options);
  }

  /** Identifies it to other processes. */
  get breakerName(): string {
    return `${this.label} ${this.options.baseUrl}`;
  }

  /** Its host has refused its key: it rests, if there are others to ask. */
  keyRefused(nowMs: number): void {
    const isNew = this.health.restMs('', nowMs) === 0;
    this.health.rest(undefined, nowMs, refusedKeyMs);
    if (isNew) this.#onRefusedKey?.(this); // and not for each request that was on its way
  }

  /** Ends idle connections; those in use end with their exchanges. */
  close(): void {
    this.pool.close();
  }
}

const withoutVersion = memoize((path) => path.replace(/^\/v1(?:beta)?/, ''));

/** How messages and metrics name a provider, with the key's name if it is one of several. */
export function labelOf({ name, keyName }: Pick<ProviderOptions, 'name' | 'keyName'>): string {
  return keyName === undefined ? name : `${name}/${keyName}`;
}

/** How long a key is not used after its host has refused it. */
export const refusedKeyMs = 5 * 60_000;

function keyHeaders({ dialect, apiKey, credentials }: ProviderOptions): readonly string[] {
  if (apiKey === undefined) return [];
  if (dialect === 'anthropic' && credentials !== 'aws') return ['x-api-key', apiKey];
  if (dialect === 'gemini') return ['x-goog-api-key', apiKey];
  return credentials === 'azure' ? ['api-key', apiKey] : ['authorization', `Bearer ${apiKey}`];
}

function authorizerFor(options: ProviderOptions, url: URL): Authorizer | undefined {
  const { name, credentials, apiKey, region } = options;
  if (apiKey !== undefined || !isCloud(credentials)) return undefined;
  return createAuthorizer(credentials, { name, url, region });
}

function priceScopeOf({ dialect, baseUrl, region = regionOf(baseUrl) }: ProviderOptions): PriceScope {
  if (dialect === 'vertex') return baseUrl.endsWith('/locations/global') ? 'global' : 'regional';
  // OpenAI's endpoints of a region: eu.api.openai.com.
  if (/^https:\/\/[a-z]+\.api\.openai\.com(?:[:/]|$)/.test(baseUrl)) return 'regional';
  // AWS' partitions for governments and in China have prices of their own.
  return region !== undefined && /^(?:us-gov|us-iso|cn)/.test(region) ? 'unlisted' : 'global';
}

function cloudFor({ dialect, api_version: version }: ProviderOptions): CloudApi | undefined {
  if (version !== undefined) return azureDeployments(version);
  if (dialect === 'bedrock') return bedrock;
  return dialect === 'vertex' ? vertex : undefined;
}

/** Anthropic's base URLs don't include the version, nor do Google's; one that does anyway is accepted, as is Vertex'. */
function basePath(pathname: string, family: ProviderConfig['dialect']): string {
  const path = pathname.replace(/\/+$/, '');
  // It has all dialects, each under its own version.
  if (family === 'sandbox') return path.replace(/\/v1$/, '');
  const hasVersion = family === 'openai' || family === 'bedrock' || family === 'vertex';
  if (hasVersion || /\/v1(?:beta)?$|\/publishers\/[^/]+$/.test(path)) return path;
  return family === 'gemini' ? `${path}/v1beta` : `${path}/v1`;
}
