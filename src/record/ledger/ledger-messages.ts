import type { KnownSum, LedgerChange, WantedSum } from './ledger-row.ts';
import type { LedgerPlace, Retention } from './ledger-store.ts';
import { cleanChange, type PackedChange } from './packed-change.ts';

/** What the ledger's thread is started with. */
export interface LedgerThreadData {
  readonly place: LedgerPlace;
  readonly retention: Retention;
  /** The memory of its ThreadLock. */
  readonly lock: SharedArrayBuffer;
}

export type LedgerCommand =
  /** Answered by `opened`, or by `failed` first and `opened` later: the thread keeps trying. */
  | { readonly kind: 'open'; readonly wanted: readonly WantedSum[] }
  /**
   * A list of packed changes as JSON, because text is what passes between threads fastest; `upTo` is the last one's
   * number.
   */
  | { readonly kind: 'changes'; readonly json: string; readonly upTo: number }
  /** Answered by `summed`, which includes all changes that were sent before. */
  | { readonly kind: 'sum'; readonly id: number; readonly wanted: readonly WantedSum[] }
  /** Answered by the end of the thread. */
  | { readonly kind: 'close' };

export type LedgerAnswer =
  | { readonly kind: 'opened'; readonly sums: readonly KnownSum[] }
  | { readonly kind: 'committed'; readonly upTo: number }
  /** The changes are kept and retried. `isAway`: the database can't be reached, so the settings may be right. */
  | { readonly kind: 'failed'; readonly upTo: number; readonly cause: string; readonly isAway: boolean }
  | { readonly kind: 'summed'; readonly id: number; readonly sums: readonly KnownSum[] }
  | { readonly kind: 'sum failed'; readonly id: number; readonly cause: string }
  /** More changes were waiting than are kept; the rest is lost. */
  | { readonly kind: 'lost'; readonly changes: number };

export function toChanges(json: string): readonly LedgerChange[] {
  return (JSON.parse(json) as readonly PackedChange[]).map(cleanChange); // written by the other thread
}
