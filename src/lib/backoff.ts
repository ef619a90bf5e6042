/** Waits before a supervised process is started again. */
export const restarts: BackoffLimits = { firstMs: 100, maxMs: 10_000 };
/** A process that lived this long did not die because of how it was started. */
const steadyMs = 30_000;

export interface BackoffLimits {
  readonly firstMs: number;
  readonly maxMs: number;
}

/**
 * How long to wait after `failures` in a row: doubled with each, less a random part of up to a half, so
 * that many clients of a lost server don't return at the same moment.
 */
export function backoffMs(
  failures: number,
  { firstMs, maxMs }: BackoffLimits,
  random = Math.random(),
): number {
  const fullMs = Math.min(maxMs, firstMs * 2 ** Math.min(failures - 1, 30));
  return fullMs * (1 - random / 2);
}

/** Deaths of a supervised process in a row, including this one, after which the next is likely to die too. */
export function countDeath(before: number, livedMs: number): number {
  return livedMs >= steadyMs ? 1 : before + 1;
}
