import { type Config, rebuildConfig } from '../../../config/config.ts';
import { toGatewayError } from '../../../errors.ts';
import { type GatewayConfig, type GatewayServer, serveGateway } from '../../../gateway/serve.ts';
import { gatewayConfig } from '../server/gateway-config.ts';
import { letHeapGrow } from '../server/heap.ts';
import { openRecorder } from '../server/recording.ts';
import type { Order, OrderAnswer, StartOrders } from './messages.ts';

// The entry of a process that answers at the shared port. It follows the first process's orders one after the
// other; Node ends it when that process is gone.

// Ctrl-C reaches every process of a terminal; what a signal means is decided in the first one.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
process.stderr.on('error', () => undefined); // nobody is left to be told

let server: GatewayServer | undefined;
let workers = 1;
let following = Promise.resolve();
process.on('message', (order: Order) => {
  following = following.then(() => follow(order));
});
answer({ kind: 'done' });

async function follow(order: Order): Promise<void> {
  if (order.kind === 'drain') {
    await server?.drain();
    process.stderr.write('', () => process.exit()); // what was written before has gone out then
    return;
  }
  try {
    const { config: source, sandboxUrl } = order.orders;
    const config = rebuildConfig(source);
    if (order.kind === 'start') await start(order.orders, config);
    else server?.apply(withShares(gatewayConfig(config, sandboxUrl)));
    answer({ kind: 'done' });
  } catch (thrown) {
    const { message, stack } = thrown instanceof Error ? thrown : new Error(String(thrown));
    const { code } = toGatewayError(thrown);
    answer({ kind: 'failed', code, message, cause: stack ?? message });
  }
}

async function start(orders: StartOrders, config: Config): Promise<void> {
  const { host, port, startedMs, sandboxUrl } = orders;
  workers = orders.workers;
  letHeapGrow();
  const recorder = openRecorder(orders.recording, process.stderr);
  process.once('exit', () => recorder.close());
  const { limits } = config.server;
  server = await serveGateway({
    host,
    port,
    limits: { ...limits, connections: share(limits.connections) },
    config: withShares(gatewayConfig(config, sandboxUrl)),
    record: recorder.write,
    startedMs,
  });
}

function withShares(config: GatewayConfig): GatewayConfig {
  const providers = config.providers.map((each) => ({ ...each, connections: share(each.connections) }));
  return { ...config, providers };
}

/** This process's part of a limit that holds for all workers together. */
function share(limit: number): number {
  return Math.max(1, Math.floor(limit / workers));
}

function answer(message: OrderAnswer): void {
  process.send?.(message);
}
