import type { Retention } from './ledger-file.ts';
import type { KnownSum, LedgerChange, WantedSum } from './ledger-row.ts';

/** What the ledger's thread is started with. */
export interface LedgerThreadData {
  readonly path: string;
  readonly retention: Retention;
}

export type LedgerCommand =
  /** Answered by `opened`, or by `failed` now and `opened` later: it tries again. */
  | { readonly kind: 'open'; readonly wanted: readonly WantedSum[] }
  /** A list of changes as JSON, one text being what passes between threads quickest; `upTo` is the last one's number. */
  | { readonly kind: 'changes'; readonly json: string; readonly upTo: number }
  | { readonly kind: 'close' };

export type LedgerAnswer =
  | { readonly kind: 'opened'; readonly sums: readonly KnownSum[] }
  | { readonly kind: 'committed'; readonly upTo: number }
  /** They are kept and tried again. */
  | { readonly kind: 'failed'; readonly upTo: number; readonly cause: string }
  /** More waited than is kept. */
  | { readonly kind: 'lost'; readonly changes: number }
  | { readonly kind: 'closed' };

export function toChanges(json: string): readonly LedgerChange[] {
  return JSON.parse(json) as readonly LedgerChange[]; // written by the other thread
}
