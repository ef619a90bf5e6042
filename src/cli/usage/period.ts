import { InvalidArgumentError } from 'commander';
import type { Config } from '../../config/config.ts';
import type { Calendar } from '../../limits/limit-table.ts';
import { planBudgets } from '../../limits/limiter.ts';

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

export function usagePeriod(
  { since, today, month }: PeriodOptions,
  nowMs: number,
  calendar: Calendar,
): UsagePeriod {
  if (today === true) return { sinceMs: calendar.day(nowMs).startsMs };
  if (month === undefined) return { sinceMs: nowMs - since };
  if (month === true) return { sinceMs: calendar.month(nowMs).startsMs };
  // Its middle is in it everywhere.
  const { startsMs, endsMs } = calendar.month(Date.parse(`${month}-15`));
  return { sinceMs: startsMs, untilMs: endsMs };
}

/**
 * The time zone of the days and months that budgets have; undefined, which is this machine's, if there are none or their
 * zones differ.
 */
export function zoneOfBudgets({ limits }: Pick<Config, 'limits'>): string | undefined {
  const zones = new Set(planBudgets(limits).map(({ scope }) => scope.settings.time_zone));
  return zones.size === 1 ? [...zones][0] : undefined;
}

export function monthArgument(text: string): string {
  if (/^20\d\d-(?:0[1-9]|1[0-2])$/.test(text)) return text;
  throw new InvalidArgumentError('expected a month such as 2026-10');
}
