const unitMs = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 } as const;

export const durationPattern = /^(\d{1,9}(?:\.\d{1,3})?)(ms|s|m|h)$/;

// Timers of Node turn anything longer into one millisecond.
const maxMs = 2 ** 31 - 1;

/** Milliseconds of `500ms`, `10s`, `5m` or `1h`; undefined if the text is not a duration, or longer than timers can wait. */
export function parseDuration(text: string): number | undefined {
  const [, amount, unit] = durationPattern.exec(text) ?? [];
  if (amount === undefined || unit === undefined) return undefined;
  const value = Math.round(Number(amount) * unitMs[unit as keyof typeof unitMs]); // the pattern admits no other
  return value <= maxMs ? value : undefined;
}
