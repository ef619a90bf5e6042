import { GatewayError } from '../errors.ts';
import type { Lifetime } from '../lib/lifetime.ts';

interface Waiting {
  /** The longest time; by default that of all. */
  readonly waitMs?: number;
  /** Who waits: of several, each gets a slot in turn. */
  readonly whose?: string;
}

/**
 * Limits how many exchanges a provider has at a time; the others wait in a queue, up to a timeout, which may be their own.
 */
export class Admission {
  readonly #limit: number;
  readonly #waitMs: number;
  /** What each of those waits for who are told apart, in the order of their turns. None is empty. */
  readonly #queues = new Map<string, Set<() => void>>();
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
    let size = 0;
    for (const queue of this.#queues.values()) size += queue.size;
    return size;
  }

  /** Takes a slot if one is free. Every slot taken must be released with `leave`. */
  tryEnter(): boolean {
    if (this.#inside >= this.#limit) return false;
    this.#inside += 1;
    return true;
  }

  /** Waits for a slot. Throws gateway.overloaded after the timeout, and the lifetime's reason if it ends. */
  enter(lifetime: Lifetime, { waitMs = this.#waitMs, whose = '' }: Waiting = {}): Promise<void> {
    return new Promise((resolve, reject) => {
      const settle = () => {
        this.#remove(whose, enter);
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
      this.#add(whose, enter);
      let forget: () => void = () => undefined;
      forget = lifetime.onEnd(() => {
        settle();
        reject(lifetime.reason);
      });
    });
  }

  leave(): void {
    const [first] = this.#queues;
    if (first === undefined) {
      this.#inside -= 1;
      return;
    }
    const [whose, queue] = first;
    // Whoever has a turn waits for the next one behind all others.
    this.#queues.delete(whose);
    this.#queues.set(whose, queue);
    // The slot goes directly to the longest waiter, so that no other request can overtake it.
    const [enter] = queue;
    enter?.();
  }

  #add(whose: string, enter: () => void): void {
    const queue = this.#queues.get(whose);
    if (queue === undefined) this.#queues.set(whose, new Set([enter]));
    else queue.add(enter);
  }

  #remove(whose: string, enter: () => void): void {
    const queue = this.#queues.get(whose);
    queue?.delete(enter);
    if (queue?.size === 0) this.#queues.delete(whose);
  }
}
