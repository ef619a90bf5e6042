import { PieceBudget } from './piece-budget.ts';

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
