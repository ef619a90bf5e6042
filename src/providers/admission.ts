import { GatewayError } from '../errors.ts';
import type { Lifetime } from '../lifetime.ts';

interface Waiter {
  readonly enter: () => void;
}

/**
 * At most so many exchanges at one provider at a time; the others wait in line, for a while.
 */
export class Admission {
  readonly #limit: number;
  readonly #waitMs: number;
  readonly #line = new Set<Waiter>();
  #inside = 0;

  constructor(limit: number, waitMs: number) {
    this.#limit = limit;
    this.#waitMs = waitMs;
  }

  /** Exchanges that have a place. */
  get active(): number {
    return this.#inside;
  }

  /** Exchanges that wait for one. */
  get queued(): number {
    return this.#line.size;
  }

  /** Takes a place at once if there is one. Every place taken must be given back with `leave`. */
  tryEnter(): boolean {
    if (this.#inside >= this.#limit) return false;
    this.#inside += 1;
    return true;
  }

  /** Waits for a place. Throws gateway.overloaded after the time, and the lifetime's reason when that ends. */
  enter(lifetime: Lifetime): Promise<void> {
    return new Promise((resolve, reject) => {
      const settle = () => {
        this.#line.delete(waiter);
        clearTimeout(timer);
        forget();
      };
      const waiter: Waiter = {
        enter: () => {
          settle();
          resolve();
        },
      };
      const timer = setTimeout(() => {
        settle();
        const message = `no connection to the provider came free within ${this.#waitMs} ms`;
        reject(new GatewayError('gateway.overloaded', message, { retryAfterS: 1 }));
      }, this.#waitMs);
      this.#line.add(waiter);
      let forget: () => void = () => undefined;
      forget = lifetime.onEnd(() => {
        settle();
        reject(lifetime.reason);
      });
    });
  }

  leave(): void {
    const next = this.#line.values().next();
    // The place goes straight to who waits longest, so that nobody slips in between.
    if (next.done) this.#inside -= 1;
    else next.value.enter();
  }
}
