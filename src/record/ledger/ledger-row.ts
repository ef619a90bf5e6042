/** Written before a provider is called: who asked for what, and the most that it can use. */
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

/** The final row of an exchange that was sent to a provider, one for each request id. */
export interface LedgerRow extends Intent {
  readonly provider: string | null;
  readonly targetModel: string | null;
  readonly status: number;
  /** As in records; `unknown` if the gateway died meanwhile: then the amounts are the intent's. */
  readonly outcome: string;
  readonly decision: string | null;
  readonly reason: string | null;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  readonly reasoningTokens: number;
  readonly isEstimated: boolean;
  readonly firstByteMs: number | null;
  readonly totalMs: number | null;
}

/** One change of the ledger. `cancel` takes back an intent whose request was refused after all. */
export type LedgerChange =
  | { readonly kind: 'begin'; readonly intent: Intent }
  | { readonly kind: 'finish'; readonly row: LedgerRow }
  | { readonly kind: 'cancel'; readonly requestId: string };

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
