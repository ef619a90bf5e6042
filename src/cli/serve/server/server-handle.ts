import type { Config } from '../../../config/config.ts';
import { serveGateway } from '../../../gateway/serve.ts';
import type { WriteRecord } from '../../../record/record.ts';
import { gatewayConfig } from './gateway-config.ts';
import { letHeapGrow } from './heap.ts';

/** Whatever answers at the gateway's address: this process, or several that share the port. */
export interface Front {
  readonly url: string;
  /** Ids of the processes that answer, where they are others than this one. */
  readonly workers?: readonly number[];
  /** New exchanges follow this configuration; throws, and changes nothing, where it can't be followed. */
  apply(config: Config, sandboxUrl: string | undefined): void | Promise<void>;
  drain(): Promise<void>;
}

interface FrontOptions {
  readonly config: Config;
  /** Where the sandbox listens, if it was started. */
  readonly sandboxUrl: string | undefined;
  readonly host: string;
  readonly port: number;
  readonly record: WriteRecord;
}

/** Serves from this process. Throws port.busy and what an unusable address throws. */
export async function serveHere(options: FrontOptions): Promise<Front> {
  const { config, sandboxUrl, host, port, record } = options;
  letHeapGrow();
  const server = await serveGateway({
    host,
    port,
    limits: config.server.limits,
    config: gatewayConfig(config, sandboxUrl),
    record,
  });
  return {
    url: server.url,
    apply: (next, url) => server.apply(gatewayConfig(next, url)),
    drain: () => server.drain(),
  };
}
