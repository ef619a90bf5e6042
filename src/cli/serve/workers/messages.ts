import type { ConfigSource } from '../../../config/config.ts';
import type { FailureCode } from '../../../errors.ts';
import type { CounterAnswer, CounterRequest } from '../../../limits/shared-counters.ts';
import type { OwnerProof } from '../../../owner-proof.ts';
import type { BreakerChange } from '../../../providers/breaker-channel.ts';
import type { MetricData } from '../../../record/metrics/families.ts';
import type { OpenCounts } from '../../../record/observer.ts';
import type { LedgerSettings } from '../server/ledger.ts';
import type { Recording } from '../server/recording.ts';
import type { TracingSettings } from '../server/tracing.ts';

/** What a worker serves by. The same for all: none of them reads the file or the environment itself. */
export interface WorkerConfig {
  readonly config: ConfigSource;
  readonly sandboxUrl: string | undefined;
}

export interface WorkerStart extends WorkerConfig {
  readonly host: string;
  readonly port: number;
  /** How many share the port, and with it the limits that hold for the whole gateway. */
  readonly workers: number;
  readonly startedMs: number;
  readonly recording: Recording;
  readonly ledger: LedgerSettings | undefined;
  readonly tracing: TracingSettings | undefined;
  readonly ownerProof: OwnerProof | undefined;
}

/**
 * What the first process sends a worker, once that has answered `done` for the first time: until it listens,
 * commands are lost. Each gets one answer, in order; `drain` is answered by `drained`, where nothing
 * hinders it, and by ending.
 */
export type WorkerCommand =
  | { readonly kind: 'start'; readonly start: WorkerStart }
  | { readonly kind: 'prepare'; readonly next: WorkerConfig }
  | { readonly kind: 'commit' }
  | { readonly kind: 'discard' }
  | { readonly kind: 'drain' }
  | CounterAnswer
  /** A breaker opened or closed in another worker; answered by nothing. */
  | { readonly kind: 'breaker'; readonly change: BreakerChange }
  /** Answered by `reading`, not in order: nobody waits for a reload to read something. */
  | { readonly kind: 'read'; readonly id: number; readonly what: 'open' | 'metrics' }
  /** Answers `count.open`. */
  | { readonly kind: 'counted'; readonly id: number; readonly open: OpenCounts };

/** What a worker answers when it is read. */
export interface Reading {
  readonly open: OpenCounts;
  readonly metrics: readonly MetricData[];
}

export type WorkerAnswer =
  | CounterRequest
  | { readonly kind: 'breaker'; readonly change: BreakerChange }
  | { readonly kind: 'reading'; readonly id: number; readonly reading: Reading }
  /** Its last words: changes of the ledger that are not on the disk; undefined if none is kept. */
  | { readonly kind: 'drained'; readonly unwritten: number | undefined }
  /** Asks for what is open in all workers. */
  | { readonly kind: 'count.open'; readonly id: number }
  | { readonly kind: 'done' }
  | { readonly kind: 'failed'; readonly code: FailureCode; readonly message: string; readonly cause: string };
