import { partitionPoint } from '../../lib/partition-point.ts';
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
    const rows = this.#rows;
    const index = partitionPoint(rows.length, (at) => (rows[at]?.seq ?? 0) < row.seq);
    rows.splice(index, rows[index]?.seq === row.seq ? 1 : 0, row);
    // In blocks, because removing one from the front moves all others.
    if (rows.length > maxRows + 500) rows.splice(0, rows.length - maxRows);
  }

  clear(): void {
    this.#rows = [];
  }
}
