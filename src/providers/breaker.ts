export interface BreakerOptions {
  /** Failures in a row that open it. */
  readonly failures: number;
  /** How long it stays open, in milliseconds, before one request may probe. */
  readonly openMs: number;
}

const followerShare = 1.1;

/** Blocks requests to something that keeps failing, and lets one through now and then as a probe. */
export class Breaker {
  readonly #options: BreakerOptions;
  readonly #onChange: (isOpen: boolean) => void;
  #failuresInRow = 0;
  #openUntilMs = 0;
  #isProbing = false;

  /** `onChange` is called when it opens or sends its probe, and when it closes; not for changes it gets from others. */
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

  /** Lets a request pass, to be called if there is no wait; the request is the probe if one is due. */
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

  /** Another process's breaker for the same host or model opened or closed. That process probes first; this one waits longer. */
  follow(isOpen: boolean, nowMs: number): void {
    this.#failuresInRow = isOpen ? this.#options.failures : 0;
    this.#isProbing = false;
    if (isOpen) this.#openUntilMs = nowMs + this.#options.openMs * followerShare;
  }

  /** The request has no outcome (its client disconnected first). */
  abstained(): void {
    this.#isProbing = false;
  }
}
