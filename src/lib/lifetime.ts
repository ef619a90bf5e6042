import type { GatewayError } from '../errors.ts';

/**
 * How long somebody waits for an answer: until the client disconnects, the server stops or a timeout passes. A minimal
 * AbortSignal; a real one costs more than the rest of an exchange's bookkeeping.
 */
export class Lifetime {
  #reason: GatewayError | undefined;
  #listeners: ((reason: GatewayError) => void)[] = [];

  /** Why it is over; undefined while it lasts. */
  get reason(): GatewayError | undefined {
    return this.#reason;
  }

  /** Throws why it is over, if it is. */
  check(): void {
    if (this.#reason !== undefined) throw this.#reason;
  }

  /** Ends it; later calls do nothing. */
  end(reason: GatewayError): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    const listeners = this.#listeners;
    this.#listeners = [];
    for (const listener of listeners) listener(reason);
  }

  /** Calls back when it ends, immediately if it already has; returns a function that removes the listener. */
  onEnd(listener: (reason: GatewayError) => void): () => void {
    if (this.#reason !== undefined) {
      listener(this.#reason);
      return () => undefined;
    }
    this.#listeners.push(listener);
    return () => {
      const at = this.#listeners.indexOf(listener);
      if (at >= 0) this.#listeners.splice(at, 1);
    };
  }
}
