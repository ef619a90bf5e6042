import type { Config } from '../../../config/config.ts';
import { GatewayError } from '../../../errors.ts';
import { type BudgetCounter, budgetCounters } from '../../../limits/budget-counters.ts';
import type { RestoredSum } from '../../../limits/redis-counters.ts';
import type { Ledger, LedgerEvent } from '../../../record/ledger/ledger.ts';

/** Which ledger is kept; plain data, so that other processes open the same one. */
export interface LedgerSettings {
  readonly path: string;
  readonly days: number;
  readonly bytes: number;
}

interface OpenedLedger {
  readonly ledger: Ledger;
  readonly restored: readonly RestoredSum[];
}

type Log = (level: 'info' | 'error', message: string) => void;

/**
 * Opens the ledger and sums up what the budgets have used. A ledger that can't be opened is logged and tried again,
 * but with budgets that is config.invalid: nobody could say what is left of them.
 */
export async function openLedgerFor(
  { path, days, bytes }: LedgerSettings,
  limits: Config['limits'],
  log: Log,
): Promise<OpenedLedger> {
  const { openLedger } = await import('../../../record/ledger/ledger.ts');
  const budgets = budgetCounters(limits, Date.now());
  const { ledger, sums, problem } = await openLedger({
    path,
    retention: { days, bytes },
    wanted: budgets.map(({ scope, name, startsMs }) => ({ scope, name, sinceMs: startsMs })),
    onEvent: (event) => log(...describe(event, path)),
  });
  if (sums === undefined && budgets.length > 0) {
    await ledger.close();
    const advice = 'mend it, move it away, or set records.ledger: false';
    throw new GatewayError('config.invalid', `the ledger ${path} can't be opened (${problem}): ${advice}`);
  }
  return { ledger, restored: budgets.map((budget, i) => toRestored(budget, sums?.[i])) };
}

function toRestored(
  { counter, unit, endsMs }: BudgetCounter,
  sum: { readonly tokens: number; readonly nanoUsd: number } | undefined,
): RestoredSum {
  return { counter, endsMs, used: (unit === 'nanoUsd' ? sum?.nanoUsd : sum?.tokens) ?? 0 };
}

function describe(event: LedgerEvent, path: string): [level: 'info' | 'error', message: string] {
  switch (event.kind) {
    case 'failing':
      return [
        'error',
        `the ledger ${path} can not be written, so keys with a budget are refused: ${event.cause}`,
      ];
    case 'working':
      return ['info', `the ledger ${path} is written again`];
    case 'lost':
      return ['error', `${event.changes} changes of the ledger ${path} were lost: it could not be written`];
  }
}
