import type { TickQueue } from '../../tick-queue.ts';

/** Undefined if all items are written when it returns; else settles once they are, or can't be. */
type Write<Item> = (items: readonly Item[]) => Promise<void> | undefined;

/** One write for what many exchanges write in the same tick of the event loop; while few are open, each writes at once. */
export class TickBatch<Item> {
  readonly #ticks: TickQueue;
  readonly #write: Write<Item>;
  #items: Item[] = [];
  #written: Promise<void> | undefined;
  #settle: (writing: Promise<void> | undefined) => void = () => undefined;

  constructor(ticks: TickQueue, write: Write<Item>) {
    this.#ticks = ticks;
    this.#write = write;
  }

  /** As `write` of this item. */
  add(item: Item): Promise<void> | undefined {
    if (!this.#ticks.isBusy && this.#items.length === 0) return this.#write([item]);
    if (this.#items.push(item) > 1) return this.#written;
    this.#written = new Promise((resolve) => {
      this.#settle = resolve;
    });
    this.#ticks.later(() => this.flush());
    return this.#written;
  }

  /** Writes what waits for the end of the tick now. */
  flush(): void {
    const items = this.#items;
    if (items.length === 0) return;
    this.#items = [];
    this.#settle(this.#write(items));
  }
}
