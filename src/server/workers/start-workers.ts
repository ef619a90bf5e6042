import type { Config } from '../../config/config.ts';
import { urlOf } from '../../http/bind.ts';
import type { ReadSums } from '../../limits/counters.ts';
import { CounterService } from '../../limits/shared-counters.ts';
import type { OwnerProof } from '../../owner-proof.ts';
import type { LogLevel } from '../../record/recorder.ts';
import { type LedgerSettings, openLedgerFor, readSumsOnce } from '../ledger.ts';
import type { Recording } from '../recording.ts';
import type { ServerHandle } from '../server-handle.ts';
import { memoryCounters, rereadAdded } from '../shared-state.ts';
import type { TracingSettings } from '../telemetry.ts';
import type { WorkerEvent } from './messages.ts';
import { WorkerPool } from './worker-pool.ts';

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
  readonly log: (level: LogLevel, message: string) => void;
  readonly ownerProof?: OwnerProof | undefined;
}

/** Milliseconds after the drain time: for the last error events, the last records and the exit of the process. */
const endingMs = 5_000;

/**
 * Serves from several processes that share the port (docs/decisions/workers.md). This one hands out the connections, and
 * replaces a process that dies. Throws if one of them can't start; then none is left running.
 */
export async function startWorkers({ workers, ...served }: ServerOptions): Promise<ServerHandle> {
  const { config, sandboxUrl, host, port: wanted, ledger, tracing, ownerProof } = served;
  const { count, recording, onEvent, writeStderr } = workers;
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
    onEvent,
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
