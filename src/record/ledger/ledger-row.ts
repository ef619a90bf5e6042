// Rows have the names of their columns in the database.

/** The beginning of an exchange: who asked for what, and the most that it can use. */
export interface Intent {
  readonly request_id: string;
  /** The time by which budgets count; the row has the same. */
  readonly started_ms: number;
  readonly project: string;
  readonly key_id: string;
  readonly endpoint: string;
  readonly model: string;
  /** Who sent it, according to its client; the session is one of this key. */
  readonly session: string | null;
  readonly agent: string | null;
  readonly subagent: string | null;
  /** What started the subagent, or the session. */
  readonly parent: string | null;
  readonly input_tokens: number;
  readonly output_tokens: number;
  /** In nano US$; null if no price is known. */
  readonly nano_usd: number | null;
}

/** The end of an exchange that was sent to a provider, one for each request id. */
export interface LedgerRow extends Intent {
  readonly provider: string | null;
  readonly target_model: string | null;
  readonly status: number;
  /** As in records; `unknown` if the gateway died meanwhile: then the amounts are the intent's. */
  readonly outcome: string;
  readonly decision: string | null;
  readonly reason: string | null;
  readonly cache_read_tokens: number;
  readonly cache_write_tokens: number;
  readonly reasoning_tokens: number;
  /** Input and output tokens, those read from a cache by their price; null in rows of builds before sessions. */
  readonly new_tokens: number | null;
  readonly is_estimated: 0 | 1;
  readonly first_byte_ms: number | null;
  readonly total_ms: number | null;
}

/** A requested sum: all that a project or a key has used in a day or a month. */
export interface WantedSum {
  readonly scope: 'project' | 'key';
  readonly name: string;
  readonly sinceMs: number;
  /** What a clock that was ahead has entered after it belongs to another period. */
  readonly untilMs: number;
  /** Of this session of the key alone, whenever it was. */
  readonly session?: string | undefined;
}

export interface KnownSum extends WantedSum {
  readonly requests: number;
  readonly tokens: number;
  readonly newTokens: number;
  readonly nanoUsd: number;
}

/** The row of an exchange whose end is unknown: at its worst case. */
export function unknownRow(intent: Intent): LedgerRow {
  return {
    ...intent,
    provider: null,
    target_model: null,
    status: 0,
    outcome: 'unknown',
    decision: null,
    reason: null,
    cache_read_tokens: 0,
    cache_write_tokens: 0,
    reasoning_tokens: 0,
    new_tokens: intent.input_tokens + intent.output_tokens,
    is_estimated: 1,
    first_byte_ms: null,
    total_ms: null,
  };
}

/**
 * Sums are kept per quarter of an hour: in every time zone days begin at the start of one, so the sum of a day or a month
 * is exact everywhere. They outlive the rows, so that retention doesn't refund budgets.
 */
export const quarterMs = 900_000;

/** Longer than the longest budget, and long enough to compare a month with the same month of the last year. */
export const keptMs = 400 * 86_400_000;

/** The number of the quarter that a time is in. */
export function quarterOf(ms: number): number {
  return Math.floor(ms / quarterMs);
}

/** The first quarter whose sums are kept. */
export function oldestQuarter(nowMs: number): number {
  return quarterOf(nowMs - keptMs);
}

export type Used = Pick<KnownSum, 'requests' | 'tokens' | 'newTokens' | 'nanoUsd'>;
const nothingUsed: Used = { requests: 0, tokens: 0, newTokens: 0, nanoUsd: 0 };

/** Adds exchanges to what the database has for each sum. Linear in both. */
export function addUp(
  wanted: readonly WantedSum[],
  stored: readonly (Used | undefined)[],
  exchanges: readonly (Intent | LedgerRow)[],
): readonly KnownSum[] {
  const sums = wanted.map((each, i) => ({ ...nothingUsed, ...stored[i], ...each }));
  const byName = new Map<string, (typeof sums)[number][]>();
  for (const sum of sums) {
    const id = `${sum.scope} ${sum.name}`;
    const named = byName.get(id);
    if (named === undefined) byName.set(id, [sum]);
    else named.push(sum);
  }
  for (const exchange of exchanges) {
    const { project, key_id, started_ms, input_tokens, output_tokens, nano_usd } = exchange;
    const quarter = quarterOf(started_ms);
    const tokens = input_tokens + output_tokens;
    for (const sum of [byName.get(`project ${project}`) ?? [], byName.get(`key ${key_id}`) ?? []].flat()) {
      const { since, until } = quartersOf(sum);
      if (quarter < since || quarter >= until) continue;
      if (sum.session !== undefined && sum.session !== exchange.session) continue;
      sum.requests += 1;
      sum.tokens += tokens;
      sum.newTokens += ('new_tokens' in exchange ? exchange.new_tokens : undefined) ?? tokens;
      sum.nanoUsd += nano_usd ?? 0;
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
