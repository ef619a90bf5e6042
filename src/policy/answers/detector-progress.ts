/** A detector that rules on answers use. */
export interface StreamDetector {
  readonly number: number;
  /** Its longest usual match, in characters. */
  readonly reach: number;
  /** Whether it has to see every text. */
  readonly isAlways: boolean;
}

/**
 * Most characters that a match begins before what a detector recognizes from afar (`-----BEGIN EC` before `PRIVATE KEY`),
 * with room for invisible ones. Where nothing of that has come, no more are held back, however long a match may be.
 */
const maxLead = 512;

/**
 * How far a detector has read a text: it runs where its prefilter was seen nearby, on what has come since the last time
 * with what may belong to it on either side.
 */
export class DetectorProgress {
  readonly number: number;
  /** Every match that begins before this position is known. */
  complete = 0;
  /** Where the prefilter was seen last. */
  lastHit: number;
  readonly #reach: number;
  readonly #context: number;
  #next = 0;

  /** `context`: characters before a match that may say what it is. */
  constructor({ number, reach, isAlways }: StreamDetector, context: number) {
    this.number = number;
    this.#reach = reach;
    this.#context = context;
    this.lastHit = isAlways ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY;
  }

  /** Where the text begins that it has to read now; undefined if there is nothing to be found. */
  begin(length: number, isClosed: boolean): number | undefined {
    if (this.lastHit < this.complete - this.#context) {
      this.complete = Math.max(this.complete, isClosed ? length : length - Math.min(this.#reach, maxLead));
      return undefined;
    }
    this.#next = isClosed ? length : length - this.#reach;
    if (this.#next <= this.complete) return undefined;
    // Each run reads the reach once more.
    if (!isClosed && this.#next - this.complete < this.#reach >> 4) return undefined;
    return this.complete - this.#context;
  }

  /** Whether a range that was found now is new, and would not be another one if more text came. */
  isComplete(start: number, end: number): boolean {
    return start < this.#next && end > this.complete;
  }

  finish(): void {
    this.complete = this.#next;
  }
}
