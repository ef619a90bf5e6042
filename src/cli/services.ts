import type { Config } from '../config/config.ts';
import { GatewayError } from '../errors.ts';
import { serveGateway } from '../gateway/serve.ts';
import { startSandbox } from '../providers/sandbox/sandbox.ts';
import type { WriteRecord } from '../record/record.ts';
import { gatewayConfig } from './gateway-config.ts';
import { portHolder } from './port-holder.ts';

/** The plant store beside the gateway, or why it did not start. */
export type PlantsService =
  | { readonly url: string; readonly demoPassword?: string | undefined }
  | { readonly problem: string };

export interface Services {
  /** Where the gateway listens. */
  readonly url: string;
  readonly plants: PlantsService | undefined;
  /** New exchanges follow this configuration; what was bound at the start (addresses, the store) stays. */
  apply(config: Config): Promise<void>;
  /** Drains the gateway, then ends what it needed. */
  stop(): Promise<void>;
}

interface ServicesOptions {
  readonly config: Config;
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  readonly record: WriteRecord;
  /** Without it no plant store is started. */
  readonly store?: {
    readonly defaultDatabase: string;
    readonly log: (record: object) => void;
    /** Whether a new store gets a user `demo`, whose password somebody must then be shown. */
    readonly demoUser: boolean;
  };
}

/** Starts everything that a configuration asks for. Throws port.busy with the holder; nothing is left running then. */
export async function startServices(options: ServicesOptions): Promise<Services> {
  const { config, host, port, record } = options;
  const stopping: (() => Promise<void>)[] = [];
  const stop = async () => {
    for (const step of stopping.splice(0).toReversed()) await step();
  };
  let sandboxUrl: string | undefined;
  const prepare = async (next: Config) => {
    const usesSandbox = [...next.providers.values()].some((provider) => provider.dialect === 'sandbox');
    if (usesSandbox && sandboxUrl === undefined) {
      const sandbox = await startSandbox();
      sandboxUrl = sandbox.url;
      stopping.unshift(() => sandbox.close());
    }
    return gatewayConfig(next, sandboxUrl);
  };

  try {
    const prepared = await prepare(config);
    const server = await serveGateway({ host, port, limits: config.server.limits, config: prepared, record });
    stopping.push(() => server.drain());
    const plants = await startPlants(options, stopping);
    return { url: server.url, plants, apply: async (next) => server.apply(await prepare(next)), stop };
  } catch (error) {
    await stop();
    throw withHolder(error, port, config.plants.store.port);
  }
}

/** A sample service must not keep the gateway from starting because another one has its port. */
async function startPlants(
  { config, store }: ServicesOptions,
  stopping: (() => Promise<void>)[],
): Promise<PlantsService | undefined> {
  const { enabled, host, port, database } = config.plants.store;
  if (store === undefined || !enabled) return undefined;
  const { startStore } = await import('../plants/store.ts');
  try {
    const started = await startStore({
      host,
      port,
      database: database ?? store.defaultDatabase,
      allowedHosts: [...config.server.allowedHosts],
      log: store.log,
      demoUser: store.demoUser,
    });
    stopping.push(() => started.drain());
    return { url: started.url, demoPassword: started.demoPassword };
  } catch (error) {
    if (!(error instanceof GatewayError) || error.code !== 'port.busy') throw error;
    return { problem: `not started: port ${port} is taken${takenBy(port)}` };
  }
}

function withHolder(error: unknown, port: number, storePort: number): unknown {
  if (!(error instanceof GatewayError) || error.code !== 'port.busy') return error;
  const free = nextFree(port, storePort);
  const advice = free === undefined ? '' : `; try "gateway serve -p ${free}"`;
  return new GatewayError('port.busy', `port ${port} is taken${takenBy(port)}${advice}`, { cause: error });
}

/** The next port that is not held and not the store's: right behind the gateway's is where the store listens. */
function nextFree(port: number, storePort: number): number | undefined {
  for (let next = port + 1; next <= Math.min(port + 20, 65_535); next += 1) {
    if (next !== storePort && portHolder(next) === undefined) return next;
  }
  return undefined;
}

function takenBy(port: number): string {
  const holder = portHolder(port);
  return holder === undefined ? '' : ` by ${holder}`;
}
