import type { Socket } from 'node:net';
import type { Done } from './response.ts';

/** Who has got bytes and takes them when it is told to; nothing where they are taken already. */
export interface Taker {
  takeArrived(): void;
}

/** What comes so soon after the last work that the loop can't have slept between, in milliseconds. */
const togetherMs = 0.02;
/** How long work may go on, and written bytes be held, while others wait, in milliseconds. */
const longestMs = 1;
/** Reading and handling more than that is work enough to be done at once. */
const largeBytes = 16 * 1024;

/**
 * Turns of the event loop. What arrives in one is taken together at its end, and what is written for it leaves
 * together: each step finds the processor's caches filled by the one before, and who waits at the other end is
 * woken once (docs/decisions/turns.md). Who comes alone is served at once, since waiting would gain nothing.
 */
export class Turn {
  #waiting: Taker[] = [];
  #held: Socket[] = [];
  /** Whether several came in the last turn. */
  #isBusy = false;
  /** While they are served; never while the loop reads, which could go on for long. */
  #isHolding = false;
  #heldSinceMs = 0;
  /** When the last work ended, by performance.now(). */
  #lastMs = 0;

  /** Lets bytes that have arrived be taken, now or with those of others; so many of them are there. */
  arrived(taker: Taker, bytes: number): void {
    const isAlone = !this.#isBusy && this.#waiting.length === 0;
    if (bytes > largeBytes || (isAlone && performance.now() - this.#lastMs > togetherMs)) {
      taker.takeArrived();
      this.#lastMs = performance.now();
      return;
    }
    if (this.#waiting.push(taker) === 1) this.#takeSoon();
  }

  /** Writes bytes, or a text of a character for each byte. False asks for a pause until the socket's `drain`. */
  write(socket: Socket, data: Buffer | string, done?: Done): boolean {
    if (this.#isHolding) this.#hold(socket);
    const mayGoOn = typeof data === 'string' ? socket.write(data, 'latin1', done) : socket.write(data, done);
    if (!this.#isHolding) this.#lastMs = performance.now();
    else if (performance.now() - this.#heldSinceMs > longestMs) this.#flush();
    return mayGoOn;
  }

  #hold(socket: Socket): void {
    if (socket.writableCorked > 0) return;
    socket.cork();
    if (this.#held.push(socket) === 1) this.#heldSinceMs = performance.now();
  }

  #takeSoon(): void {
    setImmediate(this.#takeAll);
    setImmediate(this.#release); // behind what those who take them write at once
  }

  readonly #takeAll = (): void => {
    const takers = this.#waiting;
    this.#waiting = [];
    this.#isBusy = takers.length > 1;
    this.#isHolding = this.#isBusy;
    const startedAt = performance.now();
    let taken = 0;
    do {
      takers[taken]?.takeArrived();
      taken += 1;
    } while (taken < takers.length && performance.now() - startedAt < longestMs);
    this.#lastMs = performance.now();
    if (taken === takers.length) return;
    // Others' bytes are read between; those who came first stay first.
    this.#waiting = [...takers.slice(taken), ...this.#waiting];
    this.#takeSoon();
  };

  readonly #release = (): void => {
    this.#isHolding = false;
    this.#flush();
  };

  #flush(): void {
    if (this.#held.length === 0) return;
    const held = this.#held;
    this.#held = [];
    for (const socket of held) socket.uncork();
    this.#lastMs = performance.now();
  }
}
