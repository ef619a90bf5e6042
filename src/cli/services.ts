import type { Config } from '../config/config.ts';
import { GatewayError } from '../errors.ts';
import { serveGateway } from '../gateway/serve.ts';
import { startSandbox } from '../providers/sandbox/sandbox.ts';
import type { WriteRecord } from '../record/record.ts';
import { gatewayConfig } from './gateway-config.ts';
import { portHolder } from './port-holder.ts';

export interface Services {
  /** Where the gateway listens. */
  readonly url: string;
  /** Drains the gateway, then ends what it needed. */
  stop(): Promise<void>;
}

interface ServicesOptions {
  readonly config: Config;
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  readonly record: WriteRecord;
}

/** Starts everything that a configuration asks for. Throws port.busy with the holder; nothing is left running then. */
export async function startServices({ config, host, port, record }: ServicesOptions): Promise<Services> {
  const usesSandbox = [...config.providers.values()].some((provider) => provider.dialect === 'sandbox');
  const sandbox = usesSandbox ? await startSandbox() : undefined;
  try {
    const server = await serveGateway({
      host,
      port,
      limits: config.server.limits,
      config: gatewayConfig(config, sandbox?.url),
      record,
    });
    return {
      url: server.url,
      stop: async () => {
        await server.drain();
        await sandbox?.close();
      },
    };
  } catch (error) {
    await sandbox?.close();
    throw withHolder(error, port);
  }
}

function withHolder(error: unknown, port: number): unknown {
  if (!(error instanceof GatewayError) || error.code !== 'port.busy') return error;
  const holder = portHolder(port);
  const by = holder === undefined ? '' : ` by ${holder}`;
  const message = `port ${port} is taken${by}; try "gateway serve -p ${port + 1}"`;
  return new GatewayError('port.busy', message, { cause: error });
}
