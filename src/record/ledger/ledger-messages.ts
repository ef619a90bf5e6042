import type { KnownSum, WantedSum } from './ledger-row.ts';
import type { LedgerPlace, Retention } from './ledger-store.ts';

/** What the ledger's thread is started with. */
export interface LedgerThreadData {
  readonly place: LedgerPlace;
  readonly retention: Retention;
  /** Whose segments this process writes; undefined if it only reads sums. */
  readonly owner: string | undefined;
  /** Bytes that its segments may take while the database can't be written. */
  readonly segmentBytes: number;
  /** The memory of its ThreadLock. */
  readonly lock: SharedArrayBuffer;
}

export type LedgerCommand =
  /** A segment of this process is closed. Answered by `moved`, as soon as that is possible. */
  | { readonly kind: 'move'; readonly path: string }
  /** Answered by `summed`, which includes all that was appended before. */
  | { readonly kind: 'sum'; readonly id: number; readonly wanted: readonly WantedSum[] }
  /** Answered by the end of the thread. */
  | { readonly kind: 'close' };

export type LedgerAnswer =
  | { readonly kind: 'moved'; readonly path: string }
  /** Segments wait, and are tried again. `isAway`: the database can't be reached, so the settings may be right. */
  | { readonly kind: 'failing'; readonly cause: string; readonly isAway: boolean }
  | { readonly kind: 'working' }
  | { readonly kind: 'summed'; readonly id: number; readonly sums: readonly KnownSum[] }
  | { readonly kind: 'sum failed'; readonly id: number; readonly cause: string; readonly isAway: boolean }
  /** Something that a person has to know. */
  | { readonly kind: 'notice'; readonly message: string };
