import type { Config } from '../config/config.ts';
import { GatewayError, toGatewayError } from '../errors.ts';
import type { PreparedConfig } from '../gateway/active-config.ts';
import type { Listener } from '../http/listen.ts';
import type { MetricData } from '../record/metrics/families.ts';
import { portHolder } from './port-holder.ts';
import { type ServerHandle, type ServerOptions, serveHere } from './server-handle.ts';
import type { WorkersOptions } from './workers/start-workers.ts';

/** The gateway's plant store, or why it did not start. */
export type PlantsService =
  | { readonly url: string; readonly demoPassword?: string | undefined }
  | { readonly problem: string };

export type Services = Awaited<ReturnType<typeof startServices>>;

interface ServicesOptions extends Omit<ServerOptions, 'sandboxUrl' | 'log'> {
  readonly log?: ServerOptions['log'];
  /** Without it this process serves alone. */
  readonly workers?: WorkersOptions | undefined;
  /** Without it no plant store is started. */
  readonly store?:
    | undefined
    | {
        /** Overrides the configured one. */
        readonly port?: number | undefined;
        readonly defaultDatabase: string;
        readonly log: (record: object) => void;
        readonly env: Readonly<Record<string, string | undefined>>;
        /** Whether a new store gets a user `demo`, whose password must then be shown to somebody. */
        readonly demoUser: boolean;
      };
}

/** Starts everything that a configuration asks for. Throws port.busy with the holder; nothing is left running then. */
export async function startServices(options: ServicesOptions) {
  const { config, port } = options;
  const stopping: (() => Promise<void>)[] = [];
  const stop = async () => {
    const failed: unknown[] = [];
    // One by one, because a reload in progress may still add the sandbox's.
    for (let step = stopping.pop(); step !== undefined; step = stopping.pop()) {
      await step().catch((error) => failed.push(error));
    }
    if (failed.length > 0) throw failed[0];
  };
  let serve: (server: ServerHandle) => void = () => undefined;
  const serving = new Promise<ServerHandle>((resolve) => {
    serve = resolve;
  });
  let sandboxUrl: string | undefined;
  const prepareSandbox = async (next: Config) => {
    const usesSandbox = [...next.providers.values()].some((provider) => provider.dialect === 'sandbox');
    if (usesSandbox && sandboxUrl === undefined) {
      const { startSandbox } = await import('../sandbox/sandbox.ts');
      const sandbox = await startSandbox();
      sandboxUrl = sandbox.url;
      stopping.unshift(() => sandbox.close());
    }
    return sandboxUrl;
  };

  try {
    // First, so that it can still be read while the gateway drains; a scrape before it serves waits until it does.
    const metrics = await startMetrics(config, async () => (await serving).readMetrics());
    if (metrics !== undefined) stopping.push(() => metrics.drain());
    const started = await startServer(options, await prepareSandbox(config)).catch((error) => {
      throw withHolder(error, port, options.store?.port ?? config.plants.store.port);
    });
    serve(started);
    stopping.push(() => started.drain());
    const plants = await startPlants(options, stopping);
    return {
      /** Where this machine reaches the gateway. */
      url: started.url,
      /** Where it listens. */
      host: options.host,
      /** Process ids of the workers, if there are any. */
      workers: started.workers,
      plants,
      /** Where Prometheus reads metrics. */
      metricsUrl: metrics?.url,
      /**
       * Prepares everything to apply a configuration; what was bound at start-up (addresses, the store) stays. Throws, and
       * changes nothing, if it can't be applied.
       */
      prepare: async (next: Config): Promise<PreparedConfig> =>
        started.prepare(next, await prepareSandbox(next)),
      announce: started.announce,
      countOpen: started.countOpen,
      settleOpen: started.settleOpen,
      hasLedger: options.ledger !== undefined,
      /** Drains the gateway, then stops its services. Throws what the first failing one threw, once all have ended. */
      stop,
    };
  } catch (error) {
    await stop().catch(() => undefined);
    throw error;
  }
}

/** Throws port.busy with the holder. */
async function startMetrics(
  { metrics, server }: Config,
  read: () => Promise<readonly (readonly MetricData[])[]>,
): Promise<Listener | undefined> {
  if (metrics === undefined) return undefined;
  const { serveMetrics } = await import('./metrics/serve-metrics.ts');
  const { host, port } = metrics;
  return serveMetrics({ host, port, allowedHosts: server.allowedHosts, read }).catch((error) => {
    if (!(error instanceof GatewayError) || error.code !== 'port.busy') throw error;
    throw new GatewayError('port.busy', `metrics.port ${port} is taken${takenBy(port)}`, { cause: error });
  });
}

async function startServer(options: ServicesOptions, sandboxUrl: string | undefined): Promise<ServerHandle> {
  const { workers } = options;
  const served = { log: () => undefined, ...options, sandboxUrl };
  if (workers === undefined) return serveHere(served);
  const { startWorkers } = await import('./workers/start-workers.ts');
  return startWorkers(served, workers);
}

/** The sample service must not keep the gateway from starting, unless its configuration is wrong. */
async function startPlants(
  { config, store }: ServicesOptions,
  stopping: (() => Promise<void>)[],
): Promise<PlantsService | undefined> {
  const { enabled, host, database } = config.plants.store;
  if (store === undefined || !enabled) return undefined;
  const port = store.port ?? config.plants.store.port;
  const { startStoreProcess, startStoreOnDemand } = await import('../plants/process/start-store-process.ts');
  // At once where somebody waits to see the demo user's password, or should hear of a database that can't be used.
  const start = store.demoUser || database !== undefined ? startStoreProcess : startStoreOnDemand;
  try {
    const started = await start(
      {
        host,
        port,
        database: database ?? store.defaultDatabase,
        allowedHosts: [...config.server.allowedHosts],
        demoUser: store.demoUser,
      },
      store.log,
      store.env,
    );
    stopping.push(() => started.drain());
    return { url: started.url, demoPassword: started.demoPassword };
  } catch (thrown) {
    const error = toGatewayError(thrown);
    if (error.code === 'port.busy') return { problem: `not started: port ${port} is taken${takenBy(port)}` };
    if (error.code === 'config.invalid' && database !== undefined) throw error;
    store.log({ event: 'plants.store_failed', cause: String(error.cause ?? error) });
    return { problem: `not started: ${error.message}` };
  }
}

function withHolder(error: unknown, port: number, storePort: number): unknown {
  if (!(error instanceof GatewayError) || error.code !== 'port.busy') return error;
  const free = nextFree(port, storePort);
  const advice = free === undefined ? '' : `; try "gateway serve -p ${free}"`;
  return new GatewayError('port.busy', `port ${port} is taken${takenBy(port)}${advice}`, { cause: error });
}

/** The next free port other than the plant store's, which is right after the gateway's. */
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
