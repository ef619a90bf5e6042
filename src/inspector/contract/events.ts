/**
 * What the live page and the gateway exchange, as JSON. Nothing here is HTML: every text may come from a hostile
 * client or provider and is shown as text. Times are RFC 3339, names ending in `_ms` are milliseconds with one
 * decimal, `_us` microseconds, `_usd` US dollars, `bytes` bytes. What is not known is missing, never null.
 */

import type { ExchangeRow } from './exchange-list.ts';
import type { NowAnswer } from './now.ts';

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
  readonly now: NowAnswer;
  /** Something was lost (a slow reader, a restart): load the list again. */
  readonly resync: Resync;
}

export interface Resync {
  readonly reason: 'restarted' | 'too slow' | 'too old';
}
