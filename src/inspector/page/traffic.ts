import type { ExchangeRow } from '../contract/exchange-list.ts';

const maxRows = 10_000;

/** The exchanges that this page knows, oldest first; at most 10,000. */
export class Traffic {
  #rows: ExchangeRow[] = [];

  get rows(): readonly ExchangeRow[] {
    return this.#rows;
  }

  get(id: string): ExchangeRow | undefined {
    return this.#rows.findLast((row) => row.id === id);
  }

  /** Adds the row, or replaces the one of the same `seq`. */
  put(row: ExchangeRow): void {
    const index = this.#indexOf(row.seq);
    const isKnown = this.#rows[index]?.seq === row.seq;
    this.#rows.splice(index, isKnown ? 1 : 0, row);
    // In blocks, because removing one from the front moves all others.
    if (this.#rows.length > maxRows + 500) this.#rows.splice(0, this.#rows.length - maxRows);
  }

  clear(): void {
    this.#rows = [];
  }

  /** The index where the row of this `seq` is or would be; nearly always at the end. */
  #indexOf(seq: number): number {
    let low = 0;
    let high = this.#rows.length;
    if ((this.#rows[high - 1]?.seq ?? 0) < seq) return high;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#rows[middle]?.seq ?? 0) < seq) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
