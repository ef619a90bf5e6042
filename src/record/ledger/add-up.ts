import type { Intent, KnownSum, WantedSum } from './ledger-row.ts';
import { quarterOf } from './quarters.ts';

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
