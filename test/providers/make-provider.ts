import { Provider, type ProviderOptions } from '../../src/providers/provider.ts';
import type { Target } from '../../src/providers/route.ts';

export type Overrides = Partial<Omit<ProviderOptions, 'timeouts'>> & {
  readonly timeouts?: Partial<ProviderOptions['timeouts']>;
};

/** A provider of the chat dialect with limits that a test has not to wait for. */
export function makeProvider(baseUrl: string, { timeouts, ...rest }: Overrides = {}): Provider {
  return new Provider({
    name: 'host',
    dialect: 'openai',
    baseUrl,
    credentials: 'api_key',
    endpoints: new Set(['chat']),
    forwardHeaders: new Set(),
    timeouts: {
      connectMs: 5_000,
      headersMs: 20_000,
      idleMs: 20_000,
      totalMs: 20_000,
      queueMs: 20_000,
      ...timeouts,
    },
    connections: 8,
    retries: { attempts: 2, budget: 0.2 },
    breaker: { failures: 1_000, openMs: 30_000 },
    ...rest,
  });
}

const entry = { match: 'm', isPattern: false, targets: [{ provider: 'host' }] } as const;

export function target(provider: Provider, model = 'm'): Target {
  return { provider, model, entry, choice: entry.targets[0] };
}
