import { readRunning } from '../../client/address.ts';
import { type Address, urlOf } from '../../http/bind.ts';
import type { CommonOptions } from '../shell/command.ts';
import type { Io } from '../shell/io.ts';
import { checkClaude } from './check-claude.ts';
import { checkCodex } from './check-codex.ts';
import { checkConfiguration } from './check-configuration.ts';
import { checkKeys, checkLogins } from './check-credentials.ts';
import { checkGatewayUrl } from './check-gateway-url.ts';
import { checkGemini } from './check-gemini.ts';
import { checkNode, checkStateDirectory } from './check-machine.ts';
import { checkOpencode } from './check-opencode.ts';
import { checkGateway, checkPorts } from './check-ports.ts';
import { checkPrices } from './check-prices.ts';
import { checkProviders, checkProxies } from './check-providers.ts';
import { checkQwen } from './check-qwen.ts';
import { checkServices } from './check-services.ts';
import { checkLedger, checkRedis } from './check-stores.ts';
import type { Diagnosis } from './finding.ts';

const timeoutSeconds = 10;

/** Runs all checks; those that need a valid configuration are skipped without one. */
export async function examine(
  { config: file, timeout = timeoutSeconds }: CommonOptions,
  io: Io,
): Promise<readonly Diagnosis[]> {
  const timeoutMs = timeout * 1_000;
  const checked = await checkConfiguration(file, io);
  const { findings, config } = checked;
  const [gateway, named, proxies, providers, services, redis, ledger] = await Promise.all([
    checkGateway(checked, io),
    checkGatewayUrl(io, timeoutMs),
    checkProxies(io, timeoutMs),
    config === undefined ? [] : checkProviders(config, timeoutMs),
    config === undefined ? [] : checkServices(config, timeoutMs),
    config === undefined ? [] : checkRedis(config, timeoutMs),
    config === undefined ? [] : checkLedger(config, checked.path, io),
  ]);
  const url = gateway.running?.url ?? readRunning(io.env)?.url ?? addressOf(config);
  return [
    ...findings,
    checkNode(),
    ...checkStateDirectory(io),
    ...(config === undefined ? [] : checkKeys(config, io, Date.now())),
    ...gateway.findings,
    ...named,
    ...(config === undefined ? [] : await checkPorts(config, gateway.running)),
    ...proxies,
    ...providers,
    ...services,
    ...(config === undefined || config.isSandboxMode ? [] : checkPrices(config, Date.now())),
    ...redis,
    ...ledger,
    ...(config === undefined ? [] : checkLogins(config, io)),
    ...checkClaude(io, url),
    ...checkCodex(io, url),
    ...checkOpencode(io, url),
    ...checkGemini(io),
    ...checkQwen(io),
  ];
}

/** Where the gateway would be. */
function addressOf(config: { readonly server: Address } | undefined): string | undefined {
  return config === undefined ? undefined : urlOf(config.server);
}
