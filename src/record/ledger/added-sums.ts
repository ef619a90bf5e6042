import type { SqliteValue } from '../../database/sqlite-engine.ts';
import { type Counts, type LedgerRow, quarterMs, quarterOf, unknownRow } from './ledger-row.ts';

type Writable<Type> = { -readonly [Field in keyof Type]: Type[Field] };
type Sum = Writable<Omit<LedgerRow, 'nanoUsd' | 'counts'>> & {
  nanoUsd: number;
  readonly counts: Writable<Counts>;
};

/**
 * What rows add to the sums, each as a row of its own without an id: most rows of a transaction share a few sums, each of
 * which is written once. Sorted, so that gateways that add to the same ones can't deadlock.
 */
export function addedSums(rows: readonly LedgerRow[]): readonly (LedgerRow & Pick<Sum, 'counts'>)[] {
  const sums = new Map<string, Sum>();
  for (const row of rows) {
    const id = [quarterOf(row.startedMs), row.project, row.keyId, row.model].join('\n'); // clean texts have no ends of lines
    const known = sums.get(id) ?? emptySum(row);
    if (known.counts.requests === 0) sums.set(id, known);
    add(known, row);
  }
  return [...sums].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, sum]) => sum);
}

/** The values of a sum, in the order of `sumColumns`. */
export function sumValues(sum: LedgerRow & Pick<Sum, 'counts'>): readonly SqliteValue[] {
  const { requests, estimated, unpriced } = sum.counts;
  return [
    ...[quarterOf(sum.startedMs), sum.project, sum.keyId, sum.model],
    ...[requests, sum.inputTokens, sum.outputTokens, sum.cacheReadTokens, sum.cacheWriteTokens],
    ...[sum.reasoningTokens, sum.nanoUsd, estimated, unpriced],
  ];
}

function emptySum({ startedMs, project, keyId, model }: LedgerRow): Sum {
  const nothing = { requestId: '', endpoint: '', inputTokens: 0, outputTokens: 0, nanoUsd: 0 };
  return {
    ...unknownRow({ ...nothing, startedMs: quarterOf(startedMs) * quarterMs, project, keyId, model }),
    nanoUsd: 0,
    outcome: 'summed',
    isEstimated: false,
    counts: { requests: 0, estimated: 0, unpriced: 0 },
  };
}

function add(sum: Sum, row: LedgerRow): void {
  sum.inputTokens += row.inputTokens;
  sum.outputTokens += row.outputTokens;
  sum.cacheReadTokens += row.cacheReadTokens;
  sum.cacheWriteTokens += row.cacheWriteTokens;
  sum.reasoningTokens += row.reasoningTokens;
  sum.nanoUsd += row.nanoUsd ?? 0;
  sum.isEstimated ||= row.isEstimated;
  sum.counts.requests += row.counts?.requests ?? 1;
  sum.counts.estimated += row.counts?.estimated ?? (row.isEstimated ? 1 : 0);
  sum.counts.unpriced += row.counts?.unpriced ?? (row.nanoUsd === null ? 1 : 0);
}
