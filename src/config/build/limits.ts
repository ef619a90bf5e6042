import type * as z from 'zod';
import type { limitsSchema } from '../schema/limits.ts';

/** What a project or a key may use; money in nano US$, which add up exactly. */
export type LimitsConfig = z.output<typeof limitsSchema>;

const nanoUsdPerUsd = 1_000_000_000;

export function buildLimits(limits: LimitsConfig): LimitsConfig {
  const { usd_per_day: day, usd_per_month: month } = limits;
  return {
    ...limits,
    ...(day !== undefined && { usd_per_day: Math.round(day * nanoUsdPerUsd) }),
    ...(month !== undefined && { usd_per_month: Math.round(month * nanoUsdPerUsd) }),
  };
}
