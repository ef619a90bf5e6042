import type { StreamEvent } from './stream-event.ts';

/** A step on the way of a stream's events: it may change their texts and hold events back, and never their order. */
export interface Stage {
  /** Whether an event, or several, need not be read: nothing is held, and nothing in their text concerns it. */
  passes(events: string): boolean;
  /** The next events, all that came at once; returns those that may leave. */
  push(events: readonly StreamEvent[]): readonly StreamEvent[];
  /** The stream is over, as far as can be seen: returns what is still held. */
  end(): readonly StreamEvent[];
}
