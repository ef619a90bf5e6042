/** Pieces of answers that are handled in one tick, 10 to 20 ms of work: each pause costs one or two more. */
const defaultPieces = 32_768;
/** How many pieces a millisecond of other work counts as. */
const piecesPerMs = 2_048;
/** How many bytes of a stream that is passed on take as long as a piece. */
const bytesPerPiece = 128;

/**
 * Shares the event loop among answers that come faster than they are handled: when the budget is used up, each
 * further answer pauses, and in each tick the next one gets a budget of its own. Others wait for milliseconds, however
 * many hosts send single bytes, or long streams, as fast as they can.
 */
export class PieceBudget {
  readonly #pieces: number;
  #left: number;
  readonly #waiting: (() => void)[] = [];

  constructor(pieces = defaultPieces) {
    this.#pieces = pieces;
    this.#left = pieces;
  }

  /** Counts a piece. False asks for a pause until `resume` is called in a later tick. */
  take(bytes: number, resume: () => void): boolean {
    this.#left -= 1 + bytes / bytesPerPiece;
    return this.hasLeft(resume);
  }

  /** Counts the time that pieces took which cost more than others. */
  spend(milliseconds: number): void {
    this.#left -= milliseconds * piecesPerMs;
  }

  /** Whether there is time in this tick. If not, `resume` is called in a later one. */
  hasLeft(resume: () => void): boolean {
    if (this.#left > 0) return true;
    if (this.#waiting.push(resume) === 1) this.#schedule();
    return false;
  }

  #schedule(): void {
    setImmediate(() => {
      this.#left = this.#pieces;
      const resume = this.#waiting.shift();
      if (this.#waiting.length > 0) this.#schedule();
      resume?.();
    });
  }
}
