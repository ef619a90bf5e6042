import { GatewayError } from '../../errors.ts';

const windowMs = 60_000;
const maxFailures = 10;

/** Limits wrong passwords: few enough to stop programs, enough that people don't notice. */
export class Throttle {
  #failures: number[] = [];
  readonly #nowMs: () => number;

  constructor(nowMs: () => number = Date.now) {
    this.#nowMs = nowMs;
  }

  /** Throws inspector.busy if too many were wrong within a minute. */
  check(): void {
    const sinceMs = this.#nowMs() - windowMs;
    this.#failures = this.#failures.filter((atMs) => atMs > sinceMs);
    if (this.#failures.length < maxFailures) return;
    throw new GatewayError('inspector.busy', 'too many wrong passwords; wait a minute', { retryAfterS: 60 });
  }

  noteFailure(): void {
    this.#failures.push(this.#nowMs());
  }
}
