import { setDefaultAutoSelectFamilyAttemptTimeout } from 'node:net';

/** How long a connection may take where its program sets no time-out of its own, in milliseconds. */
const usualConnectMs = 5_000;

/**
 * How long each address of a name is tried before the next one. Node's default of 250 ms gives up on hosts that are merely
 * far away, and on the whole name if the next address can't be reached.
 */
export function addressAttemptMs(connectMs: number): number {
  return Math.max(250, Math.floor(connectMs / 3));
}

/** Extends how long connections of this thread try each address, including those that libraries open. */
export function extendAddressAttemptTimeout(): void {
  setDefaultAutoSelectFamilyAttemptTimeout(addressAttemptMs(usualConnectMs));
}
