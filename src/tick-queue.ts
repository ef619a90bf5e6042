/** With no more open than this nothing comes together, and the event loop's next phase would only come later. */
const fewOpen = 4;

/**
 * Steps that many open exchanges take together, at the end of the event loop's tick: one step of all of them, then
 * the next one of all, finds its code and data in the processor's caches, where an exchange followed from its request
 * to its answer finds them cold. At 64 connections that saves a third of the CPU time (docs/decisions/http-server.md);
 * where few exchanges are open, each step is taken at once. To read the program, take `later` as a plain call.
 */
export class TickQueue {
  #open = 0;
  #steps: (() => void)[] = [];

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

  /** Takes a step at the end of the tick, behind those that are waiting. */
  later(step: () => void): void {
    if (this.#steps.push(step) === 1) setImmediate(() => this.#run());
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
