import type { Config } from '../../config/config.ts';
import type { BudgetCounter } from '../../limits/counters.ts';
import { type LimitName, limitTable } from '../../limits/limit-table.ts';
import { planBudgets } from '../../limits/limiter.ts';
import { nanoUsdPerUsd } from '../../limits/price.ts';
import type { LedgerPlace } from '../../record/ledger/ledger-store.ts';
import { toWanted } from '../../server/ledger.ts';

/** A budget of a project or a key, with the names that scripts see. */
export interface BudgetUse {
  readonly scope: 'project' | 'key';
  readonly name: string;
  readonly limit: LimitName;
  /** `monitor` never refuses. */
  readonly mode: 'enforce' | 'monitor';
  /** In tokens or US$, as all amounts here. */
  readonly max: number;
  readonly used: number;
  /** The most that open requests may still use. */
  readonly reserved: number;
  readonly left: number;
  readonly resets_at: string;
}

/** The budgets of the current days and months, from the ledger, which has what every gateway that writes it has used. */
export async function readBudgets(
  { limits }: Pick<Config, 'limits'>,
  place: LedgerPlace,
  nowMs: number,
): Promise<readonly BudgetUse[]> {
  const { readBudgetSums } = await import('../../record/ledger/read-ledger.ts');
  const planned = planBudgets(limits).flatMap(({ limit, scope, max, budgetAt }) => {
    const counter = budgetAt?.(nowMs);
    return counter === undefined ? [] : [{ limit, max, counter, mode: scope.settings.mode }];
  });
  const { used, reserved } = await readBudgetSums(
    place,
    planned.map(({ counter }) => toWanted(counter)),
  );
  return planned.map(({ limit, max, counter, mode }, i) => {
    const amountIn = (sum: (typeof used)[number] | undefined) => sum?.[sumOf(counter)] ?? 0;
    const [spent, open] = [amountIn(used[i]), amountIn(reserved[i])];
    const inUnit = (amount: number) =>
      limitTable[limit].unit === 'nanoUsd' ? amount / nanoUsdPerUsd : amount;
    return {
      scope: counter.scope,
      name: counter.name,
      limit,
      mode,
      max: inUnit(max),
      used: inUnit(spent),
      reserved: inUnit(open),
      left: inUnit(Math.max(0, max - spent - open)),
      resets_at: new Date(counter.endsMs).toISOString(),
    };
  });
}

function sumOf({ unit }: BudgetCounter): 'nanoUsd' | 'tokens' {
  return unit === 'nanoUsd' ? 'nanoUsd' : 'tokens';
}
