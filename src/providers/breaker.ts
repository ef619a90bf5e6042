export interface BreakerOptions {
  /** Failures in a row that open it. */
  readonly failures: number;
  /** How long it stays open, in milliseconds, before one request may probe. */
  readonly openMs: number;
}

/** Keeps requests away from what fails every time, and lets one through now and then to see. */
export class Breaker {
  readonly #options: BreakerOptions;
  #failuresInRow = 0;
  #openUntilMs = 0;
  #isProbing = false;

  constructor(options: BreakerOptions) {
    this.#options = options;
  }

  /** Milliseconds until the next request may pass; asking changes nothing. */
  waitMs(nowMs: number): number {
    if (!this.isOpen) return 0;
    if (nowMs < this.#openUntilMs) return this.#openUntilMs - nowMs;
    return this.#isProbing ? this.#options.openMs : 0;
  }

  /** Lets a request pass, for which there is nothing to wait; it is the probe where one is due. */
  admit(): void {
    this.#isProbing = this.isOpen;
  }

  get isOpen(): boolean {
    return this.#failuresInRow >= this.#options.failures;
  }

  succeeded(): void {
    this.#failuresInRow = 0;
    this.#isProbing = false;
  }

  failed(nowMs: number): void {
    this.#failuresInRow += 1;
    this.#isProbing = false;
    if (this.isOpen) this.#openUntilMs = nowMs + this.#options.openMs;
  }

  /** The request has no outcome (its client left first). */
  abstained(): void {
    this.#isProbing = false;
  }
}
