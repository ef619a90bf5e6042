import { type ProviderConfig, withEachKey } from '../config/build/providers.ts';
import type { Config } from '../config/config.ts';
import type { GatewayConfig } from '../gateway/gateway.ts';
import { hostsAt } from '../http/check-origin.ts';
import { knownModelFinder } from '../limits/known-models.ts';
import type { ProviderOptions } from '../providers/provider.ts';
import { inMebibytes, memoryShare } from './memory-share.ts';

interface Process {
  /** Where it listens. */
  readonly host?: string;
  readonly keys?: Pick<Config['keys'], 'find'> | undefined;
  /** How many processes have a share each of what applies to all of them together. */
  readonly workers?: number;
}

/** What the proxy needs of a configuration, with the address at which the sandbox listens in this process. */
export function gatewayConfig(
  config: Config,
  sandboxUrl: string | undefined,
  { host = config.server.host, keys = config.keys, workers = 1 }: Process = {},
): GatewayConfig {
  const { limits } = config.server;
  const memory = memoryShare(workers);
  // Half of it must be room enough for the largest body.
  const bodyBytes = Math.min(limits.bodyBytes, memory.bodiesBytes / 2);
  const bodiesBytes = Math.max(shareForWorker(limits.bodiesInFlightBytes, workers), 2 * limits.bodyBytes);
  const setBy = (setting: string, isSmaller: boolean) =>
    isSmaller
      ? `as there are ${inMebibytes(memory.totalBytes)} of memory; with more the setting holds, ${setting}`
      : setting;
  return {
    hash: config.hash,
    ...hostsAt(host, config.server.allowedHosts),
    allowedOrigins: config.server.allowedOrigins,
    bodyLimits: {
      ...limits,
      bodyBytes,
      setBy: setBy('server.limits.body_size', bodyBytes < limits.bodyBytes),
    },
    bodiesInFlight: {
      bytes: Math.min(bodiesBytes, memory.bodiesBytes),
      setBy: setBy('server.limits.bodies_in_flight', memory.bodiesBytes < bodiesBytes),
    },
    decisionThreads: memory.decisionThreads,
    keys,
    policySets: () => [...config.keys.records()].map(({ policies }) => policies),
    providers: [...config.providers.values()].flatMap((provider) => {
      const connections = shareForWorker(provider.connections, workers);
      return providerOptions({ ...provider, connections }, sandboxUrl);
    }),
    models: config.models,
    findModel: config.findModel,
    findKnown: knownModelFinder(config.source.modelTable),
    defaultModel: config.defaultModel,
    secrets: config.secrets,
    policySource: config.policySource,
    recordsBodies: config.records.bodies,
  };
}

/** A process's share of a limit that applies to all together. */
export function shareForWorker(limit: number, workers: number): number {
  return Math.max(1, Math.floor(limit / workers));
}

/** The options of a provider's clients, one for each of its keys; none if something it needs is missing. */
export function providerOptions(
  provider: ProviderConfig,
  sandboxUrl: string | undefined,
): readonly ProviderOptions[] {
  const baseUrl = provider.dialect === 'sandbox' ? sandboxUrl : provider.baseUrl;
  if (!provider.isConfigured || baseUrl === undefined) return [];
  return withEachKey(provider).map((each) => ({ ...each, baseUrl }));
}
