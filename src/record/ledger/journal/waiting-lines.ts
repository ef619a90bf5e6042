import type { LedgerRow } from '../ledger-row.ts';

/** Lines that are not written yet. */
export interface Waiting {
  readonly text: string;
  readonly lines: number;
  /** What it says, if that is to be summed up. */
  readonly row?: LedgerRow | undefined;
  /** Set for a beginning, which fails with the write instead of waiting for the disk. */
  readonly fail?: (cause: Error) => void;
  /** It is written, or will be: there is no need to wait for it any more. */
  readonly done?: () => void;
}

/** Maximum characters that wait in memory while the disk can't be written. */
const maxLength = 64 * 1024 * 1024;

/** What waits in memory for a slow or failing disk, in its order and up to a bound. */
export class WaitingLines {
  #all: Waiting[] = [];
  #length = 0;
  #lost = 0;

  get isEmpty(): boolean {
    return this.#all.length === 0;
  }

  get lines(): number {
    return this.#all.reduce((sum, { lines }) => sum + lines, 0);
  }

  add(waiting: Waiting): void {
    if (this.#length + waiting.text.length > maxLength) {
      this.#lost += waiting.lines;
      return waiting.fail?.(new Error('too much waits to be written'));
    }
    this.#all.push(waiting);
    this.#length += waiting.text.length;
  }

  take(): readonly Waiting[] {
    const taken = this.#all;
    this.#all = [];
    this.#length = 0;
    return taken;
  }

  /** Before all others. */
  putBack(waiting: readonly Waiting[]): void {
    this.#all = [...waiting, ...this.#all];
    this.#length = this.#all.reduce((sum, { text }) => sum + text.length, 0);
  }

  /** Those that can fail do; the others go on waiting. */
  fail(cause: Error): void {
    const failed = this.#all.filter(({ fail }) => fail !== undefined);
    const kept = this.#all.filter(({ fail }) => fail === undefined);
    this.take();
    this.putBack(kept);
    for (const { done } of kept) done?.();
    for (const { fail } of failed) fail?.(cause);
  }

  /** How many lines found no room since the last call. */
  takeLost(): number {
    const lost = this.#lost;
    this.#lost = 0;
    return lost;
  }
}
