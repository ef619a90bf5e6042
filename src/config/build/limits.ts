import type * as z from 'zod';
import type { limitsSchema } from '../schema/limits.ts';

/** What a project or a key may use; money in nano US$, which add up exactly. */
export type LimitsConfig = z.output<typeof limitsSchema>;

const nanoUsdPerUsd = 1_000_000_000;

export function buildLimits(limits: LimitsConfig): LimitsConfig {
  // Spreading what zod made takes several times as long.
  const built: { -readonly [Name in keyof LimitsConfig]: LimitsConfig[Name] } = Object.assign({}, limits);
  if (built.usd_per_day !== undefined) built.usd_per_day = Math.round(built.usd_per_day * nanoUsdPerUsd);
  if (built.usd_per_month !== undefined)
    built.usd_per_month = Math.round(built.usd_per_month * nanoUsdPerUsd);
  return built;
}
