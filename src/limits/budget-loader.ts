import {
  type BudgetCounter,
  type Claim,
  type ReadSums,
  type RestoredSum,
  stateUnavailable,
} from './counters.ts';

/** An exchange under a budget waits no longer for the ledger. */
const maxMs = 2_000;

/**
 * Loads from the ledger the usage of budgets that have no counter yet: at the start of a day, after a reload or a
 * jump of the clock.
 */
export class BudgetLoader {
  readonly #read: ReadSums;
  readonly #write: (sums: readonly RestoredSum[]) => unknown;
  /** By counter. */
  readonly #running = new Map<string, Promise<unknown>>();
  /** What is read after the current read: at midnight all budgets ask at once. */
  #next: { readonly budgets: BudgetCounter[]; readonly done: Promise<unknown> } | undefined;
  #last: Promise<unknown> = Promise.resolve();

  /** `write` keeps what the ledger has. */
  constructor(read: ReadSums, write: (sums: readonly RestoredSum[]) => unknown) {
    this.#read = read;
    this.#write = write;
  }

  /** Throws limit.state_unavailable if the ledger does not answer soon; what it answers later is kept all the same. */
  async load(budgets: readonly BudgetCounter[]): Promise<void> {
    for (const budget of budgets) if (!this.#running.has(budget.counter)) this.#add(budget);
    const loaded = Promise.all(budgets.map(({ counter }) => this.#running.get(counter)));
    let late: NodeJS.Timeout | undefined;
    const tooLong = new Promise<never>((_, reject) => {
      late = setTimeout(() => reject(new Error('the ledger takes too long')), maxMs);
    });
    try {
      await Promise.race([loaded, tooLong]);
    } catch (cause) {
      throw stateUnavailable('what the budget has used is not known: the ledger does not answer', { cause });
    } finally {
      clearTimeout(late);
    }
  }

  #add(budget: BudgetCounter): void {
    this.#next ??= this.#readLater([]);
    this.#next.budgets.push(budget);
    this.#running.set(budget.counter, this.#next.done);
  }

  #readLater(budgets: BudgetCounter[]): {
    readonly budgets: BudgetCounter[];
    readonly done: Promise<unknown>;
  } {
    const read = async () => {
      this.#next = undefined;
      try {
        await this.#write(await this.#read(budgets));
      } finally {
        for (const { counter } of budgets) this.#running.delete(counter);
      }
    };
    const done = this.#last.then(read, read);
    this.#last = done;
    return { budgets, done };
  }
}

/** Whether an exchange must not go on without knowing what its budgets have used. */
export function mustKnow(claims: readonly Claim[]): boolean {
  return claims.some(({ isEnforced }) => isEnforced);
}
