import type { SqliteValue } from '../../database/sqlite-engine.ts';
import type { LedgerRow } from './ledger-row.ts';
import { quarterOf } from './quarters.ts';

/** What rows add to the sums: most rows of a transaction share a few sums, each of which is written once. */
export class AddedSums {
  readonly #rows = new Map<string, SqliteValue[]>();

  add(row: LedgerRow): void {
    const names = [quarterOf(row.startedMs), row.project, row.keyId, row.model];
    const amounts = amountsOf(row);
    const id = names.join('\n'); // clean texts have no ends of lines
    const known = this.#rows.get(id);
    if (known === undefined) {
      this.#rows.set(id, [...names, ...amounts]);
      return;
    }
    for (const [i, amount] of amounts.entries()) {
      known[names.length + i] = Number(known[names.length + i]) + amount;
    }
  }

  /** In the order of the columns of `sums`. */
  rows(): Iterable<SqliteValue[]> {
    return this.#rows.values();
  }
}

/** In the order of `summed`. */
function amountsOf(row: LedgerRow): number[] {
  return [
    1,
    row.inputTokens,
    row.outputTokens,
    row.cacheReadTokens,
    row.cacheWriteTokens,
    row.reasoningTokens,
    row.nanoUsd ?? 0,
    row.isEstimated ? 1 : 0,
    row.nanoUsd === null ? 1 : 0,
  ];
}
