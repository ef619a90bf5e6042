import type { GatewayError } from '../errors.ts';

/** What a lifetime notifies when it ends. */
export interface EndListener {
  lifetimeEnded(reason: GatewayError): void;
}

/**
 * How long somebody waits for an answer: until the client disconnects, the server stops or a timeout passes. A minimal
 * AbortSignal; a real one costs more than the rest of an exchange's bookkeeping.
 */
export class Lifetime {
  #reason: GatewayError | undefined;
  /** Undefined as long as there was none: most steps have nothing to wait for. */
  #listeners: EndListener[] | undefined;

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
    this.#listeners = undefined;
    for (const listener of listeners ?? []) listener.lifetimeEnded(reason);
  }

  /** Calls back when it ends, immediately if it already has; returns a function that removes the listener. */
  onEnd(listener: (reason: GatewayError) => void): () => void {
    const follower = { lifetimeEnded: listener };
    this.add(follower);
    return () => this.remove(follower);
  }

  /** Notifies when it ends, immediately if it already has. */
  add(listener: EndListener): void {
    if (this.#reason !== undefined) listener.lifetimeEnded(this.#reason);
    else if (this.#listeners === undefined) this.#listeners = [listener];
    else this.#listeners.push(listener);
  }

  remove(listener: EndListener): void {
    const listeners = this.#listeners;
    if (listeners === undefined) return;
    const at = listeners.indexOf(listener);
    if (at < 0) return;
    // Nearly always it is the only one, or the last: `splice` would make a list of what it removes.
    if (at === listeners.length - 1) listeners.pop();
    else listeners.splice(at, 1);
  }
}
