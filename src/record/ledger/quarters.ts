/**
 * Sums are kept per quarter of an hour: in every time zone days begin at the start of one, so the sum of a day or a month
 * is exact everywhere. They outlive the rows, so that retention doesn't refund budgets.
 */
export const quarterMs = 900_000;

/** Longer than the longest budget, and long enough to compare a month with the same month of the last year. */
const keptMs = 400 * 86_400_000;

/** The number of the quarter that a time is in. */
export function quarterOf(ms: number): number {
  return Math.floor(ms / quarterMs);
}

/** The first quarter whose sums are kept. */
export function oldestQuarter(nowMs: number): number {
  return quarterOf(nowMs - keptMs);
}
