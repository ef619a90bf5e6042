import {
  type BudgetCounter,
  type Claim,
  type ReadSums,
  type RestoredSum,
  stateUnavailable,
} from './counters.ts';

/** An exchange under a budget waits no longer for the ledger. */
const longestMs = 2_000;

/**
 * What the ledger has for budgets that nobody has counted yet: at the start of a day, after a reload or a jump of the
 * clock. Throws limit.state_unavailable if it does not answer soon.
 */
export async function learn(
  read: ReadSums,
  budgets: readonly BudgetCounter[],
): Promise<readonly RestoredSum[]> {
  let late: NodeJS.Timeout | undefined;
  const tooLong = new Promise<never>((_, reject) => {
    late = setTimeout(() => reject(new Error('the ledger takes too long')), longestMs);
  });
  try {
    return await Promise.race([read(budgets), tooLong]);
  } catch (cause) {
    throw stateUnavailable('what the budget has used is not known: the ledger does not answer', { cause });
  } finally {
    clearTimeout(late);
  }
}

/** Whether an exchange must not go on without knowing what its budgets have used. */
export function mustKnow(claims: readonly Claim[]): boolean {
  return claims.some(({ isEnforced }) => isEnforced);
}
