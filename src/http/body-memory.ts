import { GatewayError } from '../errors.ts';

/**
 * Counts the bytes of request bodies that are in memory or announced, per key. A key may hold at most as much as is
 * still free, so one key alone gets half of the capacity, two get a third each, and a newcomer always finds room
 * ("dynamic threshold", Choudhury and Hahne, IEEE/ACM Transactions on Networking 6, 1998).
 */
export class BodyMemory {
  readonly #byKey = new Map<string, number>();
  #total = 0;

  /** An account for one request of a key; `capacity` is in bytes, for all keys together. */
  open(keyId: string, capacity: number): HeldBytes {
    let held = 0;
    return {
      add: (bytes) => {
        const ofKey = this.#byKey.get(keyId) ?? 0;
        if (ofKey + bytes > capacity - this.#total) throw noRoom();
        this.#byKey.set(keyId, ofKey + bytes);
        this.#total += bytes;
        held += bytes;
      },
      release: () => {
        const left = (this.#byKey.get(keyId) ?? 0) - held;
        if (left > 0) this.#byKey.set(keyId, left);
        else this.#byKey.delete(keyId);
        this.#total -= held;
        held = 0;
      },
    };
  }
}

/** The bytes that one request holds. */
export interface HeldBytes {
  /** Throws gateway.overloaded, and adds nothing, if the key's share is used up. */
  add(bytes: number): void;
  /** Gives all of them back. */
  release(): void;
}

function noRoom(): GatewayError {
  const message =
    'the open requests of this key hold all the memory that is free for request bodies; try again when some are over (server.limits.bodies_in_flight)';
  return new GatewayError('gateway.overloaded', message, { retryAfterS: 1 });
}
