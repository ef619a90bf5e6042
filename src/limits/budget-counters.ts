import type { KeyLimits } from '../config/build/keys.ts';
import type { Amounts } from './counters.ts';
import { limitTable } from './limit-table.ts';
import { planLimits } from './limiter.ts';

/** The counter of a budget's current day or month, and which past usage it must include. */
export interface BudgetCounter {
  readonly counter: string;
  readonly scope: KeyLimits['kind'];
  readonly name: string;
  readonly unit: keyof Amounts;
  readonly startsMs: number;
  readonly endsMs: number;
}

/** The counters that must not start at zero after a restart. */
export function budgetCounters(scopes: readonly KeyLimits[], nowMs: number): readonly BudgetCounter[] {
  return scopes.flatMap((scope) =>
    planLimits(scope).flatMap(({ limit, counter, calendar }) => {
      const row = limitTable[limit];
      if (!('period' in row)) return [];
      const { name: period, startsMs, endsMs } = calendar[row.period](nowMs);
      return [
        {
          counter: `${counter} ${period}`,
          scope: scope.kind,
          name: scope.name,
          unit: row.unit,
          startsMs,
          endsMs,
        },
      ];
    }),
  );
}
