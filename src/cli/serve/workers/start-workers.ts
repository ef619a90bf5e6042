import cluster from 'node:cluster';
import { fileURLToPath } from 'node:url';
import type { Config } from '../../../config/config.ts';
import { probe, urlOf } from '../../../http/bind.ts';
import { CounterService } from '../../../limits/shared-counters.ts';
import type { OwnerProof } from '../../../owner-proof.ts';
import type { BreakerChange } from '../../../providers/breaker-channel.ts';
import type { OpenCounts } from '../../../record/observer.ts';
import { WorkerMetrics } from '../metrics/worker-metrics.ts';
import { restoredCounters } from '../server/counters.ts';
import { type LedgerSettings, openLedgerFor } from '../server/ledger.ts';
import type { Recording } from '../server/recording.ts';
import type { ServerHandle } from '../server/server-handle.ts';
import type { TracingSettings } from '../server/tracing.ts';
import type { WorkerConfig } from './messages.ts';
import { Worker, type WorkerEvent } from './worker.ts';

export interface WorkersOptions {
  /** How many; at least two. */
  readonly count: number;
  readonly recording: Recording;
  readonly onEvent: (event: WorkerEvent) => void;
  readonly writeStderr: (text: string) => void;
}

interface ServerOptions {
  readonly config: Config;
  readonly sandboxUrl: string | undefined;
  readonly host: string;
  readonly port: number;
  readonly workers: WorkersOptions;
  readonly ledger?: LedgerSettings | undefined;
  readonly tracing?: TracingSettings | undefined;
  readonly log: (level: 'info' | 'error', message: string) => void;
  readonly ownerProof?: OwnerProof | undefined;
}

// Node 20 can't run TypeScript, so when run from source (in tests) this uses the built entry.
const entry = import.meta.url.endsWith('.ts') ? '../../../../dist/serve-worker.js' : './serve-worker.js';
/** Milliseconds after the drain time: for the last error events, the last records and the exit of the process. */
const endingMs = 5_000;

/**
 * Serves from several processes that share the port (docs/decisions/workers.md). This one hands out the connections, and
 * replaces a process that dies. Throws if one of them can't start; then none is left running.
 */
export async function startWorkers({ workers: options, ...served }: ServerOptions): Promise<ServerHandle> {
  const { config, sandboxUrl, host } = served;
  // With a fixed port, a new process can listen on the same one even after all have died.
  const port = await probe(served);
  const startedMs = Date.now();
  const limits = await openService(served);
  let current: WorkerConfig = { config: config.source, sandboxUrl };
  const startOptions = () => ({
    ...current,
    host,
    port,
    workers: options.count,
    startedMs,
    recording: options.recording,
    ledger: served.ledger,
    tracing: served.tracing,
    ownerProof: served.ownerProof,
  });

  cluster.schedulingPolicy = cluster.SCHED_RR;
  cluster.setupPrimary({
    exec: fileURLToPath(new URL(entry, import.meta.url)),
    args: [],
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  const drainMs = config.server.limits.drainMs + endingMs;
  const onBreaker = (from: Worker, change: BreakerChange) => {
    for (const worker of workers) if (worker !== from) worker.followBreaker(change);
  };
  const workers = Array.from(
    { length: options.count },
    () => new Worker({ ...options, limits, start: startOptions, countOpen, onBreaker, drainMs }),
  );
  const readAll = async (what: 'open' | 'metrics') => {
    const readings = await Promise.all(workers.map((worker) => worker.read(what)));
    return readings.filter((reading) => reading !== undefined);
  };
  async function countOpen(): Promise<OpenCounts> {
    const readings = await readAll('open');
    return {
      exchanges: readings.reduce((sum, { open }) => sum + open.exchanges, 0),
      streams: readings.reduce((sum, { open }) => sum + open.streams, 0),
    };
  }
  const metrics = new WorkerMetrics();
  try {
    await Promise.all(workers.map((worker) => worker.start()));
  } catch (thrown) {
    await Promise.all(workers.map((worker) => worker.kill()));
    throw thrown;
  }

  return {
    url: urlOf({ host, port }),
    workers: workers.map(({ pid }) => pid),
    prepare: async (next, url) => {
      const prepared: WorkerConfig = { config: next.source, sandboxUrl: url };
      const answers = await Promise.allSettled(workers.map((worker) => worker.prepare(prepared)));
      const refusal = answers.find((answer) => answer.status === 'rejected');
      const discard = () => {
        for (const worker of workers) worker.discard();
      };
      if (refusal !== undefined) {
        discard();
        throw refusal.reason;
      }
      return {
        commit: () => {
          current = prepared;
          for (const worker of workers) worker.commit(prepared);
        },
        discard,
      };
    },
    countOpen,
    readMetrics: () =>
      metrics.read(
        workers.map((worker) => ({
          pid: worker.pid,
          readMetrics: async () => (await worker.read('metrics'))?.metrics,
        })),
      ),
    drain: async () => {
      await Promise.all(workers.map((worker) => worker.drain()));
    },
  };
}

/** Counts for all workers, starting from what the budgets have used; each worker writes to the ledger itself. */
async function openService({
  ledger: settings,
  config,
  log,
}: Pick<ServerOptions, 'ledger' | 'config' | 'log'>): Promise<CounterService> {
  const isCountedHere = config.state.url === undefined && config.limits.length > 0;
  if (settings === undefined || !isCountedHere) return new CounterService();
  const { ledger, restored } = await openLedgerFor(settings, config, log);
  if (restored instanceof Promise) void restored.then(() => ledger.close());
  else await ledger.close();
  return new CounterService(restoredCounters(restored));
}
