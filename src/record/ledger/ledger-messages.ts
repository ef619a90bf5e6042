import type { KnownSum, LedgerChange, WantedSum } from './ledger-row.ts';
import type { LedgerPlace, Retention } from './ledger-store.ts';
import { cleanChange, type PackedChange } from './packed-change.ts';

/** What the ledger's thread is started with. */
export type LedgerThreadData = LedgerPlace & { readonly retention: Retention };

export type LedgerCommand =
  /** Answered by `opened`, or by `failed` now and `opened` later: it tries again. */
  | { readonly kind: 'open'; readonly wanted: readonly WantedSum[] }
  /** A list of packed changes as JSON, one text being what passes between threads quickest; `upTo` is the last one's number. */
  | { readonly kind: 'changes'; readonly json: string; readonly upTo: number }
  /** Answered by `summed`, with all changes that were sent before. */
  | { readonly kind: 'sum'; readonly id: number; readonly wanted: readonly WantedSum[] }
  | { readonly kind: 'close' };

export type LedgerAnswer =
  | { readonly kind: 'opened'; readonly sums: readonly KnownSum[] }
  | { readonly kind: 'committed'; readonly upTo: number }
  /** They are kept and tried again. `isAway`: the database can't be reached, which is no fault of the settings. */
  | { readonly kind: 'failed'; readonly upTo: number; readonly cause: string; readonly isAway: boolean }
  | { readonly kind: 'summed'; readonly id: number; readonly sums: readonly KnownSum[] }
  | { readonly kind: 'sum failed'; readonly id: number; readonly cause: string }
  /** More waited than is kept. */
  | { readonly kind: 'lost'; readonly changes: number }
  | { readonly kind: 'closed' };

export function toChanges(json: string): readonly LedgerChange[] {
  return (JSON.parse(json) as readonly PackedChange[]).map(cleanChange); // written by the other thread
}
