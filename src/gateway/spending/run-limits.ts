import { buildLimits, type KeyLimits } from '../../config/build/keys.ts';
import type { Run } from '../../lib/run-key.ts';

/** What `gateway run --budget` and `--requests` allow the runs that a request belongs to, beside the limits of its key. */
export function runLimits(runs: readonly Run[], key: string): readonly KeyLimits[] {
  return runs
    .filter(({ budget, requests }) => budget !== undefined || requests !== undefined)
    .map(({ id, budget, requests }) => {
      const limits = buildLimits('key', key, {
        ...(budget !== undefined && { usd_per_session: budget }),
        ...(requests !== undefined && { requests_per_session: requests }),
        mode: 'enforce',
        unpriced: 'refuse',
        time_zone: 'UTC',
      });
      return { ...limits, run: id };
    });
}
