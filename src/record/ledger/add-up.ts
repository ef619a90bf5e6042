import type { Intent, KnownSum, WantedSum } from './ledger-row.ts';

/**
 * Sums are kept per quarter of an hour: in every time zone days begin at the start of one, so the sum of a day or a month
 * is exact everywhere. They outlive the rows, so that retention doesn't refund budgets.
 */
export const quarterMs = 900_000;

/** Longer than the longest budget, and long enough to compare a month with the same month of the last year. */
const keptMs = 400 * 86_400_000;

/** The number of the quarter that a time is in. */
export function quarterOf(ms: number): number {
  return Math.floor(ms / quarterMs);
}

/** The first quarter whose sums are kept. */
export function oldestQuarter(nowMs: number): number {
  return quarterOf(nowMs - keptMs);
}

export type Used = Pick<KnownSum, 'tokens' | 'nanoUsd'>;

/** Adds exchanges to what the database has for each sum. Linear in both. */
export function addUp(
  wanted: readonly WantedSum[],
  stored: readonly (Used | undefined)[],
  exchanges: readonly Intent[],
): readonly KnownSum[] {
  const sums = wanted.map((each, i) => ({ tokens: 0, nanoUsd: 0, ...stored[i], ...each }));
  const byName = new Map<string, (typeof sums)[number][]>();
  for (const sum of sums) {
    const id = `${sum.scope} ${sum.name}`;
    const named = byName.get(id);
    if (named === undefined) byName.set(id, [sum]);
    else named.push(sum);
  }
  for (const { project, keyId, startedMs, inputTokens, outputTokens, nanoUsd } of exchanges) {
    const quarter = quarterOf(startedMs);
    for (const sum of [byName.get(`project ${project}`) ?? [], byName.get(`key ${keyId}`) ?? []].flat()) {
      const { since, until } = quartersOf(sum);
      if (quarter < since || quarter >= until) continue;
      sum.tokens += inputTokens + outputTokens;
      sum.nanoUsd += nanoUsd ?? 0;
    }
  }
  return sums;
}

export function quartersOf({ sinceMs, untilMs }: WantedSum): {
  readonly since: number;
  readonly until: number;
} {
  return { since: quarterOf(sinceMs), until: quarterOf(untilMs) };
}
