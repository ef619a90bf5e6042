const capS = 60;
const firstWaitMs = 500;
// Retries that may be made before any request has paid for them.
const initialRetries = 10;

export interface RetryOptions {
  /** Tries in all; 1 means never again. */
  readonly attempts: number;
  /** Retries per request that the provider sees from us at most, as a share. */
  readonly budget: number;
}

/** How many retries a provider may still get, so that a bad hour is not made worse by us. */
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

  /** Takes one retry after that many tries, if there is one left. */
  take(attemptsMade: number): boolean {
    if (attemptsMade >= this.#options.attempts || this.#saved < 1) return false;
    this.#saved -= 1;
    return true;
  }
}

/**
 * Milliseconds to wait before trying again, or undefined if the provider asks for more patience than
 * is ours to spend. `random` is a number from 0 to 1, for the jitter.
 */
export function retryWaitMs(
  retryAfter: string | undefined,
  attemptsMade: number,
  random: number,
  nowMs: number,
): number | undefined {
  const asked = retryAfter === undefined ? undefined : retryAfterMs(retryAfter, nowMs);
  if (asked !== undefined) return asked > capS * 1_000 ? undefined : asked * (1 + random / 10);
  return firstWaitMs * 2 ** (attemptsMade - 1) * (0.5 + random / 2);
}

/** Retry-After in milliseconds: seconds or an HTTP date (RFC 9110, section 10.2.3). */
export function retryAfterMs(value: string, nowMs: number): number | undefined {
  const text = value.trim();
  if (/^-?\d+(?:\.\d+)?$/.test(text)) return Math.max(0, Number(text) * 1_000);
  // Date.parse makes dates of nearly anything; those meant here name their month.
  if (!/\b[A-Z][a-z]{2}\b/.test(text)) return undefined;
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, date - nowMs);
}
