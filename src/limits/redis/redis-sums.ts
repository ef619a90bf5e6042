import { BudgetLoader } from '../budget-loader.ts';
import type { BudgetCounter, ReadSums, RestoredSum } from '../counters.ts';
import type { ScriptedRedis } from './redis-connection.ts';
import { prefix } from './redis-settlement.ts';

/** Missing if Redis is new, or has lost its data; begins with the id of the server's run. */
export const filled = `${prefix}filled`;
/** Most commands that are sent without waiting for an answer. */
const atOnce = 500;

/** Writes what the ledger has of budgets into Redis; never lowers an existing sum. */
export class RedisSums {
  readonly #redis: ScriptedRedis;
  readonly #read: ReadSums | undefined;
  readonly #loader: BudgetLoader | undefined;
  #filling: Promise<string> | undefined;

  constructor(redis: ScriptedRedis, read: ReadSums | undefined) {
    this.#redis = redis;
    this.#read = read;
    this.#loader = read && new BudgetLoader(read, (sums) => this.#write(sums));
  }

  /**
   * Raises all budgets' counters to the ledger's sums, which include the worst case of everything that is open. Resolves
   * with the mark of the data set, which is `fresh` after the id of the server's run if it has no mark yet.
   */
  fill(fresh: string): Promise<string> {
    this.#filling ??= this.#fill(fresh).finally(() => {
      this.#filling = undefined;
    });
    return this.#filling;
  }

  async #fill(fresh: string): Promise<string> {
    // What was granted just before has its intent in the ledger by then.
    await new Promise((resolve) => setImmediate(resolve));
    const sums = await this.#read?.().catch((cause: unknown) => {
      throw new Error('the ledger does not answer, so nobody knows what budgets have used', { cause });
    });
    await this.#write(sums ?? []);
    const [runId, mark] = [await this.runId(), await this.#redis.get(filled)];
    if (mark?.startsWith(runId) === true) return mark;
    const next = `${runId} ${fresh}`;
    await this.#redis.set(filled, next);
    return next;
  }

  /** Creates or raises the counters of some budgets. Throws limit.state_unavailable if the ledger does not answer soon. */
  async load(budgets: readonly BudgetCounter[]): Promise<void> {
    await this.#loader?.load(budgets);
  }

  async #write(sums: readonly RestoredSum[]): Promise<void> {
    for (let from = 0; from < sums.length; from += atOnce) {
      await Promise.all(
        sums
          .slice(from, from + atOnce)
          .map(({ counter, used, endsMs }) => this.#redis.gatewayRestore(1, prefix + counter, used, endsMs)),
      );
    }
  }

  /** Identifies the run of the server; empty if it has none. */
  async runId(): Promise<string> {
    const info = await this.#redis.info('server').catch(() => ''); // not every service has it
    return /^run_id:(\w+)/m.exec(info)?.[1] ?? '';
  }
}
