import { gatewayAddress, readRunning } from '../../client/address.ts';
import type { CommonOptions } from './command.ts';
import type { Io } from './io.ts';
import { loadUserConfig } from './load-config.ts';
import { noteOtherConfiguration } from './running-configuration.ts';

/** The gateway that a command uses: that of the --config file, else of the environment, else the running one. */
export async function gatewayTarget(options: Pick<CommonOptions, 'config' | 'quiet'>, io: Io) {
  // If both variables are set, the address is more specific.
  const file = options.config ?? (io.env.GATEWAY_URL ? undefined : io.env.GATEWAY_CONFIG || undefined);
  // Loaded only if requested: reading a configuration takes longer than sending a prompt.
  const url = file === undefined ? undefined : await addressIn(file, io);
  if (url === undefined || url === readRunning(io.env)?.url) {
    await noteOtherConfiguration(options, 'to change that: gateway stop, then gateway serve', io);
  }
  return gatewayAddress(io.env, url);
}

async function addressIn(file: string, io: Io): Promise<string> {
  const { host, port } = (await loadUserConfig({ config: file }, io)).config.server;
  const name = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`;
}
