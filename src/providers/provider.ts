import { isDeepStrictEqual } from 'node:util';
import type { ProviderConfig } from '../config/build/providers.ts';
import { memoize } from '../memoize.ts';
import type { TickQueue } from '../tick-queue.ts';
import { Admission } from './admission.ts';
import { type BreakerChannel, Health } from './health.ts';
import { type Host, hostOf, type ProviderFamily, reportsStreamUsage } from './host.ts';
import { RetryBudget } from './retry.ts';
import { Pool } from './transport/pool.ts';

/** A provider that has all that it needs, with the address of its host. */
export type ProviderOptions = Omit<ProviderConfig, 'baseUrl' | 'isConfigured' | 'disabledBecause'> & {
  readonly baseUrl: string;
};

interface ProviderSurroundings {
  /** Called when a breaker opens or closes here. */
  readonly onBreaker?: BreakerChannel['publish'] | undefined;
  readonly ticks?: TickQueue;
  /** The provider of this name in the configuration before; if its options are the same, its health is still true. */
  readonly previous?: Provider | undefined;
}

/** A configured provider with its state: connections, queue, health. */
export class Provider {
  readonly options: ProviderOptions;
  readonly pool: Pool;
  readonly admission: Admission;
  readonly health: Health;
  readonly retryBudget: RetryBudget;
  /** Header names and values that every request to it gets. */
  readonly ownHeaders: readonly string[];
  /** Which vendor's behaviour it has, if hosts of one family differ. */
  /** Whether its chat streams are known to report their usage if they are asked to. */
  readonly reportsStreamUsage: boolean;
  readonly host: Host;
  /** The request target at this host for one of the gateway's own paths (`/v1/…`). */
  readonly pathFor: (gatewayPath: string) => string;

  constructor(options: ProviderOptions, { onBreaker, ticks, previous }: ProviderSurroundings = {}) {
    const url = new URL(options.baseUrl);
    this.options = options;
    this.pool = new Pool(url.origin, { ...options, ...(ticks === undefined ? {} : { ticks }) });
    this.admission = new Admission(options.connections, options.timeouts.queueMs);
    // Different settings may be what makes it work again.
    const known = isDeepStrictEqual(options, previous?.options) ? previous?.health : undefined;
    // The sandbox fails on request, which says nothing about its health.
    this.health =
      known ??
      new Health(options.breaker, {
        trustsAnswers: options.dialect === 'sandbox',
        onChange: (change) => onBreaker?.({ ...change, provider: this.breakerName }),
      });
    this.retryBudget = new RetryBudget(options.retries);
    this.ownHeaders = credentials(options);
    this.host = hostOf(options.dialect, url.hostname);
    this.reportsStreamUsage = reportsStreamUsage(url.hostname);
    const base = basePath(url.pathname, options.dialect);
    this.pathFor = memoize((gatewayPath) => base + gatewayPath.replace(/^\/v1(?:beta)?/, ''));
  }

  /** Whether its requests carry the client's own login, on whose account they are. */
  get takesLogin(): boolean {
    return this.options.credentials === 'client';
  }

  /** Identifies it to other processes. */
  get breakerName(): string {
    return `${this.options.name} ${this.options.baseUrl}`;
  }

  /** Ends idle connections; those in use end with their exchanges. */
  close(): void {
    this.pool.close();
  }
}

function credentials({ dialect, apiKey }: ProviderOptions): readonly string[] {
  if (apiKey === undefined) return [];
  if (dialect === 'anthropic') return ['x-api-key', apiKey];
  return dialect === 'gemini' ? ['x-goog-api-key', apiKey] : ['authorization', `Bearer ${apiKey}`];
}

/** OpenAI-style base URLs include the version, Anthropic's and Google's don't; one that does anyway is accepted. */
function basePath(pathname: string, family: ProviderFamily): string {
  const path = pathname.replace(/\/+$/, '');
  if (family === 'openai' || /\/v1(?:beta)?$/.test(path)) return path;
  return family === 'gemini' ? `${path}/v1beta` : `${path}/v1`;
}
