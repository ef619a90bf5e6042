import type { StreamEvent } from './stream-event.ts';

/**
 * A step on the way of a stream's events: it may change their texts and hold events back, and never their order.
 *
 * @example
 * ```ts
 * // Holds everything until the stream has ended.
 * class Late implements Stage {
 *   readonly #held: StreamEvent[] = [];
 *   passes() { return false; }
 *   push(events: readonly StreamEvent[]) { this.#held.push(...events); return []; }
 *   end() { return this.#held.splice(0); }
 * }
 * ```
 */
export interface Stage {
  /** Whether an event, or several, need not be read: nothing is held, and nothing in their text concerns it. */
  passes(events: string): boolean;
  /** The next events, all that came at once; returns those that may leave. */
  push(events: readonly StreamEvent[]): readonly StreamEvent[];
  /** The stream is over, as far as can be seen: returns what is still held. */
  end(): readonly StreamEvent[];
}
