export interface BreakerOptions {
  /** Failures in a row that open it. */
  readonly failures: number;
  /** How long it stays open, in milliseconds, before one request may probe. */
  readonly openMs: number;
}

const followerShare = 1.1;

/** Keeps requests away from what fails every time, and lets one through now and then to see. */
export class Breaker {
  readonly #options: BreakerOptions;
  readonly #onChange: (isOpen: boolean) => void;
  #failuresInRow = 0;
  #openUntilMs = 0;
  #isProbing = false;

  /** `onChange` is called when it opens or sends its probe, and when it closes; not for what it follows. */
  constructor(options: BreakerOptions, onChange: (isOpen: boolean) => void = () => undefined) {
    this.#options = options;
    this.#onChange = onChange;
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
    if (this.#isProbing) this.#onChange(true);
  }

  get isOpen(): boolean {
    return this.#failuresInRow >= this.#options.failures;
  }

  succeeded(): void {
    const wasOpen = this.isOpen;
    this.#failuresInRow = 0;
    this.#isProbing = false;
    if (wasOpen) this.#onChange(false);
  }

  failed(nowMs: number): void {
    this.#failuresInRow += 1;
    this.#isProbing = false;
    if (!this.isOpen) return;
    this.#openUntilMs = nowMs + this.#options.openMs;
    this.#onChange(true);
  }

  /** Another process's breaker for the same opened or closed. Whoever opened it probes first; this one waits longer. */
  follow(isOpen: boolean, nowMs: number): void {
    this.#failuresInRow = isOpen ? this.#options.failures : 0;
    this.#isProbing = false;
    if (isOpen) this.#openUntilMs = nowMs + this.#options.openMs * followerShare;
  }

  /** The request has no outcome (its client left first). */
  abstained(): void {
    this.#isProbing = false;
  }
}
