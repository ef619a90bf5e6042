import type { FailureCode } from '../../errors.ts';
import type { StoreSettings } from '../store.ts';

/** What the gateway sends to the store's process, once that has sent `listening`. */
export type StoreCommand =
  | { readonly kind: 'start'; readonly settings: StoreSettings }
  | { readonly kind: 'drain' };

/** What the store's process sends. `failed` is its last message; `drain` is answered by its exit. */
export type StoreMessage =
  | { readonly kind: 'listening' }
  | { readonly kind: 'started'; readonly url: string; readonly demoPassword: string | undefined }
  | { readonly kind: 'failed'; readonly code: FailureCode; readonly message: string; readonly cause: string }
  | { readonly kind: 'log'; readonly record: object };
