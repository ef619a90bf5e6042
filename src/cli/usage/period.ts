import { InvalidArgumentError } from 'commander';

/** A time that usage is summed up for, in milliseconds since 1970. */
export interface UsagePeriod {
  readonly sinceMs: number;
  /** Absent for one that lasts. */
  readonly untilMs?: number;
}

interface PeriodOptions {
  readonly since: number;
  readonly today?: true;
  /** True for the current month. */
  readonly month?: string | true;
}

/** Days and months are those of this machine's time zone. */
export function usagePeriod({ since, today, month }: PeriodOptions, now: Date): UsagePeriod {
  const year = now.getFullYear();
  if (today === true) return { sinceMs: new Date(year, now.getMonth(), now.getDate()).getTime() };
  if (month === undefined) return { sinceMs: now.getTime() - since };
  if (month === true) return { sinceMs: new Date(year, now.getMonth()).getTime() };
  const [inYear = 0, number = 0] = month.split('-').map(Number);
  return {
    sinceMs: new Date(inYear, number - 1).getTime(),
    untilMs: new Date(inYear, number).getTime(),
  };
}

export function monthArgument(text: string): string {
  if (/^20\d\d-(?:0[1-9]|1[0-2])$/.test(text)) return text;
  throw new InvalidArgumentError('expected a month such as 2026-10');
}
