export interface BackoffLimits {
  readonly firstMs: number;
  readonly longestMs: number;
}

/**
 * How long to wait after so many failures in a row: doubled with each, less a random part of up to a half, so
 * that many clients of a lost server don't return at the same moment.
 */
export function backoffMs(
  failures: number,
  { firstMs, longestMs }: BackoffLimits,
  random = Math.random(),
): number {
  const fullMs = Math.min(longestMs, firstMs * 2 ** Math.min(failures - 1, 30));
  return fullMs * (1 - random / 2);
}
