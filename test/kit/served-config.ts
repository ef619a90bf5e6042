import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../../src/config/config.ts';
import { loadConfig } from '../../src/config/load.ts';
import type { GatewayConfig } from '../../src/gateway/gateway.ts';
import { type GatewayServer, serveGateway } from '../../src/gateway/serve.ts';
import { defaultListenLimits } from '../../src/http/listen.ts';
import { gatewayConfig } from '../../src/server/gateway-config.ts';
import { secrets } from './gateway.ts';
import { emptyDirectory } from './own-configuration.ts';
import { stopAtEnd } from './started.ts';

/** What a configuration file with this text makes; its one project has the key `secrets.PROJECT_KEY`. */
export async function configOf(yaml: string): Promise<Config> {
  const directory = emptyDirectory();
  const file = join(directory, 'gateway.yaml');
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the variable is read by the configuration
  const projects = 'projects: { shop: { keys: [{ id: web, value: "${PROJECT_KEY}" }] } }';
  writeFileSync(file, `${yaml}\n${projects}\n`, { mode: 0o600 });
  return (await loadConfig({ file, cwd: directory, env: secrets, nowMs: Date.now() })).config;
}

/** The same as the proxy takes it. */
export async function gatewayConfigOf(yaml: string): Promise<GatewayConfig> {
  return gatewayConfig(await configOf(yaml), undefined);
}

type Options = Partial<Parameters<typeof serveGateway>[0]> & { readonly drainMs?: number };

/** The proxy alone, without the services around it; it is drained at the end of the file. */
export async function serveConfig(
  config: GatewayConfig,
  { drainMs = 2_000, ...more }: Options = {},
): Promise<GatewayServer> {
  const server = await serveGateway({
    ...{ host: '127.0.0.1', port: 0, record: () => undefined, ...more },
    limits: { ...defaultListenLimits, drainMs },
    config,
  });
  stopAtEnd(() => server.drain());
  return server;
}
