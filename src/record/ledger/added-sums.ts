import type { SqliteValue } from '../../database/sqlite-engine.ts';
import type { LedgerRow } from './ledger-row.ts';
import { quarterOf } from './quarters.ts';

/** What rows add to the sums: most rows of a transaction share a few sums, each of which is written once. */
export class AddedSums {
  readonly #rows = new Map<string, SqliteValue[]>();

  constructor(rows: readonly LedgerRow[]) {
    for (const row of rows) this.#add(row);
  }

  /** In the order of the columns of `sums`; sorted, so that gateways that add to the same ones can't deadlock. */
  rows(): readonly SqliteValue[][] {
    return [...this.#rows].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, values]) => values);
  }

  #add(row: LedgerRow): void {
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
}

/** In the order of `summed`. */
function amountsOf(row: LedgerRow): number[] {
  const { requests, estimated, unpriced } = row.counts ?? {
    requests: 1,
    estimated: row.isEstimated ? 1 : 0,
    unpriced: row.nanoUsd === null ? 1 : 0,
  };
  return [
    requests,
    row.inputTokens,
    row.outputTokens,
    row.cacheReadTokens,
    row.cacheWriteTokens,
    row.reasoningTokens,
    row.nanoUsd ?? 0,
    estimated,
    unpriced,
  ];
}
