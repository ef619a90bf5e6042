import { gatewayAddress } from '../../client/address.ts';
import type { CommonOptions } from './command.ts';
import type { Io } from './io.ts';
import { loadUserConfig } from './load-config.ts';

/** The gateway that a command uses: that of the --config file, else of the environment, else the running one. */
export async function gatewayTarget(options: Pick<CommonOptions, 'config'>, io: Io) {
  // If both variables are set, the address is more specific.
  const file = options.config ?? (io.env.GATEWAY_URL ? undefined : io.env.GATEWAY_CONFIG || undefined);
  if (file === undefined) return gatewayAddress(io.env);
  // Loaded only if requested: reading a configuration takes longer than sending a prompt.
  const { config } = await loadUserConfig({ config: file }, io);
  const { host, port } = config.server;
  const name = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return gatewayAddress(io.env, `http://${name.includes(':') ? `[${name}]` : name}:${port}`);
}
