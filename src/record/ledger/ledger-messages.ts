import type { LedgerPlace, Retention } from './ledger-store.ts';

/** What the ledger's thread is started with. */
export interface LedgerThreadData {
  readonly place: LedgerPlace;
  readonly retention: Retention;
  /** Whose segments this process writes. */
  readonly owner: string;
  /** The memory of its ThreadLock. */
  readonly lock: SharedArrayBuffer;
}

export type LedgerCommand =
  /** A segment of this process is closed. Answered by `moved`, as soon as that is possible. */
  | { readonly kind: 'move'; readonly path: string }
  /** Answered by the end of the thread. */
  | { readonly kind: 'close' };

export type LedgerAnswer =
  | { readonly kind: 'moved'; readonly path: string }
  /** Segments wait, and are tried again. */
  | { readonly kind: 'failing'; readonly cause: string }
  | { readonly kind: 'working' }
  /** Something that a person has to know. */
  | { readonly kind: 'notice'; readonly message: string };
