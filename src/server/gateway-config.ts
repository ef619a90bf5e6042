import type { ProviderConfig } from '../config/build/providers.ts';
import type { Config } from '../config/config.ts';
import type { GatewayConfig } from '../gateway/gateway.ts';
import type { ProviderOptions } from '../providers/provider.ts';

/** What the proxy needs of a configuration, with the address at which the sandbox listens in this process. */
export function gatewayConfig(
  config: Config,
  sandboxUrl: string | undefined,
  keys: Pick<Config['keys'], 'find'> = config.keys,
): GatewayConfig {
  return {
    hash: config.hash,
    allowedHosts: config.server.allowedHosts,
    allowedOrigins: config.server.allowedOrigins,
    bodyLimits: config.server.limits,
    bodiesInFlightBytes: config.server.limits.bodiesInFlightBytes,
    keys,
    providers: [...config.providers.values()].flatMap(
      (provider) => providerOptions(provider, sandboxUrl) ?? [],
    ),
    models: config.models,
    findModel: config.findModel,
    secrets: config.secrets,
    policySource: config.policySource,
    recordsBodies: config.records.bodies,
  };
}

/** The options of a provider's client; undefined if something it needs is missing. */
export function providerOptions(
  provider: ProviderConfig,
  sandboxUrl: string | undefined,
): ProviderOptions | undefined {
  const baseUrl = provider.dialect === 'sandbox' ? sandboxUrl : provider.baseUrl;
  if (!provider.isConfigured || baseUrl === undefined) return undefined;
  return { ...provider, baseUrl };
}
