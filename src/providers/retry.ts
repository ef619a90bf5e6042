import { backoffMs } from '../backoff.ts';

const capS = 60;
const wait = { firstMs: 500, longestMs: Number.POSITIVE_INFINITY };
// Retries that are allowed before any request has earned them.
const initialRetries = 10;

export interface RetryOptions {
  /** Attempts in total; 1 means no retries. */
  readonly attempts: number;
  /** Most retries, as a share of the requests. */
  readonly budget: number;
}

/** How many retries a provider may still get, so that the gateway doesn't make an outage worse. */
export class RetryBudget {
  readonly #options: RetryOptions;
  #saved: number;

  constructor(options: RetryOptions) {
    this.#options = options;
    this.#saved = initialRetries;
  }

  noteRequest(): void {
    this.#saved = Math.min(initialRetries, this.#saved + this.#options.budget);
  }

  /** Takes one retry after this many attempts, if one is left. */
  take(attemptsMade: number): boolean {
    if (attemptsMade >= this.#options.attempts || this.#saved < 1) return false;
    this.#saved -= 1;
    return true;
  }
}

/**
 * Milliseconds to wait before the retry, or undefined if the provider asks for a longer wait than is allowed. `random` is
 * a number from 0 to 1, for the jitter.
 */
export function retryWaitMs(
  retryAfter: string | undefined,
  attemptsMade: number,
  random: number,
  nowMs: number,
): number | undefined {
  const requestedMs = retryAfter === undefined ? undefined : retryAfterMs(retryAfter, nowMs);
  if (requestedMs !== undefined)
    return requestedMs > capS * 1_000 ? undefined : requestedMs * (1 + random / 10);
  return backoffMs(attemptsMade, wait, 1 - random);
}

/** Retry-After in milliseconds: seconds or an HTTP date (RFC 9110, section 10.2.3). */
export function retryAfterMs(value: string, nowMs: number): number | undefined {
  const text = value.trim();
  if (/^-?\d+(?:\.\d+)?$/.test(text)) return Math.max(0, Number(text) * 1_000);
  // Date.parse accepts nearly anything; HTTP dates contain the month's name.
  if (!/\b[A-Z][a-z]{2}\b/.test(text)) return undefined;
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, date - nowMs);
}
