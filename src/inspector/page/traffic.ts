import type { ExchangeRow } from '../contract/exchange-list.ts';
import type { NowAnswer } from '../contract/now.ts';

export const maxRows = 10_000;

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

const minuteMs = 60_000;
const minutesShown = 60;

/** Whether there are minutes between those that are known and those of an event. */
export function hasGap(known: NowAnswer | undefined, update: NowAnswer): boolean {
  const last = known?.minutes.at(-1)?.time;
  const first = update.minutes[0]?.time;
  return last !== undefined && first !== undefined && Date.parse(first) - Date.parse(last) > minuteMs;
}

/** Merges an event's minutes, the newest two only, into those that are known; those before a gap are dropped. */
export function mergeNow(known: NowAnswer | undefined, update: NowAnswer): NowAnswer {
  if (known === undefined || hasGap(known, update)) return update;
  const first = update.minutes[0]?.time ?? '';
  const older = known.minutes.filter(({ time }) => time < first);
  return { ...update, minutes: [...older, ...update.minutes].slice(-minutesShown) };
}
