import { GatewayError } from '../errors.ts';
import type { Lifetime } from '../lib/lifetime.ts';

/**
 * Limits how many exchanges a provider has at a time; the others wait in a queue, up to a timeout, which may be their own.
 */
export class Admission {
  readonly #limit: number;
  readonly #waitMs: number;
  readonly #queue = new Set<() => void>();
  #inside = 0;

  constructor(limit: number, waitMs: number) {
    this.#limit = limit;
    this.#waitMs = waitMs;
  }

  /** Exchanges that have a slot. */
  get active(): number {
    return this.#inside;
  }

  /** Exchanges that wait for a slot. */
  get queued(): number {
    return this.#queue.size;
  }

  /** Takes a slot if one is free. Every slot taken must be released with `leave`. */
  tryEnter(): boolean {
    if (this.#inside >= this.#limit) return false;
    this.#inside += 1;
    return true;
  }

  /** Waits for a slot. Throws gateway.overloaded after the timeout, and the lifetime's reason if it ends. */
  enter(lifetime: Lifetime, waitMs = this.#waitMs): Promise<void> {
    return new Promise((resolve, reject) => {
      const settle = () => {
        this.#queue.delete(enter);
        clearTimeout(timer);
        forget();
      };
      const enter = () => {
        settle();
        resolve();
      };
      const timer = setTimeout(() => {
        settle();
        const message = `no connection to the provider came free within ${waitMs} ms`;
        reject(new GatewayError('gateway.overloaded', message, { retryAfterS: 1 }));
      }, waitMs);
      this.#queue.add(enter);
      let forget: () => void = () => undefined;
      forget = lifetime.onEnd(() => {
        settle();
        reject(lifetime.reason);
      });
    });
  }

  leave(): void {
    const next = this.#queue.values().next();
    // The slot goes directly to the longest waiter, so that no other request can overtake it.
    if (next.done) this.#inside -= 1;
    else next.value();
  }
}
