const second = 1_000;
// The current second is not over, so 61 are needed to make sure that no 60 seconds exceed the limit.
const slots = 61;

/** The sum of the last minute, per second: exact to the second, and never too low. */
export class MinuteWindow {
  readonly #sums = new Float64Array(slots);
  #latest = Number.NEGATIVE_INFINITY;
  #total = 0;

  /** The sum of the minute before `nowMs`, on a clock that never goes back. */
  used(nowMs: number): number {
    this.#advance(Math.floor(nowMs / second));
    return this.#total;
  }

  /** Adds to the second of `atMs`; has no effect if that has already left the window. */
  add(amount: number, atMs: number): void {
    const at = Math.floor(atMs / second);
    this.#advance(at);
    if (at <= this.#latest - slots) return;
    const slot = ((at % slots) + slots) % slots;
    this.#sums[slot] = (this.#sums[slot] as number) + amount;
    this.#total += amount;
  }

  /** Milliseconds until at most `amount` is left in the window; 0 if that is already so. */
  waitMs(amount: number, nowMs: number): number {
    this.#advance(Math.floor(nowMs / second));
    // Backwards from the newest second: the one with which the sum exceeds `amount`, and all before it, must leave the
    // window.
    let kept = 0;
    for (let age = 0; age < slots; age += 1) {
      kept += this.#sums[(((this.#latest - age) % slots) + slots) % slots] as number;
      if (kept > amount) return (this.#latest - age + slots) * second - nowMs;
    }
    return 0;
  }

  #advance(to: number): void {
    if (to <= this.#latest) return;
    const passed = Math.min(slots, to - this.#latest);
    for (let step = 0; step < passed; step += 1) {
      const slot = (((to - step) % slots) + slots) % slots;
      this.#total -= this.#sums[slot] as number;
      this.#sums[slot] = 0;
    }
    this.#latest = to;
  }
}
