import { GatewayError } from '../../errors.ts';
import { type Address, urlOf } from '../../http/bind.ts';
import type { ReadSums } from '../../limits/counters.ts';
import { CounterService } from '../../limits/shared-counters.ts';
import type { BreakerChange } from '../../providers/health.ts';
import type { MetricData } from '../../record/metrics/families.ts';
import type { OpenCounts } from '../../record/observer.ts';
import { openLedgerFor, readSumsOnce } from '../ledger.ts';
import type { Recording } from '../recording.ts';
import type { PreparedReload, ServerHandle, ServerOptions } from '../server-handle.ts';
import { memoryCounters, rereadAdded } from '../shared-state.ts';
import { HandOver } from './hand-over.ts';
import type { WorkerConfig, WorkerStart } from './messages.ts';
import { Worker } from './worker.ts';

export interface WorkersOptions {
  /** How many; at least two. */
  readonly count: number;
  readonly recording: Recording;
  readonly writeStderr: (text: string) => void;
}

/** Milliseconds after the drain time: for the last error events, the last records and the exit of the process. */
const endingMs = 5_000;

/**
 * Serves from several processes that share the port (docs/decisions/workers.md). This one hands out the connections, and
 * replaces a process that dies. Throws if one of them can't start; then none is left running.
 */
export async function startWorkers(served: ServerOptions, workers: WorkersOptions): Promise<ServerHandle> {
  const { config, sandboxUrl, host, port: wanted, ledger, tracing, ownerProof, log } = served;
  const { count, recording, writeStderr } = workers;
  const startedMs = Date.now();
  const limits = await openService(served);
  let current = config;
  const pool = new WorkerPool({
    count,
    address: { host, port: wanted },
    config: { config: config.source, sandboxUrl },
    start: { host, workers: count, startedMs, recording, ledger, tracing, ownerProof },
    limits,
    drainMs: config.server.limits.drainMs + endingMs,
    log,
    writeStderr,
  });
  const port = await pool.start();

  return {
    url: urlOf({ host, port }),
    workers: pool.pids,
    prepare: async (next, url) => {
      const { commit, discard } = await pool.prepare({ config: next.source, sandboxUrl: url });
      return {
        commit: () => {
          commit();
          rereadAdded(limits.counters, current, next);
          current = next;
        },
        discard,
      };
    },
    announce: () => pool.announce(),
    countOpen: () => pool.countOpen(),
    readMetrics: () => pool.readMetrics(),
    drain: () => pool.drain(),
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

/** A worker, whose process is replaced when it dies. */
interface Counting {
  /** The process's id; differs for each process. */
  readonly pid: number;
  readMetrics(): Promise<Metrics | undefined>;
}

/**
 * Reads the metrics of all workers. Sums must not go down when a worker dies, because Prometheus would take that for a
 * restart of all, so the last counts of each are kept. Counts after its last reading are lost.
 */
class WorkerMetrics {
  readonly #last = new Map<number, Metrics>();
  #ended: Metrics = [];

  async read(workers: readonly Counting[]): Promise<readonly Metrics[]> {
    await Promise.all(
      workers.map(async (worker) => {
        const { pid } = worker;
        const metrics = await worker.readMetrics();
        if (metrics !== undefined) this.#last.set(pid, metrics);
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

interface WorkerPoolOptions {
  readonly count: number;
  /** The configuration that the workers start with. */
  readonly config: WorkerConfig;
  /** What a process starts with, besides its configuration. */
  readonly start: Omit<WorkerStart, keyof WorkerConfig | 'port' | 'isAnnounced'>;
  readonly address: Address;
  readonly limits: CounterService;
  /** How long a worker may take to drain, in milliseconds. */
  readonly drainMs: number;
  readonly log: ServerOptions['log'];
  readonly writeStderr: (text: string) => void;
}

/** All workers, and the configuration that they serve with. */
class WorkerPool {
  readonly #workers: readonly Worker[];
  readonly #metrics = new WorkerMetrics();
  readonly #handOver: HandOver;
  readonly #address: Address;
  #port = 0;
  #current: WorkerConfig;
  #isAnnounced = false;

  constructor({ count, config, start, address, ...options }: WorkerPoolOptions) {
    this.#current = config;
    this.#address = address;
    let started = 0;
    const nextNumber = () => {
      started += 1;
      return started;
    };
    this.#workers = Array.from(
      { length: count },
      () =>
        new Worker({
          ...options,
          start: () => ({ ...this.#current, ...start, port: this.#port, isAnnounced: this.#isAnnounced }),
          nextNumber,
          onServing: () => this.#handOver.assignWaiting(),
          countOpen: () => this.countOpen(),
          onBreaker: (from, change) => this.#shareBreaker(from, change),
        }),
    );
    this.#handOver = new HandOver(this.#workers);
  }

  get pids(): readonly number[] {
    return this.#workers.map(({ pid }) => pid);
  }

  /** Resolves with the port. Throws port.busy, and what prevents a worker from starting; then none is left running. */
  async start(): Promise<number> {
    this.#port = await this.#handOver.listen(this.#address);
    try {
      await Promise.all(this.#workers.map((worker) => worker.start()));
      return this.#port;
    } catch (thrown) {
      this.#handOver.close();
      await Promise.all(this.#workers.map((worker) => worker.kill()));
      throw thrown;
    }
  }

  /** Throws, and changes nothing, if a worker can't apply a configuration. */
  async prepare(next: WorkerConfig): Promise<PreparedReload> {
    const answers = await Promise.allSettled(this.#workers.map((worker) => worker.prepare(next)));
    const refusal = answers.find((answer) => answer.status === 'rejected');
    const discard = () => {
      for (const worker of this.#workers) worker.discard();
    };
    if (refusal !== undefined) {
      discard();
      throw refusal.reason;
    }
    return {
      commit: () => {
        this.#current = next;
        for (const worker of this.#workers) worker.commit(next);
      },
      discard,
    };
  }

  announce(): void {
    this.#isAnnounced = true;
    for (const worker of this.#workers) worker.notify({ kind: 'announce' });
  }

  async countOpen(): Promise<OpenCounts> {
    const readings = await Promise.all(this.#workers.map((worker) => worker.read('open')));
    const open = readings.flatMap((reading) => (reading === undefined ? [] : [reading.open]));
    return {
      exchanges: open.reduce((sum, { exchanges }) => sum + exchanges, 0),
      streams: open.reduce((sum, { streams }) => sum + streams, 0),
    };
  }

  readMetrics(): Promise<readonly (readonly MetricData[])[]> {
    return this.#metrics.read(
      this.#workers.map((worker) => ({
        pid: worker.pid,
        readMetrics: async () => (await worker.read('metrics'))?.metrics,
      })),
    );
  }

  /** Throws drain.incomplete, once all have ended, if one of them had to be killed or could not write its ledger. */
  async drain(): Promise<void> {
    this.#handOver.close();
    const complete = await Promise.all(this.#workers.map((worker) => worker.drain()));
    if (complete.includes(false))
      throw new GatewayError('drain.incomplete', 'not all workers ended in order');
  }

  #shareBreaker(from: Worker, change: BreakerChange): void {
    for (const worker of this.#workers) if (worker !== from) worker.notify({ kind: 'breaker', change });
  }
}
