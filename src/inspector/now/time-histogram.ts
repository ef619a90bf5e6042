// From 0.1 ms on, each step 1.15 times the one before: 120 of them reach 30 minutes.
const firstMs = 0.1;
const growth = 1.15;
const steps = 120;
const perStep = 1 / Math.log(growth);

/** Times in steps of a fixed ratio: percentiles within 7 % from half a kilobyte, however many there were. */
export class TimeHistogram {
  #counts: Uint32Array | undefined;
  #total = 0;

  add(ms: number): void {
    this.#counts ??= new Uint32Array(steps);
    const step = Math.min(steps - 1, Math.max(0, Math.floor(Math.log(ms / firstMs) * perStep)));
    this.#counts[step] = (this.#counts[step] ?? 0) + 1;
    this.#total += 1;
  }

  /** The time that a share of all stay below, by the middle of its step; undefined where there are none. */
  percentile(share: number): number | undefined {
    let left = Math.ceil(this.#total * share);
    if (this.#counts === undefined || left === 0) return undefined;
    const step = this.#counts.findIndex((count) => {
      left -= count;
      return left <= 0;
    });
    return Math.round(firstMs * growth ** (step + 0.5) * 10) / 10;
  }
}
