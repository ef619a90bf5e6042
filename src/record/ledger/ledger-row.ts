/** The beginning of an exchange: who asked for what, and the most that it can use. */
export interface Intent {
  readonly requestId: string;
  /** The time by which budgets count; the row has the same. */
  readonly startedMs: number;
  readonly project: string;
  readonly keyId: string;
  readonly endpoint: string;
  readonly model: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** In nano US$; null if no price is known. */
  readonly nanoUsd: number | null;
}

/** The end of an exchange that was sent to a provider, one for each request id. */
export interface LedgerRow extends Intent {
  readonly provider: string | null;
  readonly targetModel: string | null;
  readonly status: number;
  /** As in records; `unknown` if the gateway died meanwhile: then the amounts are the intent's. `summed`: see `counts`. */
  readonly outcome: string;
  readonly decision: string | null;
  readonly reason: string | null;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  readonly reasoningTokens: number;
  readonly isEstimated: boolean;
  readonly firstByteMs: number | null;
  readonly totalMs: number | null;
  /** Set if this is the sum of many exchanges whose own rows were given up for space. */
  readonly counts?: Counts;
}

/** How many exchanges a sum has, and how many of them are estimated or without a price. */
export interface Counts {
  readonly requests: number;
  readonly estimated: number;
  readonly unpriced: number;
}

/** A requested sum: all that a project or a key has used in a day or a month. */
export interface WantedSum {
  readonly scope: 'project' | 'key';
  readonly name: string;
  readonly sinceMs: number;
  /** What a clock that was ahead has entered after it belongs to another period. */
  readonly untilMs: number;
}

export interface KnownSum extends WantedSum {
  readonly tokens: number;
  readonly nanoUsd: number;
}

/** The row of an exchange whose end nobody knows: at its worst case. */
export function unknownRow(intent: Intent): LedgerRow {
  return {
    ...intent,
    provider: null,
    targetModel: null,
    status: 0,
    outcome: 'unknown',
    decision: null,
    reason: null,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
    reasoningTokens: 0,
    isEstimated: true,
    firstByteMs: null,
    totalMs: null,
  };
}
