/** With at most this many open exchanges there is nothing to batch, and waiting would only add latency. */
const fewOpen = 4;

/**
 * Batches the steps of many open exchanges at the end of the event loop's tick: one step of all of them, then the next
 * one of all, so that code and data stay in the CPU's caches, unlike when each exchange runs from its request to its
 * answer. At 64 connections that saves a third of the CPU time (docs/decisions/http-server.md); if few exchanges are
 * open, each step runs immediately. To understand the program, read `later` as a plain call.
 */
export class TickQueue {
  /** Shared by all answers, whichever host sends them. */
  readonly pieces: PieceBudget;
  #open = 0;
  #steps: (() => void)[] = [];

  constructor(pieces = new PieceBudget()) {
    this.pieces = pieces;
  }

  /** An exchange begins. */
  enter(): void {
    this.#open += 1;
  }

  /** It is over. */
  leave(): void {
    this.#open -= 1;
  }

  /** Whether a step may wait for the end of the tick. */
  get isBusy(): boolean {
    return this.#open > fewOpen;
  }

  /** Runs a step at the end of the tick, after those that are waiting. */
  later(step: () => void): void {
    if (this.#steps.push(step) === 1) setImmediate(() => this.#run());
  }

  /** Runs a step when what is being read is read, and where many exchanges are open, at the end of the tick. */
  soon(step: () => void): void {
    if (this.isBusy) this.later(step);
    else process.nextTick(step);
  }

  #run(): void {
    const steps = this.#steps;
    this.#steps = [];
    let taken = 0;
    try {
      for (const step of steps) {
        taken += 1;
        step();
      }
    } finally {
      // One that throws must not take the others with it.
      for (const step of steps.slice(taken)) this.later(step);
    }
  }
}

/** Pieces of answers that are handled in one tick, 10 to 20 ms of work: each pause costs one or two more. */
const defaultPieces = 32_768;
/** How many pieces a millisecond of other work counts as. */
const piecesPerMs = 2_048;
/** How many bytes of a stream that is passed on take as long as a piece. */
const bytesPerPiece = 128;

/** An answer that pauses until there is time for it. */
export interface Paused {
  goOn(): void;
}

/**
 * Shares the event loop among answers that come faster than they are handled: when a tick's budget is used up, each
 * further answer pauses, and in each tick the next one gets a budget of its own. So however many hosts send single bytes,
 * or long streams, as fast as they can, what needs no host waits for milliseconds, and an answer for one tick for each
 * that paused before it.
 */
export class PieceBudget {
  readonly #pieces: number;
  #left: number;
  /** The budget is renewed at the end of the tick in which half of it is used up: ticks that use little cost nothing. */
  #isRenewalDue = false;
  readonly #waiting: Paused[] = [];

  constructor(pieces = defaultPieces) {
    this.#pieces = pieces;
    this.#left = pieces;
  }

  /** Counts a piece. False asks for a pause: the answer goes on in a later tick. */
  take(bytes: number, answer: Paused): boolean {
    this.#use(1 + bytes / bytesPerPiece);
    return this.hasLeft(answer);
  }

  /** Counts the time that pieces took which cost more than others. */
  spend(milliseconds: number): void {
    this.#use(milliseconds * piecesPerMs);
  }

  /** Whether there is time in this tick. If not, the answer goes on in a later one. */
  hasLeft(answer: Paused): boolean {
    if (this.#left > 0) return true;
    this.#waiting.push(answer);
    return false;
  }

  #use(pieces: number): void {
    this.#left -= pieces;
    if (this.#left <= this.#pieces / 2 && !this.#isRenewalDue) this.#renewLater();
  }

  #renewLater(): void {
    this.#isRenewalDue = true;
    setImmediate(() => {
      this.#left = this.#pieces;
      const next = this.#waiting.shift();
      this.#isRenewalDue = this.#waiting.length > 0;
      if (this.#isRenewalDue) this.#renewLater();
      next?.goOn();
    });
  }
}
