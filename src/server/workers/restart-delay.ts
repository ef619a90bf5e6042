const firstMs = 100;
const longestMs = 10_000;
/** Milliseconds; a worker that lived this long did not die because of how it was started. */
const steadyMs = 30_000;

/** Counts deaths in a row, including this one, after which the next process is likely to die too. */
export function countDeath(before: number, livedMs: number): number {
  return livedMs >= steadyMs ? 1 : before + 1;
}

/** How long to wait before the next process, in milliseconds: doubled with each death in a row. */
export function restartDelayMs(deathsInRow: number): number {
  return Math.min(longestMs, firstMs * 2 ** (deathsInRow - 1));
}
