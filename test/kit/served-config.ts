import type { Config } from '../../src/config/config.ts';
import type { GatewayConfig } from '../../src/gateway/gateway.ts';
import { type GatewayServer, serveGateway } from '../../src/gateway/serve.ts';
import { defaultListenLimits } from '../../src/http/listen.ts';
import { gatewayConfig } from '../../src/server/gateway-config.ts';
import { configFrom } from './gateway.ts';
import { stopAtEnd } from './started.ts';

/** What this text makes with one project, which has the key `secrets.PROJECT_KEY`. */
export function configOf(yaml: string): Promise<Config> {
  return configFrom(`${yaml}\nprojects: { shop: { keys: [{ id: web, value: "\${PROJECT_KEY}" }] } }\n`);
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
