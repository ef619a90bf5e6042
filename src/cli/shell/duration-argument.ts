import { InvalidArgumentError } from 'commander';

const unitMs = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;

/** Milliseconds of 90m, 24h, 7d or 4w. */
export function durationArgument(text: string): number {
  const [, amount, unit] = /^(\d{1,5})([mhdw])$/.exec(text) ?? [];
  if (amount === undefined || unit === undefined) {
    throw new InvalidArgumentError('expected a duration such as 90m, 24h, 7d or 4w');
  }
  return Number(amount) * unitMs[unit as keyof typeof unitMs]; // the pattern admits no other
}
