import { GatewayError } from '../../errors.ts';
import type { PreparedConfig } from '../../gateway/active-config.ts';
import { urlOf } from '../../http/bind.ts';
import type { ReadSums } from '../../limits/counters.ts';
import { CounterService } from '../../limits/shared-counters.ts';
import type { OpenCounts } from '../../record/gauges.ts';
import type { MetricData } from '../../record/metrics/families.ts';
import { openLedgerFor, readSumsOnce } from '../ledger.ts';
import type { Recording } from '../recording.ts';
import type { ServerHandle, ServerOptions } from '../server-handle.ts';
import { memoryCounters, rereadAdded } from '../shared-state.ts';
import { HandOver } from './hand-over.ts';
import type { WorkerConfig } from './messages.ts';
import { Worker } from './worker.ts';

export interface WorkersOptions {
  /** How many; at least two. */
  readonly count: number;
  readonly recording: Recording;
  readonly writeStderr: (text: string) => void;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Milliseconds after the drain time: for the last error events, the last records and the exit of the process. */
const endingMs = 5_000;

/**
 * Serves from several processes that share the port (docs/decisions/workers.md). This one hands out the connections, and
 * replaces a process that dies. Throws if one of them can't start; then none is left running.
 */
export async function startWorkers(
  served: ServerOptions,
  { count, recording, writeStderr, env }: WorkersOptions,
): Promise<ServerHandle> {
  const { config, sandboxUrl, host, ledger, tracing, ownerProof, log } = served;
  const common = { host, workers: count, startedMs: Date.now(), recording, ledger, tracing, ownerProof };
  const limits = await openService(served);
  const metrics = new WorkerMetrics();
  let current = config;
  let currentUrl = sandboxUrl;
  let port = 0;
  let isAnnounced = false;
  let started = 0;
  const countOpen = () => sumOpen(workers);
  const workers: readonly Worker[] = Array.from(
    { length: count },
    () =>
      new Worker({
        start: () => ({ config: current.source, sandboxUrl: currentUrl, ...common, port, isAnnounced }),
        nextNumber: () => {
          started += 1;
          return started;
        },
        onServing: () => handOver.assignWaiting(),
        countOpen,
        onBreaker: (from, change) => {
          for (const worker of workers) if (worker !== from) worker.notify({ kind: 'breaker', change });
        },
        limits,
        drainMs: config.server.limits.drainMs + endingMs,
        log,
        writeStderr,
        env,
      }),
  );
  const handOver = new HandOver(workers);
  port = await handOver.listen({ host, port: served.port });
  try {
    await Promise.all(workers.map((worker) => worker.start()));
  } catch (thrown) {
    handOver.close();
    await Promise.all(workers.map((worker) => worker.kill()));
    throw thrown;
  }
  return {
    url: urlOf({ host, port }),
    workers: workers.map(({ pid }) => pid),
    prepare: async (next, url) => {
      const { commit, discard } = await prepareAll(workers, { config: next.source, sandboxUrl: url });
      return {
        commit: () => {
          rereadAdded(limits.counters, current, next);
          [current, currentUrl] = [next, url];
          commit();
        },
        discard,
      };
    },
    announce: () => {
      isAnnounced = true;
      for (const worker of workers) worker.notify({ kind: 'announce' });
    },
    countOpen,
    settleOpen: () => undefined, // each worker settles its own when this process is gone
    readMetrics: () => metrics.read(workers),
    drain: async () => {
      handOver.close();
      const complete = await Promise.all(workers.map((worker) => worker.drain()));
      if (complete.includes(false))
        throw new GatewayError('drain.incomplete', 'not all workers ended in order');
    },
  };
}

async function sumOpen(workers: readonly Worker[]): Promise<OpenCounts> {
  const readings = await Promise.all(workers.map((worker) => worker.read('open')));
  const open = readings.flatMap((reading) => (reading === undefined ? [] : [reading.open]));
  return {
    exchanges: open.reduce((sum, { exchanges }) => sum + exchanges, 0),
    streams: open.reduce((sum, { streams }) => sum + streams, 0),
  };
}

/** Throws, and changes nothing, if a worker can't apply a configuration. */
async function prepareAll(workers: readonly Worker[], next: WorkerConfig): Promise<PreparedConfig> {
  const answers = await Promise.allSettled(workers.map((worker) => worker.prepare(next)));
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
      for (const worker of workers) worker.commit(next);
    },
    discard,
  };
}

/** Counts for all workers, starting from what the budgets have used; each worker writes to the ledger itself. */
async function openService({
  ledger: settings,
  config,
  log,
}: Pick<ServerOptions, 'ledger' | 'config' | 'log'>): Promise<CounterService> {
  if (settings === undefined || config.state.url !== undefined) return new CounterService();
  const readSums: ReadSums = (budgets = []) => readSumsOnce(settings, budgets);
  if (config.limits.length === 0) return new CounterService(memoryCounters({ restored: [], readSums }));
  const { ledger, restored } = await openLedgerFor(settings, config, log);
  await ledger.close();
  return new CounterService(memoryCounters({ restored, readSums }));
}

type Metrics = readonly MetricData[];

/**
 * Reads the metrics of all workers. Sums must not go down when a worker dies, because Prometheus would take that for a
 * restart of all, so the last counts of each process are kept. Counts after its last reading are lost.
 */
class WorkerMetrics {
  readonly #last = new Map<number, Metrics>();
  #ended: Metrics = [];

  async read(workers: readonly Worker[]): Promise<readonly Metrics[]> {
    await Promise.all(
      workers.map(async (worker) => {
        const { pid } = worker;
        const reading = await worker.read('metrics');
        if (reading !== undefined) this.#last.set(pid, reading.metrics);
      }),
    );
    const alive = new Set(workers.map(({ pid }) => pid));
    const gone = [...this.#last.keys()].filter((pid) => !alive.has(pid));
    if (gone.length > 0) {
      const { mergeCounts } = await import('../../record/metrics/metrics-text.ts');
      const counts = [this.#ended, ...gone.map((pid) => this.#last.get(pid) ?? [])];
      for (const pid of gone) this.#last.delete(pid);
      this.#ended = await mergeCounts(counts);
    }
    return [...this.#last.values(), this.#ended];
  }
}
