export interface BreakerOptions {
  /** Failures in a row that open it. */
  readonly failures: number;
  /** How long it stays open, in milliseconds, before one request may probe. */
  readonly openMs: number;
}

/** Keeps requests away from a provider that fails every time, and lets one through now and then to see. */
export class Breaker {
  readonly #options: BreakerOptions;
  #failuresInRow = 0;
  #openUntilMs = 0;
  #isProbing = false;

  constructor(options: BreakerOptions) {
    this.#options = options;
  }

  /** Whether `admit` would let a request pass now; asking changes nothing. */
  wouldAdmit(nowMs: number): boolean {
    return !this.isOpen || (nowMs >= this.#openUntilMs && !this.#isProbing);
  }

  /** Milliseconds until the next request may pass; 0 lets this one pass, and makes it the probe where one is due. */
  admit(nowMs: number): number {
    if (!this.isOpen) return 0;
    if (nowMs < this.#openUntilMs) return this.#openUntilMs - nowMs;
    if (this.#isProbing) return this.#options.openMs;
    this.#isProbing = true;
    return 0;
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

  /** The request said nothing about the provider's health (its client left first). */
  abstained(): void {
    this.#isProbing = false;
  }
}
