import { GatewayError } from '../errors.ts';

/**
 * What an exchange uses: one request, tokens, those of them that are new (what a cache had counts by its price), and money in
 * nano US$ (whole numbers, so sums are exact).
 */
export interface Amounts {
  readonly requests: number;
  readonly tokens: number;
  readonly newTokens: number;
  readonly nanoUsd: number;
}

export const noAmounts: Amounts = { requests: 0, tokens: 0, newTokens: 0, nanoUsd: 0 };

/** The counter of a budget in one of its days, months or sessions, and what the ledger sums up for it. */
export interface BudgetCounter {
  readonly counter: string;
  readonly scope: 'project' | 'key';
  readonly name: string;
  /** Of the key with this name. */
  readonly session?: string;
  readonly unit: keyof Amounts;
  readonly startsMs: number;
  /** Of a session: until when its counter is kept; after that it is read from the ledger again. */
  readonly endsMs: number;
}

/** One counter, and the most that an exchange may use of it. */
export interface Claim {
  /** Unique among all counters of all projects and keys; each period of a budget has its own counter. */
  readonly counter: string;
  /** `minute`: the sum of any 60 seconds. `period`: the sum until the period ends. `level`: what is open now. */
  readonly kind: 'minute' | 'period' | 'level';
  readonly max: number;
  readonly amount: number;
  /** When the period ends, in milliseconds since 1970; 0 for the other kinds. */
  readonly endsMs: number;
  /** False if the limit is only monitored: it is counted and never refuses. */
  readonly isEnforced: boolean;
  /**
   * Whether clients choose the counters, any number of them: those of a minute that are unused for longest may be
   * forgotten.
   */
  readonly isChosen?: boolean;
  /** The initial value of a budget's counter if it has none yet. */
  readonly budget?: BudgetCounter | undefined;
}

/** The state of a counter, including this exchange's claim if it was granted. */
export interface CounterState {
  readonly used: number;
  /** Milliseconds until the claim would fit, or until the counter is empty again. */
  readonly resetMs: number;
}

export type Grant =
  | { readonly isGranted: true; readonly states: readonly CounterState[]; readonly ticket: Ticket }
  /** `refusedBy` is the index of the claim that does not fit. Nothing was counted. */
  | { readonly isGranted: false; readonly states: readonly CounterState[]; readonly refusedBy: number };

/** Proof of a granted reservation, to settle it by; `atMs` says in which second of the minute's window it was counted. */
export interface Ticket {
  readonly claims: readonly Claim[];
  readonly atMs: number;
}

/** Where limits are counted: in this process, in the parent of several workers, or in Redis. */
export interface Counters {
  /** False while gateways can't count together because Redis is unreachable. */
  readonly isConnected: boolean;
  /**
   * Counts all claims or none, as one step: no two exchanges can both have the last of a budget. `nowMs` is the
   * wall clock, by which periods end.
   */
  reserve(claims: readonly Claim[], nowMs: number): Promise<Grant>;
  /** Replaces what was claimed by what was used, one amount per claim; releases levels. */
  settle(ticket: Ticket, used: readonly number[]): void;
  /** For budgets that a new configuration adds: what a counter of theirs held before is read from the ledger again. */
  reread(budgets: readonly BudgetCounter[]): void;
  close(): Promise<void>;
}

/** What a budget's counter must hold at least, known from the ledger. */
export interface RestoredSum extends Pick<BudgetCounter, 'counter' | 'endsMs' | 'session'> {
  readonly used: number;
}

/** Reads from the ledger what budgets have used; without a list, all of the configuration in force, as of now. */
export type ReadSums = (budgets?: readonly BudgetCounter[]) => Promise<readonly RestoredSum[]>;

export function stateUnavailable(
  message: string,
  { cause }: { readonly cause?: unknown } = {},
): GatewayError {
  return new GatewayError('limit.state_unavailable', message, { retryAfterS: 5, cause });
}
