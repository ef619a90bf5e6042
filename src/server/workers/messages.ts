import type { ConfigSource } from '../../config/config.ts';
import type { FailureCode } from '../../errors.ts';
import type { OwnerProof } from '../../lib/owner-proof.ts';
import type { CounterReply, CounterRequest } from '../../limits/shared-counters.ts';
import type { BreakerChange } from '../../providers/health.ts';
import type { OpenCounts } from '../../record/gauges.ts';
import type { MetricData } from '../../record/metrics/families.ts';
import type { LedgerSettings } from '../ledger.ts';
import type { Recording } from '../recording.ts';
import type { TracingSettings } from '../telemetry.ts';

/** A worker's configuration. The same for all workers, which read neither the file nor the environment themselves. */
export interface WorkerConfig {
  readonly config: ConfigSource;
  readonly sandboxUrl: string | undefined;
}

export interface WorkerStart extends WorkerConfig {
  readonly host: string;
  readonly port: number;
  /** How many workers share the port, and the limits that apply to the whole gateway. */
  readonly workers: number;
  readonly startedMs: number;
  readonly recording: Recording;
  readonly ledger: LedgerSettings | undefined;
  readonly tracing: TracingSettings | undefined;
  readonly ownerProof: OwnerProof | undefined;
  /** Whether others can find the gateway already: a process that takes another's place is ready at once. */
  readonly isAnnounced: boolean;
}

/**
 * What the parent sends a worker, after the worker's first `done`: before that, commands are lost. Each of the first four
 * gets one `done` or `failed`, in order; `drain` is answered by `drained`, unless something prevents it, and by exiting.
 */
export type WorkerCommand =
  | { readonly kind: 'start'; readonly start: WorkerStart }
  | { readonly kind: 'prepare'; readonly next: WorkerConfig }
  | { readonly kind: 'commit' }
  | { readonly kind: 'discard' }
  | { readonly kind: 'drain' }
  | CounterReply
  /**
   * Comes with a socket, and is answered by `taken` before anything is read from it. After `untilMs`, by `uptimeMs`, the
   * connection is not served but left to another process.
   */
  | { readonly kind: 'connection'; readonly id: number; readonly untilMs: number }
  /** Others can find the gateway; not answered. */
  | { readonly kind: 'announce' }
  /** A breaker opened or closed in another worker; not answered. */
  | { readonly kind: 'breaker'; readonly change: BreakerChange }
  /** Answered by `reading`, out of order: a reading does not wait for a reload. */
  | { readonly kind: 'read'; readonly id: number; readonly what: 'open' | 'metrics' }
  /** Answers `count.open`. */
  | { readonly kind: 'counted'; readonly id: number; readonly open: OpenCounts };

/** A worker's answer to `read`. */
export interface WorkerStats {
  readonly open: OpenCounts;
  readonly metrics: readonly MetricData[];
}

export type WorkerMessage =
  | CounterRequest
  | { readonly kind: 'taken'; readonly id: number; readonly isLate: boolean }
  | { readonly kind: 'breaker'; readonly change: BreakerChange }
  | { readonly kind: 'reading'; readonly id: number; readonly reading: WorkerStats }
  /** The last message: how many ledger changes were not committed; undefined if no ledger is kept. */
  | { readonly kind: 'drained'; readonly unwritten: number | undefined }
  /** Asks for what is open in all workers. */
  | { readonly kind: 'count.open'; readonly id: number }
  | { readonly kind: 'done' }
  | { readonly kind: 'failed'; readonly code: FailureCode; readonly message: string; readonly cause: string };

/** Milliseconds after `untilMs` in which the parent waits for `taken`; then the connection may be another process's. */
export const confirmMs = 200;

/** Milliseconds on a monotonic clock that all processes of a machine share. */
export function uptimeMs(): number {
  return Number(process.hrtime.bigint() / 1_000_000n);
}
