import type { MetricData } from '../../record/metrics/families.ts';

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
export class WorkerMetrics {
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
