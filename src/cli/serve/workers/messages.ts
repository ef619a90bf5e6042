import type { ConfigSource } from '../../../config/config.ts';
import type { FailureCode } from '../../../errors.ts';
import type { Recording } from '../server/recording.ts';

/** What a worker serves by. The same for all: none of them reads the file or the environment itself. */
export interface Orders {
  readonly config: ConfigSource;
  readonly sandboxUrl: string | undefined;
}

export interface StartOrders extends Orders {
  readonly host: string;
  readonly port: number;
  /** How many share the port, and with it the limits that hold for the whole gateway. */
  readonly workers: number;
  readonly startedMs: number;
  readonly recording: Recording;
}

/**
 * What the first process tells a worker, once that has said `done` for the first time: until it listens, orders
 * are lost. Each gets one answer, in order; `drain` is answered by ending.
 */
export type Order =
  | { readonly kind: 'start'; readonly orders: StartOrders }
  | { readonly kind: 'apply'; readonly orders: Orders }
  | { readonly kind: 'drain' };

export type OrderAnswer =
  | { readonly kind: 'done' }
  | { readonly kind: 'failed'; readonly code: FailureCode; readonly message: string; readonly cause: string };
