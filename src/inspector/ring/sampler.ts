/** Of the unremarkable exchanges while nobody looks. */
const keptPerSecond = 50;

/**
 * Decides which of the exchanges are kept that nobody looks at and that no policy had a remark on: all of a burst,
 * then fifty a second. Above that rate the ring would reach back for a few seconds only, and keeping is what costs:
 * what outlives Node's young generation is copied twice.
 */
export class Sampler {
  readonly #burst: number;
  readonly #nowMs: () => number;
  #tokens: number;
  #filledMs: number;

  constructor({ burst, nowMs }: { readonly burst: number; readonly nowMs: () => number }) {
    this.#burst = burst;
    this.#nowMs = nowMs;
    this.#tokens = burst;
    this.#filledMs = nowMs();
  }

  /** Whether one more may be kept. */
  take(): boolean {
    if (this.#tokens < 1) this.#refill();
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }

  /** Somebody looks. */
  fill(): void {
    this.#tokens = this.#burst;
    this.#filledMs = this.#nowMs();
  }

  #refill(): void {
    const nowMs = this.#nowMs();
    // A clock that was set back must not stop it.
    const elapsedMs = Math.max(0, nowMs - this.#filledMs);
    this.#filledMs = nowMs;
    this.#tokens = Math.min(this.#burst, this.#tokens + (elapsedMs / 1_000) * keptPerSecond);
  }
}
