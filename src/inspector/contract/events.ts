/**
 * What the live page and the gateway exchange, as JSON. Nothing here is HTML: every text may come from a hostile
 * client or provider and is shown as text. Times are RFC 3339, names ending in `_ms` are milliseconds with one
 * decimal, `_us` microseconds, `_usd` US dollars, `bytes` bytes. What is not known is missing, never null.
 */

import type { ExchangeRow } from './exchange-list.ts';

/** Events of `GET /_/api/events`, by their names. Each `data:` is one line of JSON. */
export interface Events {
  /**
   * An exchange began, went on or ended; what happens to one within 250 ms is one event. Insert or replace the row by its
   * `seq`.
   */
  readonly row: ExchangeRow;
  /** How many exchanges came and went too fast to be sent: more than the ring holds within 250 ms. */
  readonly skipped: { readonly count: number };
  /** Sent every second in which something changed, and at least every 15 s. */
  readonly now: NowResponse;
  /** Something was lost (a slow reader, a restart): load the list again. */
  readonly resync: object;
}

/** `GET /_/api/now`, and the event `now`. */
export interface NowResponse {
  /** Oldest first, the current minute last; at most 60. Minutes without any traffic are included. */
  readonly minutes: readonly Minute[];
  readonly open: { readonly exchanges: number; readonly streams: number };
  readonly budgets: readonly BudgetState[];
  readonly breakers: readonly BreakerState[];
  /** Until when bodies are kept; missing if they are not. `always` where `records.bodies` is on. */
  readonly keeps_bodies?: string | 'always';
}

export interface Minute extends HistoryStep {
  /** Missing if nothing was sent; accurate to 1 %. */
  readonly first_byte_ms?: { readonly p50: number; readonly p95: number } | undefined;
  /** What the gateway refused, by reason, as the list counts it (`shows`). */
  readonly blocks: Readonly<Record<string, number>>;
  /** What should have been answered and was not, by reason (`status 529`). */
  readonly errors: Readonly<Record<string, number>>;
}

export interface BudgetState {
  /** project or key */
  readonly scope: string;
  readonly name: string;
  /** usd_per_day, tokens_per_month, requests_per_minute, … */
  readonly limit: string;
  readonly max: number;
  readonly used: number;
  readonly resets?: string | undefined;
  readonly mode: string;
}

/** The state of a provider. */
export interface BreakerState {
  readonly provider: string;
  /** `open`: no requests are sent to it for a while. */
  readonly state: 'closed' | 'open';
  /** Models with an open breaker of their own. */
  readonly open_models: number;
  /** Exchanges that it is handling, and that wait for a slot. */
  readonly active: number;
  readonly queued: number;
}

/** `GET /_/api/history?by=hour|day&since=24h`: from the ledger. 409 `inspector.no_ledger` if none is kept. */
export interface HistoryResponse {
  readonly by: 'hour' | 'day';
  /** Oldest first; steps without any traffic are included. */
  readonly steps: readonly HistoryStep[];
}

export interface HistoryStep {
  /** When it began. */
  readonly time: string;
  readonly requests: number;
  readonly tokens: { readonly input: number; readonly output: number; readonly cached: number };
  readonly cost_usd: number;
}
