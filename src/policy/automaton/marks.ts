/** The largest number that a mark holds: a process may go through more passes than that. */
const lastPass = 0x7fff_ffff;

/** Which nodes a pass over an NFA has met; nothing is cleared between passes. */
export class Marks {
  /** For each node the last pass that met it. */
  readonly last: Int32Array;
  #pass: number;

  /** `passes` is how many there have been; 0 but for tests. */
  constructor(count: number, passes = 0) {
    this.last = new Int32Array(count);
    this.#pass = passes;
  }

  /** The number of a pass that begins, in which no node has been met. */
  nextPass(): number {
    if (this.#pass === lastPass) {
      this.last.fill(0);
      this.#pass = 0;
    }
    this.#pass += 1;
    return this.#pass;
  }
}
