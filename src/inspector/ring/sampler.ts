/** How many unremarkable exchanges are kept per second while nobody is looking. */
const keptPerSecond = 5;

/**
 * Decides which of the unremarkable exchanges are kept while nobody looks: a burst as large as the ring, then five a
 * second. Above that rate the ring would reach back for seconds only, and keeping is what costs: whatever outlives
 * Node's young generation is copied twice, and makes that generation larger.
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

  /** Somebody is looking. */
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
